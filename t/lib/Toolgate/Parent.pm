package Toolgate::Parent;

# The server behind the bridge, played by the test: listens on a Unix socket and
# returns connections as Toolgate::Client.

use strict;
use warnings;

use Carp qw(croak);
use Exporter qw(import);
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Toolgate::Client;

our @EXPORT_OK = qw(answer give lacks refuse request text_result tool);

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

# Stops listening, and removes the file, unless a crash is simulated.
sub close {
    my ($self, %option) = @_;
    close delete $self->{socket} if $self->{socket};
    unlink $self->{path} if !$option{stale};
}

# Returns the next connection; croaks if none comes.
sub accept {
    my ($self, $timeout) = @_;
    IO::Select->new($self->{socket})
        ->can_read($timeout // $Toolgate::Client::TIMEOUT)
        or croak "$self->{path}: no connection";
    my $socket = $self->{socket}->accept or croak "accept: $!";
    return Toolgate::Client->over($socket, $socket, 'bridge');
}

# Checks whether somebody connects within some seconds.
sub is_called {
    my ($self, $seconds) = @_;
    return !!IO::Select->new($self->{socket})->can_read($seconds);
}

# Returns the next request of the method, ignoring others.
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

# Has none of these lists: tools, prompts, resources.
sub lacks {
    my ($conn, @lists) = @_;
    refuse($conn, request($conn, "$_/list"), -32601, 'unknown method')
        for @lists;
}

# Checks that the bridge has closed the connection without more data.
sub is_left {
    my ($conn, $timeout) = @_;
    @{ $conn->{aside} } = ();
    return $conn->at_eof($timeout);
}

# Checks that the bridge has sent nothing that the test has not looked at.
sub is_idle {
    my ($conn) = @_;
    @{ $conn->{aside} } = ();
    return $conn->is_silent(0);
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

# Plays an MCP server on a new connection, up to its list of tools.
sub serve {
    my ($self, @tools) = @_;
    return $self->serve_as({}, @tools);
}

# Plays an MCP server with other members in its answer to initialize.
sub serve_as {
    my ($self, $about, @tools) = @_;
    my $conn = $self->accept;
    answer(
        $conn,
        request($conn, 'initialize'),
        {
            protocolVersion => '2025-11-25',
            capabilities    => { tools => { listChanged => \1 } },
            serverInfo      => { name => 'parent', version => '7' },
            instructions    => "Say \x{201c}please\x{201d}.",
            %$about,
        });
    $conn->notification('notifications/initialized');
    answer($conn, request($conn, 'tools/list'), { tools => \@tools });
    return $conn;
}

1;
