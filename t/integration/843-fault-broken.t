#!/usr/bin/perl
# Connections that break at any read or write, of clients and of the runner: the
# client gets an error or the end, no other one notices, and nothing is left.

use Errno qw(ECONNRESET ENOBUFS EPIPE);

use Toolgate::Test qw(Faults Talks);

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->allow_log(qr/(?:send|recv)\(\) failed/);
$tg->conf($Toolgate::Talks::TOOLS)->start;
my $talks = Toolgate::Talks->new($tg, $faults);
my $worker = $talks->worker;
$talks->rest;

my @ways = (
    [ recv => ECONNRESET, 'reset at a read' ],
    [ send => EPIPE,      'EPIPE at a write' ],
    [ send => ENOBUFS,    'no buffers at a write' ],
);
for my $talk (@Toolgate::Talks::TALKS) {
    $faults->calm($worker);
    $talks->settle($talk) for 1 .. 2;
    my $live = $talks->live;
    for my $way (@ways) {
        my ($call, $error, $name) = @$way;
        my %how;
        my $n = 1;
        while (1) {
            $faults->arm($worker, $call => [ $error, $n ],
                recv_max => 100_000);
            my $how = $talks->hold($talk);
            my $failed = $faults->get("$call.call") == 0;
            $faults->calm($worker);
            die "$talk->[0], $name: $how with no fault\n"
                if !$failed && $how ne 'answered';
            last if !$failed;
            $how{$how}++;
            $talks->settle($talk);
            $talks->is_clean($live, "$talk->[0], $name $n");
            $n++;
        }
        cmp_ok $n, '>', 1, "$talk->[0], $name: "
            . join ', ', map {"$how{$_} $_"} sort keys %how;
    }
}
is_deeply [ $tg->worker_pids ], [$worker], 'the worker is the same';
$faults->calm;

done_testing;
