#!/usr/bin/perl
# Reads and writes that transfer less, at every length, with EAGAIN and EINTR:
# nobody notices.

use Errno qw(EINTR);

use Toolgate::Test qw(Faults Talks);

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->conf($Toolgate::Talks::TOOLS)->start;
my $talks = Toolgate::Talks->new($tg, $faults);
my $worker = $talks->worker;
$talks->rest;

my @small = grep { $_->[0] ne 'a large frame' } @Toolgate::Talks::TALKS;
my $large = Toolgate::Talks::named('a large frame');

sub is_answered {
    my ($what, $talk, %fault) = @_;
    $faults->arm($worker, %fault);
    my $how = $talks->hold($talk);
    my $failed = $faults->failed;
    $faults->calm;
    die "$talk->[0], $what: $how\n" if $how ne 'answered';
    return $failed;
}

for my $talk (@small) {
    my $faulty = 0;
    for my $n (1 .. 64) {
        $faulty += is_answered("reads of $n", $talk, recv_max => $n);
        $faulty += is_answered("writes of $n", $talk, send_max => $n);
        $faulty += is_answered("both of $n", $talk, recv_max => $n,
            send_max => 65 - $n);
    }
    cmp_ok $faulty, '>', 0, "$talk->[0]: $faulty short reads and writes";
}
for my $n (997, 4096, 65_535) {
    my $faulty = is_answered("reads and writes of $n", $large,
        recv_max => $n, send_max => $n);
    cmp_ok $faulty, '>', 0, "$large->[0]: $faulty times $n bytes";
}
for my $talk (@Toolgate::Talks::TALKS) {
    my $faulty = 0;
    for my $n (2 .. 5) {
        my $part = $talk == $large ? 20_000 : 7;
        $faulty += is_answered("EAGAIN at each call $n", $talk,
            again => $n, recv_max => $part, send_max => $part);
    }
    for my $n (1 .. 4) {
        $faulty += is_answered("EINTR at the read $n", $talk,
            recv => [ EINTR, $n, 2 ], recv_max => 10_000);
        $faulty += is_answered("EINTR at the write $n", $talk,
            send => [ EINTR, $n, 2 ], send_max => 10_000);
    }
    cmp_ok $faulty, '>', 0, "$talk->[0]: $faulty times EAGAIN and EINTR";
}
$talks->is_fine;
is_deeply [ $tg->worker_pids ], [$worker], 'the worker is the same';

done_testing;
