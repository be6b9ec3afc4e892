package Toolgate::Parent;

# What is behind the bridge, played by the test itself: listens on a Unix
# socket and hands out the connections as Toolgate::Client.

use strict;
use warnings;

use Carp qw(croak);
use Exporter qw(import);
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Toolgate::Client;

our @EXPORT_OK = qw(answer give refuse request text_result tool);

sub new {
    my ($class, $path) = @_;
    my $self = bless { path => $path }, $class;
    return $self->listen;
}

sub path { return $_[0]{path} }

sub listen {
    my ($self) = @_;
    unlink $self->{path};
    $self->{socket} = IO::Socket::UNIX->new(
        Type   => SOCK_STREAM,
        Local  => $self->{path},
        Listen => 16
    ) or croak "listen on $self->{path}: $!";
    return $self;
}

# Nobody listens any more, and the file is gone (or is left, as after a
# crash).
sub close {
    my ($self, %option) = @_;
    close delete $self->{socket} if $self->{socket};
    unlink $self->{path} if !$option{stale};
}

# The next connection; croaks when there is none in time.
sub accept {
    my ($self, $timeout) = @_;
    IO::Select->new($self->{socket})
        ->can_read($timeout // $Toolgate::Client::TIMEOUT)
        or croak "$self->{path}: no connection";
    my $socket = $self->{socket}->accept or croak "accept: $!";
    return Toolgate::Client->over($socket, $socket, 'bridge');
}

# Does anybody connect within so many seconds?
sub is_called {
    my ($self, $seconds) = @_;
    return !!IO::Select->new($self->{socket})->can_read($seconds);
}

# The next request of the method, whatever it is asked for besides.
sub request {
    my ($conn, $method, $timeout) = @_;
    return $conn->recv_where(
        sub {
            my ($m) = @_;
            return exists $m->{id} && ($m->{method} // '') eq $method;
        },
        $timeout,
        "request $method");
}

sub answer {
    my ($conn, $request, $result) = @_;
    return $conn->send_line(
        { jsonrpc => '2.0', id => $request->{id}, result => $result });
}

# Answers the next request of the method.
sub give {
    my ($conn, $method, $result) = @_;
    return answer($conn, request($conn, $method), $result);
}

sub refuse {
    my ($conn, $request, $code, $message, $data) = @_;
    my $error = { code => $code, message => $message };
    $error->{data} = $data if defined $data;
    return $conn->send_line(
        { jsonrpc => '2.0', id => $request->{id}, error => $error });
}

# Has the bridge closed the connection, with nothing more to say?
sub is_left {
    my ($conn, $timeout) = @_;
    @{ $conn->{aside} } = ();
    return $conn->at_eof($timeout);
}

sub tool {
    my ($name, %more) = @_;
    return {
        name        => $name,
        description => "The tool $name.",
        inputSchema => { type => 'object' },
        %more,
    };
}

sub text_result {
    my ($text) = @_;
    return { content => [ { type => 'text', text => $text } ] };
}

# An MCP server's beginning on a new connection, up to its list of tools.
sub serve {
    my ($self, @tools) = @_;
    my $conn = $self->accept;
    answer(
        $conn,
        request($conn, 'initialize'),
        {
            protocolVersion => '2025-11-25',
            capabilities    => { tools => { listChanged => \1 } },
            serverInfo      => { name => 'parent', version => '7' },
            instructions    => "Say \x{201c}please\x{201d}.",
        });
    $conn->notification('notifications/initialized');
    answer($conn, request($conn, 'tools/list'), { tools => \@tools });
    return $conn;
}

1;
