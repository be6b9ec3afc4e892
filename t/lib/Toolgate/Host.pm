package Toolgate::Host;

# A program with libtoolgate (t/host), controlled line by line.

use strict;
use warnings;
use parent -norequire, 'Toolgate::Client';

use Carp qw(croak);
use Toolgate::Client;
use Toolgate::Util;

our @KINDS = qw(thread fd uv);

# Options: kind (thread, fd or uv), the server's OPTION => VALUE, env.
sub start {
    my ($class, $tg, $kind, %option) = @_;
    my $env = delete $option{env} // {};
    my $run = $tg->dir . '/run';
    mkdir $run, 0700;
    my $self = $tg->spawn(
        { env => { XDG_RUNTIME_DIR => $run, %$env } },
        "$BUILD/host", $kind, map {"$_=$option{$_}"} sort keys %option
    );
    bless $self, 'Toolgate::Host::Process';
    $self->{run} = $run;
    $self->{events} = [];
    $self->answer;
    return $self;
}

# Default folder of its files, and its content.
sub run_dir { return $_[0]{run} }

sub files {
    my ($self) = @_;
    opendir my $dir, $self->{run} or croak "$self->{run}: $!";
    return sort grep { !/^\.\.?$/ } readdir $dir;
}

# Returns its next answer; earlier lines are events.
sub answer {
    my ($self) = @_;
    while (1) {
        my $line = $self->recv_line;
        return $line if $line =~ /^[=!] /;
        push @{ $self->{events} }, $line;
    }
}

# Runs a command. Returns its answer, or dies.
sub do {
    my ($self, $command) = @_;
    $self->send_raw("$command\n");
    my $answer = $self->answer;
    croak "$command: $answer" if $answer !~ s/^= //;
    return $answer;
}

# Returns the error that it answers.
sub fails {
    my ($self, $command) = @_;
    $self->send_raw("$command\n");
    my $answer = $self->answer;
    croak "$command did not fail: $answer" if $answer !~ s/^! //;
    return $answer;
}

# Waits for the first matching event; keeps those before it.
sub event {
    my ($self, $pattern) = @_;
    my $events = $self->{events};
    my $at = 0;
    while (1) {
        for (; $at < @$events; $at++) {
            return splice @$events, $at, 1 if $events->[$at] =~ $pattern;
        }
        my $line = $self->recv_line;
        croak "nobody asked for $line" if $line =~ /^[=!] /;
        push @$events, $line;
    }
}

# Returns the matching events so far, after a request that flushes them.
sub events {
    my ($self, $pattern) = @_;
    $self->do('state');
    return grep { $_ =~ $pattern } @{ $self->{events} };
}

sub socket_path {
    my ($self) = @_;
    return $self->do('socket');
}

sub connect_to {
    my ($self) = @_;
    return Toolgate::Client->connect($self->socket_path);
}

# Returns the numbers of descriptors and threads of a process. If earlier
# numbers are given, waits until it has no more threads: a thread may be listed
# in /proc for a moment after it was joined.
sub holds {
    my ($self, $before) = @_;
    my $pid = $self->pid;
    my @threads;
    wait_for {
        @threads = glob "/proc/$pid/task/*";
        return !defined $before || @threads <= $before->{threads};
    } 'the threads to end';
    my @fds = glob "/proc/$pid/fd/*";
    return { fds => scalar @fds, threads => scalar @threads };
}

package Toolgate::Host::Process;

our @ISA = qw(Toolgate::Host Toolgate::Process);

1;
