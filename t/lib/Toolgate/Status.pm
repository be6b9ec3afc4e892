package Toolgate::Status;

# What `toolgate.status` answers a client, about one server.

use strict;
use warnings;

sub new {
    my ($class, $client, $server) = @_;
    return bless { client => $client, name => $server // '' }, $class;
}

# Asks again; returns itself.
sub look {
    my ($self) = @_;
    my $reply = $self->{client}->rpc('toolgate.status');
    $self->{result} = $reply->{result}
        or die 'no status: ' . ($reply->{error}{message} // '');
    return $self;
}

# The server that was named, or the first.
sub server {
    my ($self) = @_;
    my ($server) = grep { $self->{name} eq '' || $_->{name} eq $self->{name} }
        @{ $self->{result}{servers} };
    return $server;
}

# A tool, or a method: NAME().
sub of {
    my ($self, $name) = @_;
    my $type = $name =~ s/\(\)$// ? 'method' : 'tool';
    my ($entry) = grep { $_->{type} eq $type && $_->{name} eq $name }
        @{ $self->server->{tools} };
    return $entry;
}

# How its calls ended, but for what never was.
sub ends {
    my ($self, $name) = @_;
    my $ends = $self->of($name)->{ends};
    return { map { $_ => $ends->{$_} } grep { $ends->{$_} } keys %$ends };
}

# How all calls of the server ended.
sub all_ends {
    my ($self) = @_;
    my %all;
    for my $tool (@{ $self->server->{tools} }) {
        my $ends = $tool->{ends};
        $all{$_} += $ends->{$_} for grep { $ends->{$_} } keys %$ends;
    }
    return \%all;
}

# A sum over all tools: in_flight, calls …
sub sum {
    my ($self, $member) = @_;
    my $n = 0;
    $n += $_->{$member} for @{ $self->server->{tools} };
    return $n;
}

# The calls that are under way, by the name of their tools.
sub calls {
    my ($self, $name) = @_;
    return grep { !defined $name || $_->{name} eq $name }
        @{ $self->{result}{calls} };
}

1;
