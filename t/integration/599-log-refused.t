#!/usr/bin/perl
# A message that is too large, or not a call, has no line in the log of calls
# and is not counted, but the error log has its error at level info; in each
# dialect.

use Toolgate::Test qw(Status);

my $tg = Toolgate::Test->new(workers => 1);
my $log = $tg->dir . '/calls.log';
$tg->conf(<<'END', stream => <<'STREAM')->start;
tool_log calls.log default if=$is_theirs;
tool_max_frame 4k;
tool hi { return hi; }
method m { return 1; }
END
map $tool_name $is_theirs { toolgate.status 0; default 1; }
STREAM

sub call {
    my ($params) = @_;
    return '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        . $params . '}';
}

# Compares the client's response and the error log.
sub refused {
    my ($what, $why, $client, $answer) = @_;
    my $from = $tg->log_size;
    $answer->($client);
    my $text = qr/\[info\] \S+ \*\d+ message rejected: $why/;
    $tg->wait_log($text, $from);
    is scalar(() = $tg->log($from) =~ /message rejected/g), 1, $what;
}

my $c = $tg->connect;
for my $case (
    [ 'no name', qr/params\.name must be/, call('{"name":5}') ],
    [ 'no params', qr/params\.name must be/, call('null') =~ s/,"params.*/}/r ],
    [
        'arguments that are no object', qr/params\.arguments must be an object/,
        call('{"name":"hi","arguments":[1]}')
    ],
    [
        'params of a method', qr/"params" must be an object/,
        '{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}'
    ],
    [
        'too large', qr/it is too large/,
        call('{"name":"hi","arguments":{"a":"' . 'x' x 5000 . '"}}')
    ],
    [
        'too deep', qr/.*nests deeper/,
        call('{"name":"hi","arguments":{"a":' . '[' x 300 . ']' x 300 . '}}')
    ],
    [
        'a key twice', qr/A key is duplicated/,
        call('{"name":"hi","name":"m"}')
    ],
    [ 'no JSON', qr/.*JSON/, 'hello' ],
    [
        'half of the modern era', qr/_meta\["io\.modelcontextprotocol/,
        call('{"name":"hi","_meta":'
                . '{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}')
    ],
) {
    my ($what, $why, $line) = @$case;
    refused($what, $why, $c, sub {
        $c->send_line($line);
        ok $c->recv_json->{error}, "$what: an error";
    });
}

my $ipc = $tg->connect;
for my $case (
    [ 'ipc: another method', qr/Unknown method/, { method => 'x' } ],
    [
        'ipc: arguments', qr/params\.arguments must be/,
        { method => 'call_tool', params => { name => 'hi', arguments => [7] } }
    ],
) {
    my ($what, $why, $message) = @$case;
    refused($what, $why, $ipc, sub {
        $ipc->send_ipc($message);
        ok $ipc->recv_ipc->{error}, "$what: an error";
    });
}

my $relay = $tg->connect;
refused('relay: another method', qr/Method not found/, $relay, sub {
    $relay->send_line('{"kind":"mcp_request","id":"1","method":"x"}');
    ok $relay->recv_json->{error}, 'relay: an error';
});

# All of them are still served; their calls are logged and counted.
is text_of($c->call_tool('hi')), 'hi', 'a call';
$ipc->ipc_call('hi');
wait_for { (slurp($log) // '') =~ tr/\n// == 2 } 'their lines';
is scalar(() = slurp($log) =~ /tool="hi" status=ok /g), 2, 'and no others';
my $status = Toolgate::Status->new($tg->connect)->look;
is_deeply [ $status->of('hi')->{calls}, $status->server->{unknown} ], [ 2, 0 ],
    'nothing else is counted';

done_testing;
