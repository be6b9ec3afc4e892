package Toolgate::Host;

# A program that has libtoolgate (t/host), told line by line what to
# do.

use strict;
use warnings;
use parent -norequire, 'Toolgate::Client';

use Carp qw(croak);
use Toolgate::Client;
use Toolgate::Util;

our @KINDS = qw(thread fd uv);

# Of a kind: thread, fd or uv.  Options: of the server, as OPTION => VALUE;
# env (added).
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

# Where its files are, if it is not told otherwise; and what is there.
sub run_dir { return $_[0]{run} }

sub files {
    my ($self) = @_;
    opendir my $dir, $self->{run} or croak "$self->{run}: $!";
    return sort grep { !/^\.\.?$/ } readdir $dir;
}

# Its next answer; whatever happened before it is an event.
sub answer {
    my ($self) = @_;
    while (1) {
        my $line = $self->recv_line;
        return $line if $line =~ /^[=!] /;
        push @{ $self->{events} }, $line;
    }
}

# Has it do something: its answer, or dies.
sub do {
    my ($self, $command) = @_;
    $self->send_raw("$command\n");
    my $answer = $self->answer;
    croak "$command: $answer" if $answer !~ s/^= //;
    return $answer;
}

# The error that it answers with.
sub fails {
    my ($self, $command) = @_;
    $self->send_raw("$command\n");
    my $answer = $self->answer;
    croak "$command did not fail: $answer" if $answer !~ s/^! //;
    return $answer;
}

# The first event that matches, be it to come; those before it are kept.
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

# Events that have come by now and match; asks something, so that all have.
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

# What a process holds: descriptors and threads.
sub holds {
    my ($self) = @_;
    my $pid = $self->pid;
    my @fds = glob "/proc/$pid/fd/*";
    my @threads = glob "/proc/$pid/task/*";
    return { fds => scalar @fds, threads => scalar @threads };
}

package Toolgate::Host::Process;

our @ISA = qw(Toolgate::Host Toolgate::Process);

1;
