#!/usr/bin/perl
# Schemas of an MCP server that take too long to compile are passed on but not
# checked; the log and `toolgate.status` say so, and nobody waits for them, at a
# start or at a call.

use Toolgate::Test qw(Listed Status);

# Memory beyond the 64 MiB of all imported schemas.
my $ROOM_KB = 250_000;

my $tg = Toolgate::Test->new(workers => 2);
my $far = Toolgate::Listed->new($tg, 'far');

# A thousand patterns, for each of which PCRE2 needs some 30 KB.
sub heavy {
    my ($name) = @_;
    my %properties = map {
        ("p$_" => { pattern => "^((a{1,30}){1,30}){1,30}$name$_\$" })
    } 1 .. 1000;
    return $far->tool($name, inputSchema => {
        type => 'object', properties => \%properties, required => ['p1'],
    });
}

my $number = { type => 'object', properties => { n => { type => 'number' } } };
$far->list(
    $far->tool('params', inputSchema => $number), 'set_tools',
    (map { heavy("heavy$_") } 1 .. 30),
    $far->tool('wrong', inputSchema => {
        %$number, properties => { n => { pattern => '(' } },
    }));
my $body = "mcp_server far { exec @{[ $far->command ]}; }\n"
    . "tool mine { return ours; }\n";
$tg->conf($body)->start;
my $client = $tg->connect;
my $status = Toolgate::Status->new($tg->connect);

# Checks whether a tool is on the first page of the list.
sub has_tool {
    my ($name) = @_;
    return grep { $_->{name} eq $name }
        @{ $client->rpc('tools/list')->{result}{tools} };
}

# Returns what the answering worker has compiled, but does not check.
sub unchecked {
    my ($server) = @{ $status->look->server->{mcp_servers} };
    return map { $_->{name} => $_->{why} } @{ $server->{unchecked} // [] };
}

wait_for { has_tool('far_params') } 'the list';
like text_of($client->call_tool('far_params', { n => 'x' })),
    qr{^/n: expected number}, 'a usual schema of the list is checked';
unlike text_of($client->call_tool('far_heavy7', { p2 => 'x' })), qr{^/p},
    'a heavy one is passed on';
my %unchecked;
wait_for { %unchecked = unchecked(); keys %unchecked == 31 }
'all schemas to be tried';
is $unchecked{far_heavy7}, 'inputSchema: compiling it takes too many steps',
    'status says why';
like $unchecked{far_wrong}, qr{^inputSchema: /properties/n/pattern: },
    'and what is wrong with another one';
my ($rc, $out);
# Another worker may answer, which is done later.
wait_for { ($rc, $out) = $tg->cli('status'); $out =~ /^far_wrong +far +/m }
    'a worker that has tried all';
like $out, qr/^NOT CHECKED +MCP SERVER +WHY\nfar_heavy1 +far +inputSchema: /m,
    'so does the table';
ok wait_for(sub {
        ($rc, $out) = $tg->cli('status', '--prometheus');
        return $out =~ /^toolgate_mcp_server_unchecked\{[^}]*="far"\} 31$/m;
    }, '31 unchecked tools'), 'and a number';
$tg->wait_log(qr/31 tools of mcp_server "far" are listed, but .* not checked/);

# A batch of them is rejected rather than compiled in one step.
$client->send_line([
    map {
        { jsonrpc => '2.0', id => "b$_", method => 'tools/call',
          params => { name => "far_heavy$_", arguments => {} } }
    } 1 .. 30
]);
ok $client->recv_json, 'a batch is answered';
is text_of($client->call_tool('mine')), 'ours', 'and others are';

for my $pid ($tg->worker_pids, $tg->master_pid) {
    cmp_ok rss_kb($pid), '<', $ROOM_KB, 'a process has a usual size';
}

# --- the stored list --------------------------------------------------------

$tg->stop;
unlike $tg->log, qr/no memory/, 'there was memory';
$tg->start;
$client = $tg->connect;
ok has_tool('far_heavy7'), 'it is known after a restart';
unlike text_of($client->call_tool('far_heavy7', { p2 => 'x' })), qr{^/p},
    'and passed on';
like text_of($client->call_tool('far_params', { n => 'x' })),
    qr{^/n: expected number}, 'a usual one is checked';
cmp_ok rss_kb($tg->master_pid), '<', $ROOM_KB / 2,
    'the master has compiled none';

# --- another list -----------------------------------------------------------

my @tools = ($far->tool('set_tools'), $far->tool('params',
        inputSchema => { %$number, required => ['n'] }));
$client->call_tool('far_set_tools', { tools => \@tools });
wait_for { !has_tool('far_heavy7') } 'the next list';
like text_of($client->call_tool('far_params', {})), qr{^/n: missing},
    'whose schema is the one that is checked';
$status = Toolgate::Status->new($tg->connect);
wait_for { unchecked() == 0 } 'nothing to be unchecked';

done_testing;
