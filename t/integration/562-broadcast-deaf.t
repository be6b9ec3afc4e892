#!/usr/bin/perl
# A client that does not read is closed when its broadcasts exceed 4 MiB; nobody
# waits for it. A client that reads, even late, stays.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
# This is not about the send timeout.
my $body = 'tool_send_timeout 1h; method tell { broadcast event; } '
    . 'method pid { return $pid; } tool hi { return hi; }';
$tg->conf($body)->start;

my ($caller, $good, $late, @deaf) = map { $tg->connect } 1 .. 5;
$_->rpc('pid') for $caller, $good, $late, @deaf;
my $text = 'x' x 100_000;

# Clients that are not told, one of each worker: two answers come after all
# earlier broadcasts. Otherwise the worker of the deaf ones may be behind.
my @paces;

sub broadcast {
    my ($n) = @_;
    my $result = $caller->rpc('tell', { n => $n, t => $text })->{result};
    is $_->notification('event')->{params}{n}, $n, "broadcast $n"
        for $caller, $good;
    $_->ipc_call('hi') for (@paces) x 2;
    return $result->{clients};
}

my $n = 0;
is broadcast(++$n), 5, 'five clients' while $n < 30;
is $late->notification('event')->{params}{n}, $_, "late: $_" for 1 .. $n;

# The backlog moves with a session, and counts on.
$tg->reload;
$tg->wait_log(qr/sessions? moved to/);
for my $pid ($tg->worker_pids) {
    push @paces, stopped_idle(
        sub {
            my $client = $tg->connect;
            $client->ipc_call('hi');
            return $client;
        },
        grep { $_ != $pid } $tg->worker_pids);
}
my $left;
do { $left = broadcast(++$n) } while $n < 60 && $left == 5;
wait_for { ($left = broadcast(++$n)) == 3 } 'both to be closed';
cmp_ok $n, '>', 40, 'not before 4 MiB';
cmp_ok $n, '<', 60, 'and not long after';
my @lines = $tg->log =~ /client closed: it does not read its notif/g;
is @lines, 2, 'which is said in the log';
is $late->notification('event')->{params}{n}, $_, "late again: $_"
    for 31 .. $n;

# They get the output in transit, then the end; no more than whole lines.
for my $client (@deaf) {
    my $last = 0;
    while (!$client->at_eof(0) && $client->buffered !~ /\A[^\n]*\z/) {
        my $params = $client->recv_json->{params};
        is $params->{n}, $last + 1, 'in order' if $params;
        $last = $params->{n};
    }
    cmp_ok $last, '<', $n, 'the rest is lost with the connection';
}
is broadcast(++$n), 3, 'the others still receive broadcasts';

done_testing;
