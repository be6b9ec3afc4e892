#!/usr/bin/perl
# No memory, at every point of a call: the first allocation fails, then the
# second, and so on up to the last. Each time the client gets its response, an
# error, or a closed connection, and nothing is left in the worker.

use Toolgate::Test qw(Faults Talks);

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->allow_log(qr/(?:malloc|posix_memalign)\(.*failed/);
$tg->conf($Toolgate::Talks::TOOLS)->start;
my $talks = Toolgate::Talks->new($tg, $faults);
my $worker = $talks->worker;
$talks->rest;

for my $talk (@Toolgate::Talks::TALKS) {
    my $name = $talk->[0];
    $faults->calm($worker);
    $talks->settle($talk) for 1 .. 2;
    my $live = $talks->live;
    my %how;
    my $n = 1;
    while (1) {
        $faults->arm($worker, alloc => $n);
        my $how = $talks->hold($talk);
        my $failed = $faults->failed;
        $faults->calm($worker);
        if (!$failed) {
            die "$name: $how with no fault\n" if $how ne 'answered';
            last;
        }
        $how{$how}++;
        $talks->settle($talk);
        $talks->is_clean($live, "$name, fault $n ($how)");
        $n++;
    }
    cmp_ok $n, '>', 1, "$name: each of " . ($n - 1) . ' allocations failed';
    diag "$name: " . join ', ', map {"$how{$_} $_"} sort keys %how;
}
is_deeply [ $tg->worker_pids ], [$worker], 'the worker is the same';
$faults->calm;

done_testing;
