package Toolgate::Listed;

# The stand-in t/servers/mcp.pl as an `mcp_server` of a test's NGINX: the test
# writes its list to a file, and reads its input from another.

use strict;
use warnings;

use Toolgate::Client;
use Toolgate::Util;

# Creates one without a list, by name; its own options follow.
sub new {
    my ($class, $tg, $name, @options) = @_;
    my $self = bless { tg => $tg, name => $name, options => \@options }, $class;
    return $self;
}

sub list_path { return $_[0]{tg}->dir . "/$_[0]{name}.list" }
sub log_path { return $_[0]{tg}->dir . "/$_[0]{name}.log" }

# Returns the arguments of `exec`.
sub command {
    my ($self) = @_;
    my $top = Toolgate::Test::top();
    return join ' ', $^X, "$top/t/servers/mcp.pl",
        'list=' . $self->list_path, 'log=' . $self->log_path,
        @{ $self->{options} };
}

# Returns a tool as a server lists it; %more overrides members.
sub tool {
    my ($class, $name, %more) = @_;
    return { name => $name, inputSchema => { type => 'object' }, %more };
}

# Sets the list for its next start or the next request.
sub list {
    my ($self, @tools) = @_;
    my $list = [ map { ref $_ ? $_ : $self->tool($_) } @tools ];
    $self->{tg}->file("$self->{name}.list", Toolgate::Client->encode($list));
    return $self;
}

# Returns the messages to its processes, as [ pid, message ].
sub told {
    my ($self, $method) = @_;
    my @told;
    for (lines_of($self->log_path)) {
        my ($pid, $text) = split / /, $_, 2;
        my $message = Toolgate::Client->decode($text);
        push @told, [ $pid, $message ]
            if !$method || ($message->{method} // '') eq $method;
    }
    return @told;
}

# Returns the pids of its processes so far, in order.
sub pids {
    my ($self) = @_;
    my %seen;
    return grep { !$seen{$_}++ } map { $_->[0] } $self->told;
}

1;
