#!/usr/bin/perl
# A parent rejects or displaces the bridge, or closes, while the agent starts:
# the agent's first request gets the reason.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $hello = {
    protocolVersion => '2025-06-18',
    capabilities    => {},
    clientInfo      => { name => 'a', version => '1' },
};
my $runner = Toolgate::Parent->new($sock);
my $bridge;

sub begin {
    my ($frame) = @_;
    $bridge = $tg->bridge([ '--dialect', 'relay', $sock ]);
    my $conn = $runner->accept;
    $conn->send_line($frame) if $frame;
    return $conn;
}

my %frame = (
    refused   => { kind => 'error',    message => 'one is "enough"' },
    displaced => { kind => 'shutdown', reason  => 'one is "enough"' });

for my $how (sort keys %frame) {
    # Before the agent sends anything.
    my $conn = begin($frame{$how});
    ok Toolgate::Parent::is_left($conn), "$how: the runner is left";
    wait_for { $bridge->stderr =~ /one is/ } 'the refusal';
    for my $method (qw(server/discover initialize tools/list)) {
        my $error = $bridge->rpc($method, $hello)->{error};
        is $error->{code}, -32603, "$how: $method is an error";
        like $error->{message}, qr/one is "enough"/, 'in its words';
    }
    $bridge->shutdown_write;
    ok $bridge->at_eof, 'nothing else';
    is $bridge->wait_exit, 0, 'exit status';

    # An agent that stays connected.
    begin($frame{$how});
    wait_for { $bridge->stderr =~ /one is/ } 'the refusal';
    ok $bridge->rpc('initialize', $hello)->{error}, "$how: once more";
    ok $bridge->at_eof, 'the bridge ends by itself';
    is $bridge->wait_exit, 0, 'exit status';

    # Just after the response to initialize.
    $conn = begin();
    ok $bridge->rpc('initialize', $hello)->{result}, "$how, late: initialized";
    $conn->send_line($frame{$how});
    ok Toolgate::Parent::is_left($conn), 'the runner is left';
    $bridge->notify('notifications/initialized');
    like $bridge->rpc('tools/list')->{error}{message}, qr/one is "enough"/,
        'the next request says why';
    is $bridge->wait_exit, 0, 'exit status';

    # After the complete handshake.
    $conn = begin();
    $bridge->rpc('initialize', $hello);
    $bridge->notify('notifications/initialized');
    is_deeply $bridge->rpc('ping')->{result}, {}, "$how, later: it answers";
    $conn->send_line($frame{$how});
    ok Toolgate::Parent::is_left($conn), 'the runner is left';
    like $bridge->rpc('tools/list')->{error}{message}, qr/one is "enough"/,
        'the first request for tools says why';
    is $bridge->wait_exit, 0, 'exit status';

    # A working agent sees its server close.
    $conn = begin();
    $bridge->rpc('initialize', $hello);
    $bridge->notify('notifications/initialized');
    $bridge->rpc('ping');
    $conn->send_line($frame{$how});
    ok $bridge->at_eof, "$how: an agent at work";
    is $bridge->wait_exit, 0, 'exit status';
}

# SIGTERM does not wait for an agent that sends nothing.
begin($frame{refused});
wait_for { $bridge->stderr =~ /one is/ } 'the refusal';
$bridge->signal('TERM');
is $bridge->wait_exit, 0, 'SIGTERM';

# No parent.
$runner->close;
$bridge = $tg->bridge([ '--dialect', 'relay', $sock ]);
like $bridge->rpc('initialize', $hello)->{error}{message},
    qr/The runner is not running: there is no socket \Q$sock\E/, 'no runner';
is $bridge->wait_exit >> 8, 1, 'exit status';
my ($status, $out) = run_command({
        env   => $tg->san_env,
        stdin => '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    },
    $tg->bridge_path, '--dialect', 'relay', $sock);
is $status, 1, 'no runner, and an agent that ends its input: exit status';
like $out, qr/"id":1,"error":.*not running/, 'which is answered';

# --- Toolgate ---

for my $protocol ('', 'tool_protocol relay;') {
    $tg->conf("$protocol tool_relay_bridges reject; "
            . 'tool hi { description "Says hi."; return hi; }')->start;
    my $first = $tg->connect;
    $first->send_line({ kind => 'mcp_request', id => 1,
        method => 'tools/list', params => {} });
    is $first->recv_json->{kind}, 'mcp_response', "the first one $protocol";
    $bridge = $tg->bridge([ '--dialect', 'relay', $sock ]);
    my $error = $bridge->rpc('initialize', $hello)->{error}
        // $bridge->rpc('tools/list')->{error};
    like $error->{message}, qr/another bridge is connected/,
        "tool_relay_bridges reject; $protocol";
    $bridge->wait_exit;
    $tg->stop;
}

done_testing;
