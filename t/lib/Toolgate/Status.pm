package Toolgate::Status;

# The response of `toolgate.status`, about one server.

use strict;
use warnings;

sub new {
    my ($class, $client, $server) = @_;
    return bless { client => $client, name => $server // '' }, $class;
}

# Reads it again. Returns itself.
sub look {
    my ($self) = @_;
    my $reply = $self->{client}->rpc('toolgate.status');
    $self->{result} = $reply->{result}
        or die 'no status: ' . ($reply->{error}{message} // '');
    return $self;
}

# Returns the named server, or the first.
sub server {
    my ($self) = @_;
    my ($server) = grep { $self->{name} eq '' || $_->{name} eq $self->{name} }
        @{ $self->{result}{servers} };
    return $server;
}

# Returns a tool, or a method: NAME().
sub of {
    my ($self, $name) = @_;
    my $type = $name =~ s/\(\)$// ? 'method' : 'tool';
    my ($entry) = grep { $_->{type} eq $type && $_->{name} eq $name }
        @{ $self->server->{tools} };
    return $entry;
}

# Returns the nonzero counts of ends of its calls.
sub ends {
    my ($self, $name) = @_;
    my $ends = $self->of($name)->{ends};
    return { map { $_ => $ends->{$_} } grep { $ends->{$_} } keys %$ends };
}

# Returns such counts of all calls of the server.
sub all_ends {
    my ($self) = @_;
    my %all;
    for my $tool (@{ $self->server->{tools} }) {
        my $ends = $tool->{ends};
        $all{$_} += $ends->{$_} for grep { $ends->{$_} } keys %$ends;
    }
    return \%all;
}

# Returns a sum over all tools: in_flight, calls …
sub sum {
    my ($self, $member) = @_;
    my $n = 0;
    $n += $_->{$member} for @{ $self->server->{tools} };
    return $n;
}

# Returns the running calls, by the name of their tools.
sub calls {
    my ($self, $name) = @_;
    return grep { !defined $name || $_->{name} eq $name }
        @{ $self->{result}{calls} };
}

1;
