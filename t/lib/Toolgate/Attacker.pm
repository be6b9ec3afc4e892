package Toolgate::Attacker;

# A hostile client in its own process: one of Toolgate::Attacks against a
# socket. It prints what it finds, and at its end "done" or the error. Further
# options: idle, cpu, user (a name; only for root).

use strict;
use warnings;

use Carp qw(croak);
use IO::Handle ();
use POSIX ();
use Time::HiRes qw(time);

use Toolgate::Attacks;
use Toolgate::Client;
use Toolgate::Guard;

sub start {
    my ($class, $name, $path, %option) = @_;
    my $attack = ref $name ? $name
        : Toolgate::Attacks->can($name) // croak "no attack $name";
    pipe my $in,     my $out or croak "pipe: $!";
    pipe my $orders, my $go  or croak "pipe: $!";
    my $pid = fork // croak "fork: $!";
    if ($pid == 0) {
        close $_ for $in, $go;
        perform($attack, $path, $out, $orders, \%option);
    }
    close $_ for $out, $orders;
    return bless {
        pid  => $pid,
        name => $name,
        said => Toolgate::Client->over($in, $in, "attack $name"),
        go   => $go,
    }, $class;
}

# Runs in the child, never returns, and runs no END block of the test.
sub perform {
    my ($attack, $path, $out, $orders, $option) = @_;
    $SIG{$_} = 'DEFAULT' for qw(TERM INT);
    $SIG{PIPE} = 'IGNORE';
    if (defined $option->{user}) {
        my ($uid, $gid) = (getpwnam $option->{user})[ 2, 3 ];
        POSIX::setgid($gid) && POSIX::setuid($uid) or POSIX::_exit(1);
    }
    Toolgate::Guard::die_with_parent();
    yield_processor() if $option->{idle};
    system "taskset -pc $option->{cpu} $$ >/dev/null"
        if defined $option->{cpu};
    $out->autoflush(1);
    my $ok = eval {
        $attack->(
            $path, %$option,
            say  => sub { print $out "$_[0]\n" },
            wait => sub { scalar readline $orders });
        1;
    };
    my $why = $@ || 'died without a word';
    $why =~ s/\s+/ /g;
    print $out $ok ? "done\n" : "wrong: $why\n";
    POSIX::_exit(0);
}

# Sets the lowest priority, in a new session: if the kernel shares processors
# between sessions first, priorities count only within one.
sub yield_processor {
    POSIX::setsid();
    if (open my $fh, '>', '/proc/self/autogroup') {
        syswrite $fh, '19';
    }
    system "chrt --idle -p 0 $$";
    return;
}

# Returns the next line that it prints.
sub line { return $_[0]{said}->recv_line($_[1]) }

# Lets a waiting attacker continue.
sub go {
    my ($self) = @_;
    syswrite $self->{go}, "go\n" or croak "$self->{name}: $!";
}

# Returns its last line, or undef while it runs.
sub ended {
    my ($self) = @_;
    return $self->{ended} if defined $self->{ended};
    $self->{said}->fill(0);
    if ($self->{said}->buffered =~ /^(done|wrong: .*)\n/m) {
        $self->{ended} = $1;
    } elsif ($self->{said}{eof}) {
        $self->{ended} = 'ended without a word';
    } else {
        return;
    }
    waitpid $self->{pid}, 0;
    return $self->{ended};
}

sub stop {
    my ($self) = @_;
    return if defined $self->{ended};
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{ended} = 'stopped';
}

1;
