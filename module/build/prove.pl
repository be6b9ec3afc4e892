#!/usr/bin/perl
# prove.pl ARGUMENT...: prove, for tests with Toolgate::Test. It has loaded the
# harness, and runs each test in a fork, because loading takes longer than most
# tests do.
#
# Standard error of the tests goes past prove to descriptor 9: prove attends
# only to a job that has written to its standard error until a line on standard
# output follows. As long as a storm lasts, no other job would begin.
#
# In the suite, whose parts share a number of jobs, each test first takes a byte
# from descriptor 8, and returns it.

use strict;
use warnings;
use lib 't/lib';

use App::Prove;
use File::Spec;
use IO::Handle;
use IO::Select;
use POSIX ();
use TAP::Parser::Iterator::Process;
use Test2::API ();

BEGIN { Test2::API::test2_start_preload() }

use Test::More ();
use Toolgate::Hang;
use Toolgate::Listed;
use Toolgate::Parent;
use Toolgate::Runner;
use Toolgate::Status;
use Toolgate::Test ();
use Toolgate::Way;

my $slots;
if (delete $ENV{TEST_SLOTS}) {
    open $slots, '+<&=', 8 or die "descriptor 8: $!";
}
open my $err, '>&=', 9 or die "descriptor 9: $!";

no warnings 'redefine';

sub TAP::Parser::Iterator::Process::_initialize {
    my ($self, $args) = @_;
    pipe my $out, my $in or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        close $out;
        job($args->{command}[-1], $in);
    }
    @$self{qw(command out err sel pid chunk_size)} =
        ($args->{command}, $out, IO::Handle->new, IO::Select->new($out), $pid,
        65_536);
    return $self;
}

# Runs a test file, and exits with its status.
sub job {
    my ($file, $out) = @_;
    $SIG{INT} = 'DEFAULT';
    sysread $slots, my $slot, 1 if $slots;
    my $status = 71 << 8;
    my $pid = fork;
    if (!defined $pid) {
        syswrite $err, "$file: fork: $!\n";
    } elsif ($pid) {
        waitpid $pid, 0;
        $status = $?;
    } else {
        test($file, $out);
    }
    syswrite $slots, "\n" if $slots;
    POSIX::_exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
}

sub test {
    my ($file, $out) = @_;
    POSIX::dup2(fileno $out, 1);
    POSIX::dup2(fileno $err, 2);
    # Nothing that the test starts can keep these.
    close $_ for grep {defined} $out, $err, $slots;
    Test2::API::test2_reset_io();
    $0 = $file;
    @ARGV = ();
    srand;
    $file = File::Spec->rel2abs($file);
    $@ = -r $file ? '' : "$file: $!\n";
    do $file if $@ eq '';
    exit 0 if $@ eq '';
    # Without the stack of prove.
    print STDERR $@ =~ s/\n\tmain::test\(.*/\n/sr;
    exit 255;
}

my $prove = App::Prove->new;
$prove->process_args('-e', $^X, @ARGV);
exit !$prove->run;
