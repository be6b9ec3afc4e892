package Toolgate::Faults;

# Makes allocations and system calls of a process of NGINX fail, from a moment
# that the test chooses (t/faults/tg_faults.c).
#
#   my $faults = Toolgate::Faults->new($tg);     # before $tg->start
#   $faults->arm($pid, alloc => 3);              # the third from now on
#   … $faults->failed …                          # did it happen?
#   $faults->calm;

use strict;
use warnings;

use Carp qw(croak);

use Toolgate::Util;

my @kinds = qw(recv send accept socket connect spawn epoll sendmsg recvmsg
    memfd);
my @fields = (
    qw(pid alloc allocs failed live recv_max send_max again again_at),
    (map {"$_.call"} @kinds),
    (map {"$_.count"} @kinds),
    (map {"$_.error"} @kinds),
    'allocs_made',
    (map {"$_.made"} @kinds),
    'others_made', 'still',
);
my %at = map { $fields[$_] => $_ * 4 } 0 .. $#fields;

sub new {
    my ($class, $tg) = @_;
    my $path = $tg->file('faults', "\0" x 4096, 0666);
    open my $fh, '+<:raw', $path or croak "$path: $!";
    my $self = bless { path => $path, fh => $fh }, $class;
    $tg->preload('tg_faults', TG_FAULTS => $path);
    return $self;
}

sub set {
    my ($self, $field, $value) = @_;
    $self->put($at{$field} // croak("no field $field"), pack 'l', $value);
}

sub put {
    my ($self, $at, $bytes) = @_;
    sysseek $self->{fh}, $at, 0 or croak "seek: $!";
    syswrite $self->{fh}, $bytes or croak "write: $!";
}

sub get {
    my ($self, $field) = @_;
    sysseek $self->{fh}, $at{$field}, 0 or croak "seek: $!";
    sysread $self->{fh}, my $bytes, 4 or croak "read: $!";
    return unpack 'l', $bytes;
}

# Sets what fails in a process: alloc and allocs, the n-th and the number of
# further ones; recv_max and send_max, bytes; again, each n-th recv and send;
# KIND => [ errno, n, more ] for a system call.
sub arm {
    my ($self, $pid, %fault) = @_;
    $self->calm;
    $self->set(failed => 0);
    for my $name (keys %fault) {
        my $value = $fault{$name};
        if (ref $value) {
            $self->set("$name.error", $value->[0]);
            $self->set("$name.count", $value->[2] // 0);
            $self->set("$name.call",  $value->[1] // 1);
        } else {
            $self->set($name => $value);
        }
    }
    $self->set(pid => $pid);
}

# Nothing fails any more; the allocations of $pid are still counted.
sub calm {
    my ($self, $pid) = @_;
    $self->set(pid => 0);
    $self->put($at{alloc}, "\0" x ($at{failed} - $at{alloc}));
    $self->put($at{recv_max}, "\0" x ($at{allocs_made} - $at{recv_max}));
    $self->set(still => 0);
    $self->set(pid => $pid) if $pid;
}

sub failed { return $_[0]->get('failed') }
# Returns the process's calls so far: allocs, others (system calls that no tool
# call needs) or one of the kinds.
sub made {
    my ($self, $what) = @_;
    return $self->get($at{"$what.made"} ? "$what.made" : "${what}_made");
}

sub live { return $_[0]->get('live') }

# Stops the process's monotonic clock, so that no time slice ends.
sub stop_clock { return $_[0]->set(still => 1) }

1;
