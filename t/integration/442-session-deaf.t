#!/usr/bin/perl
# Clients that send but never read: the worker stops reading from them, others
# do not notice, and they are closed in time.

use Toolgate::Test plain_too => 'it measures memory';

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);

# NGINX's clock is read once per event, so that a timer may be some milliseconds
# early; a busy machine may be late by any time.
sub is_about {
    my ($time, $wanted, $name) = @_;
    cmp_ok $time, '>', $wanted - 0.1, "$name: not too early";
}

$tg->conf(<<'END')->start;
tool_send_timeout 3s;
tool hi { return hi; }
tool echo { return $tool_arg_text; }
END
my ($worker) = $tg->worker_pids;
my $other = $tg->connect;
is text_of($other->call_tool('hi')), 'hi', 'another client';
my $before = rss_kb($worker);
sub is_served {
    my $said = text_of($other->call_tool('hi'));
    die "the other client got $said\n" if $said ne 'hi';
}

my $deaf = $tg->connect;
my $request = $deaf->encode({
    jsonrpc => '2.0', id => 1, method => 'tools/call',
    params => { name => 'echo', arguments => { text => 'x' x 50_000 } },
}) . "\n";
my ($took, $rest) = (0, '');
my $peak = 0;
my $start = time;
while (time - $start < 60) {
    local $SIG{PIPE} = 'IGNORE';
    $rest = $request if $rest eq '';
    my $n = syswrite $deaf->{out}, $rest;
    if (defined $n) {
        $took += $n;
        substr $rest, 0, $n, '';
    } elsif ($!{EAGAIN}) {
        is_served();
    } else {
        last;
    }
    my $now = rss_kb($worker) - $before;
    $peak = $now if $now > $peak;
}
is_about(time - $start, 3, 'a client that never reads');
diag "it took $took bytes of it, and up to $peak KiB of memory";
cmp_ok $took, '<', 4_000_000, 'it was not read from without end';
memory_below $peak, 4096, 'nor was its output kept without end';
like $tg->log, qr/client did not read its answers \(tool_send_timeout\)/,
    'the log says it';

# A client that reads a little stays, however long it takes.
my $slow = $tg->connect;
$rest = $request x 12;
$start = time;
while (time - $start < 5) {
    my $end = time + 0.2;
    substr $rest, 0, $slow->send_some($rest), '';
    is_served();
    select undef, undef, undef, 0.05 while time < $end;
    sysread $slow->{in}, $slow->{buf}, 60_000, length $slow->{buf};
}
$slow->send_raw($rest);
is length text_of($slow->recv_json), 50_000, 'who reads slowly stays'
    for 1 .. 12;

# Requests trickle in, responses are not read: the timeout continues.
$deaf = $tg->connect;
$start = time;
$deaf->send_raw($request x 7);
while (time - $start < 60) {
    last if !defined $deaf->send_some("\n") || $!{EPIPE} || $!{ECONNRESET};
    select undef, undef, undef, 0.05;
}
is_about(time - $start, 3, 'a client that sends on but never reads');
is text_of($other->call_tool('hi')), 'hi', 'the other one is still there';

done_testing;
