package Toolgate::Util;

# Functions of the harness and the tests: the tested build, waiting for
# conditions, running programs.

use strict;
use warnings;

use Carp qw(croak);
use Cwd ();
use Exporter qw(import);
use File::Basename qw(dirname);
use POSIX ();
use Time::HiRes qw(sleep time);

use Toolgate::Guard;
use Toolgate::Process;

our @EXPORT = qw($TOP $BUILD %BUILD_ENV is_alive is_runner lines_of
    modern_meta parent_of preloaded run_command runner_at runner_in sanitizers
    slurp wait_for);

our $TOP = Cwd::realpath(dirname(__FILE__) . '/../../..');
our $BUILD = $ENV{TOOLGATE_BUILD} // 'build';
$BUILD = "$TOP/$BUILD" if $BUILD !~ m{^/};
our %BUILD_ENV;

*slurp = \&Toolgate::Guard::slurp;

# Returns the complete lines of a file, without newlines.
sub lines_of {
    my ($path) = @_;
    return (slurp($path) // '') =~ /(.*)\n/g;
}

# Returns `_meta` of a request in MCP's modern era.
sub modern_meta {
    return {
        'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => {},
    };
}

sub load_build_env {
    return if $^C;
    my $text = slurp("$BUILD/build.env")
        // die "no $BUILD/build.env: ./build.sh build first\n";
    %BUILD_ENV = map { split /=/, $_, 2 } split /\n/, $text;
}

sub parent_of {
    my ($pid) = @_;
    my $stat = slurp("/proc/$pid/stat") // return 0;
    return $stat =~ /.*\) \S (\d+)/s ? $1 : 0;
}

# Returns the libraries to preload into a program without sanitizers.
sub sanitizers { return split /:/, $BUILD_ENV{san_runtime} }

# Returns directives of nginx.conf that preload t/faults/NAME.c into its runner,
# with further variables.
sub preloaded {
    my ($name, @variables) = @_;
    my @preload = (sanitizers(), "$BUILD/faults/$name.so");
    return join '', map {"env \"$_\";\n"} 'LD_PRELOAD=' . join(':', @preload),
        @variables;
}

# Checks whether a process exists and is not a zombie.
sub is_alive {
    my ($pid) = @_;
    my $stat = slurp("/proc/$pid/stat") // return 0;
    return $stat !~ /.*\) [ZX]/s;
}

# Checks for a runner or supervisor, without `exe`, which only root can read.
sub is_runner {
    my ($pid) = @_;
    my $command = slurp("/proc/$pid/cmdline") // '';
    return is_alive($pid)
        && $command =~ m{^[^\0]*/toolgate-runner\0--state-dir\0};
}

# Minimum time before a wait counts as hanging: the machine may be busy, and
# nobody waits that long if all is well.
our $PATIENCE = 180;

# Polls until the condition holds, and returns its value; dies after $PATIENCE
# or more:
#
#   wait_for { -S $socket } 'the socket to be there';
sub wait_for (&;$$) {
    my ($condition, $name, $timeout) = @_;
    $timeout = $PATIENCE if ($timeout // 0) < $PATIENCE;
    $timeout *= 3 if $BUILD_ENV{san};
    my $deadline = time + $timeout;
    my $pause = 0.002;
    while (1) {
        my $result = $condition->();
        return $result if $result;
        croak "waited $timeout s for " . ($name // 'a condition')
            if time > $deadline;
        sleep $pause;
        $pause *= 1.5 if $pause < 0.05;
    }
}

# Returns the pid of the runner that serves in a state directory, or 0. A test
# may signal the runner and its parent, the supervisor: both are running.
sub runner_at {
    my ($dir) = @_;
    my ($pid) = (slurp("$dir/runner-3.lock") // '') =~ /^(\d+)$/m or return 0;
    return is_runner($pid) && is_runner(parent_of($pid)) ? $pid : 0;
}

# Waits for such a runner.
sub runner_in {
    my ($dir) = @_;
    return wait_for { runner_at($dir) } "a runner in $dir";
}

my $runs = 0;

# Runs a program to its end. Returns exit status (128 + n for a signal), stdout,
# stderr. Options: env (added), cwd, stdin (text), timeout.
sub run_command {
    my ($option, @command) = @_;
    # Not a random name: forked children that run commands at once have
    # inherited the same seed.
    my $base = join '.', Toolgate::Guard::root() . '/run', $$, ++$runs;
    my @files = map {"$base.$_"} qw(in out err);
    if (defined $option->{stdin}) {
        open my $fh, '>:raw', "$base.in" or croak "$base.in: $!";
        print $fh $option->{stdin};
        close $fh or croak "$base.in: $!";
    }
    my $pid = fork // croak "fork: $!";
    if ($pid == 0) {
        Toolgate::Process::exec_command({
                env    => $option->{env},
                cwd    => $option->{cwd},
                stdin  => defined $option->{stdin} ? "$base.in" : undef,
                stdout => "$base.out",
                stderr => "$base.err",
            },
            @command);
    }
    my $status;
    my $ended = eval {
        wait_for {
            return 0 if waitpid($pid, POSIX::WNOHANG()) != $pid;
            $status = $?;
            return 1;
        } "$command[0] to end", $option->{timeout};
    };
    if (!$ended) {
        my $why = $@;
        kill KILL => $pid;
        waitpid $pid, 0;
        unlink @files;
        croak $why;
    }
    my @text = map { slurp("$base.$_") // '' } qw(out err);
    unlink @files;
    return ($status & 127 ? 128 + ($status & 127) : $status >> 8, @text);
}

1;
