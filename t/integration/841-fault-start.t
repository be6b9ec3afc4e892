#!/usr/bin/perl
# Every failure on the way to a runner that is not running: memory, each system
# call, the start of the program. The waiting call gets a response or an error,
# once, and the next one is served.

use Errno qw(EAGAIN EMFILE ENFILE ENOMEM ENOSPC);

use Toolgate::Test qw(Faults Talks);

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->allow_log(qr/(?:malloc|posix_memalign|epoll_ctl)\(.*failed/);
$tg->conf($Toolgate::Talks::TOOLS)->start;
my $talks = Toolgate::Talks->new($tg, $faults);
my $worker = $talks->worker;
my $talk = Toolgate::Talks::named('a program');

# One fault after the other, until one comes too late to happen.
sub row {
    my ($what, $fault) = @_;
    my %how;
    my $n = 1;
    while (1) {
        $talks->without_runner;
        $faults->arm($worker, $fault->($n));
        my $how = $talks->hold($talk);
        my $failed = $faults->failed;
        $faults->calm;
        die "$what: $how with no fault\n" if !$failed && $how ne 'answered';
        last if !$failed;
        $how{$how}++;
        $talks->settle($talk);
        $n++;
    }
    cmp_ok $n, '>', 1, "$what: each of " . ($n - 1) . ' failed';
    diag "$what: " . join ', ', map {"$how{$_} $_"} sort keys %how;
}

$talks->settle($talk);
row('an allocation', sub { (alloc => $_[0]) });
row("socket() with $_->[0]", sub { (socket => [ $_->[1], $_[0] ]) })
    for [ EMFILE => EMFILE ], [ ENFILE => ENFILE ];
row('connect() with EAGAIN', sub { (connect => [ EAGAIN, $_[0] ]) });
row('posix_spawn() with ENOMEM', sub { (spawn => [ ENOMEM, $_[0] ]) });
row('epoll_ctl() with ENOSPC', sub { (epoll => [ ENOSPC, $_[0] ]) });

# For a while, not once: it is tried again until there is a descriptor.
$talks->without_runner;
$faults->arm($worker, socket => [ EMFILE, 1, 5 ]);
is $talks->hold($talk), 'answered', 'EMFILE six times: it is tried again';
is $faults->failed, 6, 'six times';
$faults->calm;
is_deeply [ $tg->worker_pids ], [$worker], 'the worker is the same';

done_testing;
