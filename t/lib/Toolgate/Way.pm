package Toolgate::Way;

# One way to use a server's tools: MCP in either era, relay or ipc. Results have
# the same shape in all dialects, so that one test covers all.

use strict;
use warnings;

use Carp qw(croak);
use Toolgate::Client;

our @ALL = qw(legacy modern relay ipc);

my $meta = 'io.modelcontextprotocol';

# $client is a fresh connection.
sub new {
    my ($class, $way, $client) = @_;
    my $self = bless { way => $way, client => $client }, $class;
    $client->rpc('initialize',
        { protocolVersion => '2025-11-25', capabilities => {} })
        if $way eq 'legacy';
    return $self;
}

# Returns one of each, over connections to a socket.
sub all {
    my ($class, $tg, $socket) = @_;
    return map { $class->new($_, $tg->connect($socket)) } @ALL;
}

sub name { return $_[0]{way} }
sub client { return $_[0]{client} }

sub params {
    my ($self, $params) = @_;
    return $params if $self->{way} ne 'modern';
    return {
        %$params,
        _meta => {
            "$meta/protocolVersion"    => '2026-07-28',
            "$meta/clientCapabilities" => {},
            %{ $params->{_meta} // {} },
        },
    };
}

# Sends a call without waiting. Returns its id, undef in ipc.
sub start {
    my ($self, $name, $arguments, %more) = @_;
    my $params =
        $self->params({ name => $name, arguments => $arguments // {}, %more });
    my $client = $self->{client};
    if ($self->{way} eq 'ipc') {
        $client->send_ipc({ method => 'call_tool', params => $params });
        return;
    }
    return $self->ask('tools/call', $params);
}

sub ask {
    my ($self, $method, $params) = @_;
    my $client = $self->{client};
    return $client->request($method, $params) if $self->{way} ne 'relay';
    my $id = ++$client->{id};
    $client->send_line({
        kind   => 'mcp_request',
        id     => $id,
        method => $method,
        params => $params,
    });
    return $id;
}

# Returns the answer to start(), see answer().
sub finish {
    my ($self, $id, $timeout) = @_;
    return answer($self->{way} eq 'ipc'
        ? $self->{client}->recv_ipc($timeout)
        : $self->{client}->reply($id, $timeout));
}

# Makes a call. Returns its answer.
sub call {
    my ($self, $name, $arguments, %more) = @_;
    return $self->finish($self->start($name, $arguments, %more));
}

# Converts a reply to: text (for people), code (JSON-RPC error), type (ipc
# error), is_error, result, raw.
sub answer {
    my ($raw) = @_;
    my ($result, $error) = @$raw{qw(result error)};
    croak 'neither result nor error: ' . Toolgate::Client->encode($raw)
        if !$result == !$error;
    my ($block) = $result ? @{ $result->{content} } : ();
    return {
        raw      => $raw,
        result   => $result,
        code     => $error && $error->{code},
        type     => $error && $error->{type},
        is_error => $error || $result->{isError} ? 1 : 0,
        text     => $error ? $error->{message} : $block->{text},
    };
}

# Returns the names of the listed tools, with blanks between; empty in ipc.
sub list {
    my ($self) = @_;
    my $reply = $self->{client}->reply(
        $self->ask('tools/list', $self->params({})));
    return join ' ', map { $_->{name} } @{ $reply->{result}{tools} };
}

# Returns how this way reports an unknown tool, wrong arguments or another
# failure: "result", a code, or a class name.
sub kind {
    my ($answer) = @_;
    return 'no error' if !$answer->{is_error};
    return $answer->{type} // $answer->{code} // 'result';
}

1;
