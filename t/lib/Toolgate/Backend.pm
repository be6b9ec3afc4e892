package Toolgate::Backend;

# A backend of `pass` in any protocol, played by the test (Toolgate::Parent).

use strict;
use warnings;

use Carp qw(croak);
use Toolgate::Client;
use Toolgate::Parent;

our @ALL = qw(ipc jsonrpc mcp relay);

sub new {
    my ($class, $protocol, $path) = @_;
    return bless {
        protocol => $protocol,
        parent   => Toolgate::Parent->new($path),
    }, $class;
}

# Returns one backend per protocol, in the test's folder.
sub all {
    my ($class, $tg) = @_;
    return map { $class->new($_, $tg->dir . "/$_") } @ALL;
}

sub protocol { return $_[0]{protocol} }
sub parent { return $_[0]{parent} }

# Returns the arguments of `pass` for it.
sub pass {
    my ($self, @more) = @_;
    return join(' ', "pass unix:$self->{parent}{path}",
        "protocol=$self->{protocol}", @more) . ';';
}

# Returns the connection accepted last, or the first one.
sub conn {
    my ($self) = @_;
    return $self->{conn} //= $self->accept;
}

# Accepts another connection, with MCP's handshake.
sub accept {
    my ($self) = @_;
    my $conn = $self->{conn} = $self->{parent}->accept;
    if ($self->{protocol} eq 'mcp') {
        Toolgate::Parent::refuse($conn,
            Toolgate::Parent::request($conn, 'server/discover'),
            -32601, 'what?');
        $self->greet($conn);
    }
    return $conn;
}

# Handles the rest of a legacy handshake.
sub greet {
    my ($self, $conn) = @_;
    Toolgate::Parent::give(
        $conn,
        'initialize',
        {
            protocolVersion => '2025-11-25',
            capabilities    => {},
            serverInfo      => { name => 'backend', version => '1' },
        });
    $conn->notification('notifications/initialized');
    $self->{conn} = $conn;
}

# Returns the next call or request, which knows its connection.
sub heard {
    my ($self, $method) = @_;
    my $conn = $self->conn;
    my $request = $self->{protocol} eq 'ipc' ? $conn->recv_ipc
        : Toolgate::Parent::request($conn, $method // 'tools/call');
    return { %$request, conn => $conn };
}

sub kind {
    my ($self, $kind) = @_;
    return $self->{protocol} eq 'relay' ? (kind => $kind) : (jsonrpc => '2.0');
}

# Answers with result => … or error => ….
sub answer {
    my ($self, $request, %answer) = @_;
    my $conn = $request->{conn};
    return $conn->send_ipc(\%answer) if $self->{protocol} eq 'ipc';
    return $conn->send_line(
        { $self->kind('mcp_response'), id => $request->{id}, %answer });
}

sub text {
    my ($self, $request, $text) = @_;
    return $self->answer($request,
        result => Toolgate::Parent::text_result($text));
}

sub notify {
    my ($self, $conn, $method, $params) = @_;
    return $conn->send_line({
        $self->kind('mcp_notification'),
        method => $method,
        params => $params,
    });
}

# Reports progress of a call with a progress token.
sub progress {
    my ($self, $request, %params) = @_;
    my $token = $request->{params}{_meta}{progressToken}
        // croak 'no token';
    return $self->notify($request->{conn}, 'notifications/progress',
        { progressToken => $token, %params });
}

1;
