#!/usr/bin/perl
# Many calls at once on one connection: each is answered once, no more run than
# allowed, and in ipc one at a time, whatever is pipelined.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->file('alone', <<'END', 0755);
#!/bin/sh
# Says whether another one runs at the same time.
mkdir "$1" 2>/dev/null || { echo "$2 not alone"; exit; }
echo "$2 alone"
rmdir "$1"
END
my $tools = <<'END';
tool echo { return $tool_arg_n; }
tool run { exec echo $tool_arg_n; }
tool nap { exec sleep 3600; timeout 2h; }
tool alone { exec %%DIR%%/alone $tool_arg_dir $tool_arg_n; }
method echo { return $tool_json_n; }
END
$tg->conf($tools)->start;

sub request {
    my ($id, $method, $params) = @_;
    return Toolgate::Client->encode({
        jsonrpc => '2.0', id => $id, method => $method, params => $params,
    }) . "\n";
}

sub tool {
    my ($id, $name, $arguments) = @_;
    return request($id, 'tools/call',
        { name => $name, arguments => $arguments // { n => $id } });
}

# Returns the responses by id; each must come once.
sub answers {
    my ($client, $count) = @_;
    my %answer;
    for (1 .. $count) {
        my $reply = $client->recv_json(30);
        die "answered twice: $reply->{id}\n" if $answer{ $reply->{id} };
        $answer{ $reply->{id} } = ref $reply->{result}
            ? text_of($reply) =~ s/\n\z//r
            : $reply->{result} // $reply->{error}{message};
    }
    return \%answer;
}

# --- all at once ----------------------------------------------------------

my $client = $tg->connect;
$client->send_raw(join '',
    map { $_ % 2 ? tool($_, 'echo') : request($_, 'echo', { n => $_ }) }
        1 .. 1000);
is_deeply answers($client, 1000), { map { $_ => $_ } 1 .. 1000 },
    '1000 calls, 1000 answers';

$client->send_raw(join '', map { tool($_, $_ % 2 ? 'run' : 'echo') } 1 .. 400);
is_deeply answers($client, 400), { map { $_ => $_ } 1 .. 400 },
    '400 calls, half of them of a program';
$client->shutdown_write;
ok $client->at_eof, 'and no answer more';

# In pieces of odd sizes, too.
$client = $tg->connect;
my $bytes = join '', map { tool($_, 'echo') } 1 .. 200;
my $size = 1;
while ($bytes ne '') {
    $client->send_raw(substr $bytes, 0, $size, '');
    $size = $size * 7 % 211 + 1;
}
is_deeply answers($client, 200), { map { $_ => $_ } 1 .. 200 },
    '200 calls in pieces';
$tg->stop;

# --- the limit ------------------------------------------------------------

$tg->conf("tool_max_inflight 4;\n$tools")->start;
for my $dialect ('jsonrpc', 'relay') {
    $client = $tg->connect;
    my $call = sub {
        my ($id, $name, $n) = @_;
        my %envelope = $dialect eq 'relay' ? (kind => 'mcp_request')
            : (jsonrpc => '2.0');
        $client->send_line({
            %envelope, id => $id, method => 'tools/call',
            params => { name => $name, arguments => { n => $n } },
        });
    };
    $call->($_, 'nap') for 1 .. 7;
    $call->(8, 'echo', 'x');
    my %answer = map { $_->{id} => $_ } map { $client->recv_json } 1 .. 4;
    is join(' ', sort keys %answer), '5 6 7 8', "$dialect: four may run";
    for my $id (5 .. 7) {
        ok $answer{$id}{result}{isError}, "$dialect: one more is refused";
        like text_of($answer{$id}), qr/4 calls running \(tool_max_inflight\)/,
            "$dialect: it says why";
    }
    is text_of($answer{8}), 'x', "$dialect: what needs no waiting is served";
    is text_of($tg->connect->call_tool(run => { n => 1 })), "1\n",
        "$dialect: others are not concerned";
    if ($dialect eq 'jsonrpc') {
        $client->notify('notifications/cancelled', { requestId => 2 });
        $call->(9, 'run', 9);
        is text_of($client->recv_json), "9\n", "$dialect: one less, one more";
    }
    $client->close;
}
wait_for { !grep {/sleep 3600$/} values %{ $tg->processes } }
    'the programs to end';

# --- one at a time --------------------------------------------------------

my @clients = map { $tg->connect } 1 .. 2;
for my $i (0, 1) {
    my $dir = $tg->dir . "/lock$i";
    $clients[$i]->send_raw(join '', map { pack 'N/a', $_ } map {
        Toolgate::Client->encode({
            method => 'call_tool',
            params => {
                name      => $_ % 3 ? 'alone' : 'echo',
                arguments => { n => $_, dir => $dir },
            },
        })
    } 1 .. 60);
}
for my $i (0, 1) {
    my @text = map { text_of($clients[$i]->recv_ipc(30)) =~ s/\n//r } 1 .. 60;
    is_deeply \@text, [ map { $_ % 3 ? "$_ alone" : $_ } 1 .. 60 ],
        'ipc: 60 calls ahead, one after the other';
    $clients[$i]->shutdown_write;
    ok $clients[$i]->at_eof, 'ipc: and no answer more';
}

done_testing;
