package Toolgate::Process;

# A program with which the test talks over standard input and output, by the
# functions of Toolgate::Client; stderr is a file.

use strict;
use warnings;
use parent -norequire, 'Toolgate::Client';

use Carp qw(croak);
use POSIX ();
use Time::HiRes qw(sleep time);
use Toolgate::Client;
use Toolgate::Guard;

# Options: env (added), cwd, stderr (a path).
sub spawn {
    my ($class, $option, @command) = @_;
    pipe my $child_in, my $out or croak "pipe: $!";
    pipe my $in, my $child_out or croak "pipe: $!";

    my $pid = fork // croak "fork: $!";
    if ($pid == 0) {
        exec_command(
            { %$option, stdin => $child_in, stdout => $child_out },
            @command);
    }
    close $child_in;
    close $child_out;

    my ($name) = $command[0] =~ m{([^/]+)$};
    my $self = $class->over($in, $out, "$name($pid)");
    $self->{pid} = $pid;
    $self->{stderr} = $option->{stderr};
    return $self;
}

# Redirects and executes in the child, or exits.
sub exec_command {
    my ($option, @command) = @_;
    $SIG{$_} = 'DEFAULT' for qw(TERM INT PIPE ALRM);
    Toolgate::Guard::die_with_parent();
    my %redirect = (
        0 => $option->{stdin} // '/dev/null',
        1 => $option->{stdout} // '/dev/null',
        2 => $option->{stderr},
    );
    for my $fd (sort keys %redirect) {
        my $to = $redirect{$fd} // next;
        if (!ref $to) {
            open my $fh, $fd ? '>>' : '<', $to or POSIX::_exit(126);
            $to = $fh;
        }
        POSIX::dup2(fileno $to, $fd) // POSIX::_exit(126);
    }
    if (defined $option->{cwd}) {
        chdir $option->{cwd} or POSIX::_exit(126);
    }
    my $env = $option->{env} // {};
    for my $name (keys %$env) {
        if (defined $env->{$name}) {
            $ENV{$name} = $env->{$name};
        } else {
            delete $ENV{$name};
        }
    }
    no warnings 'exec';
    exec { $command[0] } @command;
    POSIX::_exit(127);
}

sub pid { return $_[0]{pid} }

sub stderr {
    my ($self) = @_;
    return Toolgate::Guard::slurp($self->{stderr}) // '';
}

sub is_running {
    my ($self) = @_;
    return 0 if defined $self->{status};
    my $pid = waitpid $self->{pid}, POSIX::WNOHANG();
    return 1 if $pid == 0;
    $self->{status} = $?;
    return 0;
}

# Returns the wait status (as in $?), or dies at the deadline.
sub wait_exit {
    my ($self, $timeout) = @_;
    my $deadline = time + ($timeout // $Toolgate::Client::TIMEOUT);
    while ($self->is_running) {
        croak "$self->{name}: still running" if time > $deadline;
        sleep 0.01;
    }
    return $self->{status};
}

sub signal {
    my ($self, $signal) = @_;
    return $self->is_running && kill $signal => $self->{pid};
}

# Closes its input, and ends it in any case.
sub stop {
    my ($self) = @_;
    $self->close;
    return $self->{status} if eval { $self->wait_exit(5); 1 };
    for my $signal (qw(TERM KILL)) {
        $self->signal($signal);
        last if eval { $self->wait_exit(10); 1 };
    }
    return $self->{status};
}

1;
