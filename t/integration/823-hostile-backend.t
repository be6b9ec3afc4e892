#!/usr/bin/perl
# A backend that floods its connection waits for clients: a client's request is
# served before the end of the flood, although the flood came first. Its other
# messages are ignored, and its calls continue.

use strict;
use warnings;

use Toolgate::Test qw(Backend);

my $tg = Toolgate::Test->new(workers => 1);
$tg->allow_log(qr/no connection to/);
my $backend = Toolgate::Backend->new('jsonrpc', $tg->dir . '/b');
$tg->conf('tool far { ' . $backend->pass('notify') . ' }')->start;
my ($worker) = $tg->worker_pids;
my $conn = $backend->accept;
my $light = $tg->connect;
my $call = $light->request('tools/call', { name => 'far' });
my $request = $backend->heard;
my $twice = '{"jsonrpc":"2.0","method":"x","method":"y"}' . "\n";

for my $line ('1', '{}', '{"jsonrpc":"2.0","id":77,"result":{}}') {
    my $from = $tg->log_size;
    my $n = stopped(
        sub {
            my $sent = int $conn->send_some("$line\n" x 5_000);
            $light->send_raw($twice);
            return $sent;
        },
        $worker);
    my $part = $n % (1 + length $line);
    $conn->send_raw(substr "$line\n", $part) if $part;
    $light->rpc('ping');
    $conn->send_raw("$line\n");
    my $lines = int($n / (1 + length $line)) + ($part ? 2 : 1);
    my @order;
    wait_for {
        @order = $tg->log($from)
            =~ /(invalid notification|(?<!notification )dropped)/g;
        @order > $lines
    }
    "$line: all of it to be read";
    is scalar(@order), $lines + 1, "$line: each of $lines was read, once";
    my ($at) = grep { $order[$_] eq 'invalid notification' } 0 .. $#order;
    cmp_ok $at // @order, '<', @order / 2,
        "$line: the client in the middle of it";
}

# Blank lines have no effect; a response between them is found.
$conn->send_raw("\n" x 100_000);
$backend->text($request, 'still there');
$conn->send_raw("\n" x 100_000);
is text_of($light->reply($call)), 'still there', 'the call is answered';

# It floods and closes: its earlier messages are handled.
$call = $light->request('tools/call', { name => 'far' });
$request = $backend->heard;
stopped(
    sub {
        $conn->send_raw("{}\n" x 10_000);
        $backend->text($request, 'and goodbye');
        $conn->close;
    },
    $worker);
is text_of($light->reply($call)), 'and goodbye', 'the last response arrives';
$backend->accept;

# The same with a worker that exits meanwhile.
$call = $light->request('tools/call', { name => 'far' });
$request = $backend->heard;
stopped(
    sub {
        $backend->{conn}->send_raw("{}\n" x 10_000);
        $backend->text($request, 'to the old worker');
        $tg->signal_reload('HUP');
    },
    $worker);
is text_of($light->reply($call)), 'to the old worker',
    'a worker that exits receives it';
wait_for { !kill 0, $worker } 'the old worker to exit, flood or not';

done_testing;
