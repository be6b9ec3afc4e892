package Toolgate::Talks;

# Short conversations of all dialects, to be repeated while something fails, and
# their possible results.

use strict;
use warnings;

use Toolgate::Measure;
use Toolgate::Util;

our $TOOLS = <<'END';
tool hi { return hi; }
tool echo {
    input_schema '{"type":"object","properties":{"text":{"type":"string"}},
                   "required":["text"]}';
    return $tool_arg_text;
}
tool run { exec cat; stdin $tool_arg_text; }
tool object {
    output_schema '{"type":"object","required":["text"]}';
    output json;
    return '{"text":$tool_json_text}';
}
method sum { return '[$tool_json_a]'; }
END

sub frame {
    my ($dialect, $json) = @_;
    return $dialect eq 'ipc' ? pack 'N/a', $json : "$json\n";
}

sub tool_call {
    my ($dialect, $id, $name, $text) = @_;
    my $params = qq("params":{"name":"$name","arguments":{"text":"$text"}});
    return frame($dialect, qq({"method":"call_tool",$params}))
        if $dialect eq 'ipc';
    my $kind = $dialect eq 'relay' ? '"kind":"mcp_request"'
        : '"jsonrpc":"2.0"';
    return frame($dialect, qq({$kind,"id":$id,"method":"tools/call",$params}));
}

sub rpc {
    my ($id, $method, $params) = @_;
    return qq({"jsonrpc":"2.0","id":$id,"method":"$method")
        . (defined $params ? qq(,"params":$params) : '') . "}\n";
}

my $long = 'x' x 300_000;
my $claim = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    . '"io.modelcontextprotocol/clientCapabilities":{}}';

# Input (in parts, each sent after the one before was read), number of answers,
# and their content if all is well.
our @TALKS = (
    [ 'a value', 'jsonrpc', [ tool_call('jsonrpc', 1, 'hi', '') ], 1, 'hi' ],
    [ 'arguments', 'jsonrpc', [ tool_call('jsonrpc', 1, 'echo', 'abc') ], 1,
        'abc' ],
    [ 'ipc', 'ipc', [ tool_call('ipc', 1, 'echo', 'abc') ], 1, 'abc' ],
    [ 'relay', 'relay', [ tool_call('relay', 1, 'echo', 'abc') ], 1, 'abc' ],
    [ 'what does not fit', 'jsonrpc',
        [ rpc(1, 'tools/call', '{"name":"echo","arguments":{"text":1}}') ],
        1, 'isError":true' ],
    [ 'JSON with a schema', 'jsonrpc',
        [ tool_call('jsonrpc', 1, 'object', 'abc') ], 1, 'abc' ],
    [ 'a list', 'jsonrpc', [ rpc(1, 'tools/list') ], 1, '"object"' ],
    [ 'a handshake', 'jsonrpc',
        [ rpc(1, 'initialize', '{"protocolVersion":"2025-06-18",'
            . '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}') ],
        1, '2025-06-18' ],
    [ 'a subscription', 'jsonrpc',
        [ rpc(1, 'subscriptions/listen',
            qq({"notifications":{"toolsListChanged":true},$claim})) ],
        1, 'acknowledged' ],
    [ 'a batch', 'jsonrpc',
        [ '[' . join(',', map { rpc($_, 'sum', '{"a":5}') =~ s/\n//r } 1 .. 3)
            . "]\n" ], 1, '5' ],
    [ 'no JSON', 'jsonrpc', ["{\n"], 1, '-32700' ],
    [ 'a large frame', 'jsonrpc',
        [ map { substr tool_call('jsonrpc', 1, 'echo', $long), $_ * 100_000,
            100_000 } 0 .. 3 ], 1, 'xxx' ],
    [ 'a program', 'jsonrpc', [ tool_call('jsonrpc', 1, 'run', 'abc') ], 1,
        'abc' ],
    [ 'a program, ipc', 'ipc', [ tool_call('ipc', 1, 'run', 'abc') ], 1,
        'abc' ],
    [ 'a program in a batch', 'jsonrpc',
        [ '[' . join(',', map { tool_call('jsonrpc', $_, 'run', 'abc')
            =~ s/\n//r } 1 .. 2) . "]\n" ], 1, 'abc' ],
);

# Holds one conversation: 'answered', 'failed' (an error), 'closed'.
sub hold {
    my ($self, $talk) = @_;
    my ($name, $dialect, $parts, $count, $wanted) = @$talk;
    my $client = $self->{tg}->connect;
    my @answers;
    my $ok = eval {
        $client->send_raw($_) for @$parts;
        for (1 .. $count) {
            push @answers, $dialect eq 'ipc'
                ? $client->recv_bytes(unpack 'N', $client->recv_bytes(4))
                : $client->recv_line;
        }
        1;
    };
    if (!$ok) {
        die $@ if $@ !~ /end of file|Broken pipe|Connection reset/;
        return 'closed';
    }
    # Nothing follows the answer.
    $client->shutdown_write;
    die "$name: more than an answer\n" if !$client->at_eof;
    return 'answered' if $answers[0] =~ /\Q$wanted\E/;
    return 'failed' if $answers[0] =~ /memory|"error"|isError":true|lost/;
    die "$name: got " . substr($answers[0], 0, 300) . "\n";
}

sub named {
    my ($name) = @_;
    my ($talk) = grep { $_->[0] eq $name } @TALKS;
    return $talk // die "no talk $name\n";
}

# --- speakers -------------------------------------------------------------

# Returns a running server with $TOOLS and one worker, and its faults.
sub new {
    my ($class, $tg, $faults) = @_;
    my ($worker) = $tg->worker_pids;
    return bless {
        tg     => $tg,
        faults => $faults,
        worker => $worker,
        good   => $tg->connect,
    }, $class;
}

sub worker { return $_[0]{worker} }

# Checks that a well-behaved client is served.
sub is_fine {
    my ($self) = @_;
    my $said = text_of($self->{good}->call_tool(hi => {}));
    die "the other client got $said\n" if $said ne 'hi';
}

# Waits until all is well, and the worker has its memory for the next call.
sub settle {
    my ($self, $talk) = @_;
    $self->is_fine;
    my $how = $self->hold($talk);
    die "$talk->[0]: $how, it does not recover\n" if $how ne 'answered';
    $self->is_fine;
}

# Returns the resources of a worker at rest, after all conversations.
sub rest {
    my ($self) = @_;
    $self->settle($_) for @TALKS, @TALKS;
    $self->{fds} = fd_count($self->{worker});
}

# Ends the runner, even a starting one; the worker's connection breaks.
sub without_runner {
    my ($self) = @_;
    my $tg = $self->{tg};
    $tg->allow_log(qr/unknown process \d+ exited on signal 15/)
        if !$self->{is_killer}++;
    wait_for {
        my @pids = $tg->runner_pids or return 1;
        kill TERM => @pids;
        return 0;
    } 'the runner to end';
    $self->is_fine;
}

# Returns the allocations of a worker at rest.
sub live {
    my ($self) = @_;
    wait_for { fd_count($self->{worker}) <= $self->{fds} }
        'the worker to let go';
    $self->is_fine;
    return $self->{faults}->live;
}

# Checks that a fault has left nothing.
sub is_clean {
    my ($self, $live, $what) = @_;
    my $now;
    eval {
        wait_for { ($now = $self->live) <= $live } 'memory';
        1;
    } or die "$what: " . (($now // 0) - $live) . " allocations are left\n";
}

1;
