package Toolgate::Guard;

# Splits a test file into two processes. The one that prove started becomes the
# guard: it makes the temporary folder, is the subreaper of everything below it,
# and runs the test in a child. However the test ends, the guard ends every
# remaining process, removes the folder and passes the exit status on.

use strict;
use warnings;

use Carp ();
use File::Path qw(remove_tree);
use File::Temp ();
use POSIX ();
use Time::HiRes qw(sleep time);

use constant {
    PR_SET_PDEATHSIG       => 1,
    PR_SET_CHILD_SUBREAPER => 36,
};

my ($guard, $root);

# Process 0 would be the caller's group: the result of an unknown pid.
BEGIN {
    *CORE::GLOBAL::kill = sub {
        my ($signal, @pids) = @_;
        Carp::croak("kill $signal: no pid") if grep { !$_ } @pids;
        return CORE::kill($signal, @pids);
    };
}

my %PRCTL = (
    x86_64  => 157,
    aarch64 => 167,
    riscv64 => 167,
    i686    => 172,
    armv7l  => 172,
    ppc64le => 171,
    s390x   => 172,
);
my $prctl = $PRCTL{ (POSIX::uname())[4] };

sub prctl {
    my ($option, $value) = @_;
    syscall($prctl, $option + 0, $value + 0, 0, 0, 0) if $prctl;
}

# Makes the kernel send the caller this signal when its parent dies.
sub die_with_parent {
    prctl(PR_SET_PDEATHSIG, POSIX::SIGTERM());
}

sub root { return $root }

# Returns every live process below the guard except the test, with orphans.
sub processes {
    my (%seen, %found);
    # Again at the end: orphans may have come to the guard.
    while (my @queue = grep { !$seen{$_}++ } children($guard)) {
        while (my $pid = shift @queue) {
            push @queue, grep { !$seen{$_}++ } children($pid);
            my $stat = slurp("/proc/$pid/stat") // next;
            next if $pid == $$ || $stat =~ /.*\) [ZX]/s;
            my $command = slurp("/proc/$pid/cmdline") // next;
            $command =~ tr/\0/ /;
            $command =~ s/\s+$//;
            $found{$pid} = $command;
        }
    }
    return \%found;
}

# Reads until two reads agree: the kernel may leave some out while others exit.
sub children {
    my ($pid) = @_;
    my ($pids, $last) = ('none');
    do {
        $last = $pids;
        $pids = join ' ', read_children($pid);
    } until $pids eq $last;
    return split ' ', $pids;
}

sub read_children {
    my ($pid) = @_;
    opendir my $dir, "/proc/$pid/task" or return;
    return map { split ' ', slurp("/proc/$pid/task/$_/children") // '' }
        grep {/^\d+$/} readdir $dir;
}

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or return;
    local $/;
    return scalar <$fh>;
}

# Splits the process; only the test returns.
sub start {
    my ($timeout) = @_;
    return if $guard || $^C;
    die "the kernel has no CONFIG_PROC_CHILDREN\n"
        if !-e "/proc/$$/task/$$/children";

    $root = File::Temp::mkdtemp('/tmp/tg.XXXXXX');
    chmod 0755, $root;
    $guard = $$;
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        die_with_parent();
        # END blocks must run and report.
        $SIG{TERM} = sub { die Carp::longmess('terminated') };
        return;
    }
    watch($pid, $timeout);
}

sub watch {
    my ($test, $timeout) = @_;
    my $deadline = time + $timeout;
    # A signal ends the pause in reap(), or costs one pause.
    local @SIG{qw(INT TERM HUP)} = (sub { $deadline = 0 }) x 3;
    local $SIG{CHLD} = sub { };

    my $status = reap($test, \$deadline);
    if (!defined $status) {
        print STDERR "# $0: out of time or interrupted\n";
        for my $signal (qw(TERM KILL)) {
            kill $signal => $test;
            $status = reap($test, \(time + 60));
            last if defined $status;
        }
        $status ||= 1 << 8;
    }

    my $code = $status & 127 ? 128 + ($status & 127) : $status >> 8;
    my $left = processes();
    for my $pid (sort { $a <=> $b } keys %$left) {
        print STDERR "# $0: left behind: $pid $left->{$pid}\n";
        $code ||= 3;
    }
    sweep();
    if ($ENV{TOOLGATE_TEST_KEEP}) {
        print STDERR "# $0: kept $root\n";
    } else {
        remove_tree($root);
    }
    POSIX::_exit($code);
}

# Reaps processes until the test ends: its status, or undef at $$deadline.
sub reap {
    my ($test, $deadline) = @_;
    while (1) {
        my $pid = waitpid -1, POSIX::WNOHANG();
        return $? if $pid == $test;
        next if $pid > 0;
        return if time > $$deadline;
        select undef, undef, undef, 0.1;
    }
}

sub sweep {
    for my $signal (qw(TERM KILL)) {
        my $deadline = time + 3;
        my %left = %{ processes() } or return;
        kill $signal => keys %left;
        while (time < $deadline && %left) {
            1 while waitpid(-1, POSIX::WNOHANG()) > 0;
            %left = %{ processes() };
            sleep 0.02 if %left;
        }
    }
}

1;
