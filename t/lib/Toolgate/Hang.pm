package Toolgate::Hang;

# A program that runs until it is ended, with a child in its group. It reports
# its pids through a FIFO, so that tests know when it runs, and as whom.

use strict;
use warnings;

use Carp qw(croak);
use POSIX ();

use Toolgate::Client;
use Toolgate::Util;

sub new {
    my ($class, $tg) = @_;
    my $self = bless { dir => $tg->dir, known => {} }, $class;
    my $fifo = $tg->dir . '/started';
    POSIX::mkfifo($fifo, 0622) or croak "$fifo: $!";
    # Open for writing, too, so that there is no end of file.
    open $self->{fifo}, '+<', $fifo or croak "$fifo: $!";
    $self->{client} =
        Toolgate::Client->over($self->{fifo}, $self->{fifo}, 'started');
    $tg->file('hang.sh', <<"END", 0755);
#!/bin/sh
sleep 1000 &
echo "\$1 \$\$ \$!" >$fifo
until [ -e "$self->{dir}/go.\$1" ]; do sleep 0.05; done
kill \$!
echo "done \$1"
END
    return $self;
}

# Returns the body of a tool or method; its argument `key` names the call.
sub handler {
    my ($self) = @_;
    return "exec $self->{dir}/hang.sh \$tool_arg_key; timeout 600s;"
        . q( input_schema '{"type":"object","required":["key"]}';);
}

# Waits for the program of this call. Returns its pids.
sub started {
    my ($self, $key) = @_;
    until ($self->{known}{$key}) {
        my ($name, @pids) = split / /, $self->{client}->recv_line;
        $self->{known}{$name} = \@pids;
    }
    return @{ $self->{known}{$key} };
}

# Checks whether it is known to have run.
sub has_started {
    my ($self, $key) = @_;
    while ($self->{client}->fill(0)) { }
    while (index($self->{client}->buffered, "\n") >= 0) {
        my ($name, @pids) = split / /, $self->{client}->recv_line;
        $self->{known}{$name} = \@pids;
    }
    return exists $self->{known}{$key};
}

sub is_gone {
    my ($self, $key) = @_;
    return !grep { is_alive($_) } $self->started($key);
}

sub is_whole {
    my ($self, $key) = @_;
    my @pids = $self->started($key);
    return @pids == grep { is_alive($_) } @pids;
}

sub wait_gone {
    my ($self, $key) = @_;
    return wait_for { $self->is_gone($key) } "$key to end";
}

# Lets it end by itself.
sub finish {
    my ($self, $key) = @_;
    open my $fh, '>', "$self->{dir}/go.$key" or croak "go.$key: $!";
}

1;
