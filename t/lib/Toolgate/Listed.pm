package Toolgate::Listed;

# The stand-in t/servers/mcp.pl as an `mcp_server` of a test's NGINX: its list
# is a file that the test writes, and what it was told is another.

use strict;
use warnings;

use Toolgate::Client;
use Toolgate::Util;

# One by a name, with no list yet; options of its own follow.
sub new {
    my ($class, $tg, $name, @options) = @_;
    my $self = bless { tg => $tg, name => $name, options => \@options }, $class;
    return $self;
}

sub list_path { return $_[0]{tg}->dir . "/$_[0]{name}.list" }
sub log_path { return $_[0]{tg}->dir . "/$_[0]{name}.log" }

# What stands behind `exec`.
sub command {
    my ($self) = @_;
    my $top = Toolgate::Test::top();
    return join ' ', $^X, "$top/t/servers/mcp.pl",
        'list=' . $self->list_path, 'log=' . $self->log_path,
        @{ $self->{options} };
}

# A tool as a server lists it; %more may replace what is usual.
sub tool {
    my ($class, $name, %more) = @_;
    return { name => $name, inputSchema => { type => 'object' }, %more };
}

# What it lists from its next start on, or the next time it is asked.
sub list {
    my ($self, @tools) = @_;
    my $list = [ map { ref $_ ? $_ : $self->tool($_) } @tools ];
    $self->{tg}->file("$self->{name}.list", Toolgate::Client->encode($list));
    return $self;
}

# The messages that its processes were told, as [ pid, message ].
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

# The pids of its processes so far, in their order.
sub pids {
    my ($self) = @_;
    my %seen;
    return grep { !$seen{$_}++ } map { $_->[0] } $self->told;
}

1;
