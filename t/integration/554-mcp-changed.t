#!/usr/bin/perl
# After a change of a block's exec or url, its former tools stay until the new
# server has listed its own, and calls wait for that.

use Toolgate::Test qw(Listed Way);

my $tg = Toolgate::Test->new(workers => 2);
my $old = Toolgate::Listed->new($tg, 'old')->list(qw(echo gone));
my $new = Toolgate::Listed->new($tg, 'new')->list(qw(echo fresh));
my $go = $tg->dir . '/go';

# It starts when the test says so.
my $late = $tg->file('late', <<"END", 0755);
#!/bin/sh
while test ! -e $go; do sleep 0.05; done
exec @{[ $new->command ]}
END

sub block {
    my ($server, $more) = @_;
    return "mcp_server far { $server; @{[ $more // '' ]} }\n";
}

my $n = 0;

sub body { return join '', @_, 'tool n { return ', ++$n, '; }' }

sub names {
    my ($client) = @_;
    return join ' ', grep { $_ ne 'n' }
        map { $_->{name} } @{ $client->rpc('tools/list')->{result}{tools} };
}

sub reload {
    my ($client, @blocks) = @_;
    $tg->reload(body(@blocks));
    wait_for { text_of($client->call_tool('n')) eq $n } 'the new config';
    return;
}

sub stop_all {
    $tg->stop;
    kill TERM => $tg->runner_pids;
    wait_for { !$tg->runner_pids } 'the runner to leave';
    return;
}

$tg->conf(body(block('exec ' . $old->command)))->start;
my $client = $tg->connect;
wait_for { names($client) eq 'far_echo far_gone' } 'the first list';

# --- another exec -----------------------------------------------------------

reload($client, block("exec $late"));
for my $way (map { Toolgate::Way->new($_, $tg->connect) }
    qw(legacy modern relay))
{
    is $way->list, 'far_echo far_gone n',
        $way->name . ': another exec: the tools stay while it starts';
}
my ($status, $out, $err);
wait_for {
    ($status, $out, $err) = $tg->cli('list');
    return $err ne '';
} 'toolgate list to say more';
is "$status $out", "0 far_echo\nfar_gone\nn\n", 'toolgate list shows them';
is $err, qq(toolgate: mcp_server "far" is starting; run this again later\n),
    'and that the server is starting';
my $id = $client->request('tools/call',
    { name => 'far_echo', arguments => { text => 'new' } });
is text_of($client->call_tool('n')), $n, 'a call waits for its start';
$tg->file('go', '');
is text_of($client->reply($id)), 'new', 'and is answered then';
wait_for { names($client) eq 'far_echo far_fresh' } 'the new list';
wait_for { ($tg->cli('list'))[2] eq '' } 'nothing to be said any more';
pass 'the list is that of the new server then';
is scalar(grep { $_->[1]{params}{name} eq 'echo' } $old->told('tools/call')),
    0, 'the old one is not asked';

# --- a url without a server -------------------------------------------------

$tg->allow_log(qr/mcp_server far: /);
for my $url (qw(http://127.0.0.1:1/mcp http://127.0.0.1:1/other)) {
    reload($client, block("url $url"));
    is names($client), 'far_echo far_fresh', "$url: the tools stay";
    my $result = $client->call_tool('far_echo', { text => 'x' })->{result};
    ok $result->{isError}, "$url: a call says that it is not there";
}

# The first server again, then another one: its own last list is used.
reload($client, block('exec ' . $old->command));
wait_for { names($client) eq 'far_echo far_gone' } 'the first list again';
reload($client, block('url http://127.0.0.1:1/third'));
is names($client), 'far_echo far_gone', 'the last list, not the last new one';

# --- names in such a list ---------------------------------------------------

my $taken = 'tool far_gone { return mine; }';
($status, $out) = $tg->test_conf(
    block('url http://127.0.0.1:1/fourth') . $taken);
is $status, 0, 'a name of it is no mistake' or diag $out;
like $out, qr/\[warn\].* would be named "far_gone", which .* omitted/,
    'but a warning';
reload($client, block('url http://127.0.0.1:1/fourth'), $taken);
is text_of($client->call_tool('far_gone')), 'mine', 'and is the config\'s';

# --- a restart --------------------------------------------------------------

stop_all();
unlink $go;
$tg->conf(body(block("exec $late", 'idle 3m;')))->start;
$client = $tg->connect;
is names($client), 'far_echo far_fresh', 'what it listed before goes first';
stop_all();
$tg->conf(body(block("exec $late other")))->start;
$client = $tg->connect;
like names($client), qr/^far_echo /, 'after a restart they are there as well';
stop_all();

# --- two blocks of the name -------------------------------------------------

for my $case ([ 'true', 'far_' ], [ 'false', '' ]) {
    my ($program, $expected) = @$case;
    my $twin = "server { listen unix:%%DIR%%/twin; tool_state_dir %%STATE%%;\n"
        . "tool_runner @{[ $tg->runner_path ]};\n"
        . block("exec $program") . '}';
    $tg->conf(body(block('exec true')), stream => $twin)->start;
    my $names = names($tg->connect);
    is substr($names, 0, 4), $expected,
        "beside a block of the same name with $program";
    stop_all();
}

done_testing;
