#!/usr/bin/perl
# tool_relay_bridges: one bridge or many, in any worker and over reloads. A
# displaced bridge gets a shutdown, a rejected one an error.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 3);

sub body {
    my ($policy, $more) = @_;
    return "tool_relay_bridges $policy; " . ($more // '')
        . ' tool hi { description "Says hi."; return hi; }'
        . ' tool pid { description "Who."; return $pid; }'
        . ' tool hold { description "Waits."; exec sleep 3600; timeout 2h; }'
        . ' method pid { return $pid; }';
}

my $id = 0;
sub ask {
    my ($client, $name) = @_;
    $client->send_line({ kind => 'mcp_request', id => ++$id,
        method => 'tools/call', params => { name => $name } });
    return $id;
}

sub hi {
    my ($client) = @_;
    my $id = ask($client, 'hi');
    my $reply = $client->recv_json;
    is $reply->{id}, $id, 'an answer';
    return $reply->{result}{content}[0]{text};
}

sub is_displaced {
    my ($client, $what) = @_;
    my $frame = $client->recv_json;
    is $frame->{kind}, 'shutdown', "$what: a shutdown";
    like $frame->{reason}, qr/another bridge .* displaced/, 'that says why';
    ok $client->at_eof, 'and the end';
}

# displace: the newest one stays, in any worker.
$tg->conf(body('displace'))->start;
my $plain = $tg->connect;
ok $plain->rpc('pid')->{result}, 'a client of another dialect';
my ($bridge, %pid);
for my $n (1 .. 200) {
    last if $n > 12 && keys %pid > 1;
    my $next = $tg->connect;
    is hi($next), 'hi', "bridge $n is served";
    is_displaced($bridge, 'bridge ' . ($n - 1)) if $bridge;
    ask($next, 'pid');
    $pid{ $next->recv_json->{result}{content}[0]{text} }++;
    $bridge = $next;
}
cmp_ok scalar(keys %pid), '>', 1, 'they were with different workers';
ok $plain->rpc('pid')->{result}, 'the other dialect is not concerned';

# A call of a displaced bridge ends with it.
ask($bridge, 'hold');
wait_for { grep {/sleep 3600/} values %{ $tg->processes } } 'the program';
my $next = $tg->connect;
is hi($next), 'hi', 'the next one';
is_displaced($bridge, 'with a call');
wait_for { !grep {/sleep 3600/} values %{ $tg->processes } } 'its end';
$bridge = $next;

# Over a reload the bridge stays, and the next one displaces it there; also
# while it moves, or in an old worker.
for my $n (1 .. 8) {
    $tg->signal_reload('HUP');
    select undef, undef, undef, 0.01 * $n;
    $next = $tg->connect;
    is hi($next), 'hi', "reload $n: the next one";
    is_displaced($bridge, "reload $n");
    $bridge = $next;
}

# reject: the first one stays.
$tg->reload(body('reject'));
is hi($bridge), 'hi', 'the one that was there';
for my $n (1 .. 6) {
    my $more = $tg->connect;
    ask($more, 'hi');
    my $frame = $more->recv_json;
    is_deeply [ sort keys %$frame ], [qw(kind message)], "$n: a frame";
    is $frame->{kind}, 'error', 'an error';
    like $frame->{message}, qr/another bridge is connected/, 'that says why';
    ok $more->at_eof, 'and the end';
}
is hi($bridge), 'hi', 'the first one does not notice';
$bridge->close;
my $free;
wait_for {
    $free = $tg->connect;
    ask($free, 'hi');
    return $free->recv_json->{kind} eq 'mcp_response';
} 'its place to be free';

# A bridge whose process has ended and is restarted is not rejected.
my $hi = JSON::PP::encode_json({ kind => 'mcp_request', id => 1,
    method => 'tools/call', params => { name => 'hi' } });
$free->close;
wait_for {
    my ($status, $out) = run_command({}, 'perl', '-MIO::Socket::UNIX', '-e',
        'my $s = IO::Socket::UNIX->new(Peer => shift); print $s shift, "\n";'
            . ' $s->flush; print scalar <$s>', $tg->socket_path, $hi);
    return $out =~ /mcp_response/;
} 'the place';
for my $n (1 .. 20) {
    my ($status, $out) = run_command({}, 'perl', '-MIO::Socket::UNIX', '-e',
        'my $s = IO::Socket::UNIX->new(Peer => shift); print $s shift, "\n";'
            . ' $s->flush; print scalar <$s>', $tg->socket_path, $hi);
    like $out, qr/mcp_response/, "started again: $n";
}
wait_for {
    $free = $tg->connect;
    ask($free, 'hi');
    return $free->recv_json->{kind} eq 'mcp_response';
} 'its place to be free once more';

# A bridge of a killed worker does not count any more.
$tg->allow_log(qr/exited on signal 9/);
ask($free, 'pid');
kill KILL => $free->recv_json->{result}{content}[0]{text};
ok $free->at_eof, 'gone with its worker';
wait_for {
    $free = $tg->connect;
    ask($free, 'hi');
    return eval { $free->recv_json->{kind} eq 'mcp_response' };
} 'the place of one that was killed';

# If the config sets the dialect, the first message is not needed.
$tg->reload(body('reject', 'tool_protocol relay;'));
my $silent = $tg->connect;
my $frame = $silent->recv_json;
is $frame->{kind}, 'error', 'rejected at once';
ok $silent->at_eof, 'and the end';
$tg->reload(body('displace', 'tool_protocol relay;'));
$silent = $tg->connect;
is_displaced($free, 'by one that said nothing');

# shared: any number.
$tg->reload(body('shared'));
my @many = ($silent, map { $tg->connect } 1 .. 5);
is hi($_), 'hi', 'one of many' for @many;
is hi($_), 'hi', 'and again' for @many;

# Existing bridges stay when the policy changes.
$tg->reload(body('reject'));
is hi($_), 'hi', 'they stay' for @many;
$next = $tg->connect;
ask($next, 'hi');
is $next->recv_json->{kind}, 'error', 'no further one';
$tg->reload(body('displace'));
$next = $tg->connect;
is hi($next), 'hi', 'the next one';
is_displaced($_, 'one of many') for @many;

done_testing;
