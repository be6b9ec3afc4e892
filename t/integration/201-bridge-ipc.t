#!/usr/bin/perl
# The bridge in front of a parent with the dialect ipc.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $schemas = $tg->file('schemas.json', <<'END', 0600);
[
    {
        "name": "greet", "description": "Says \"hi\"\nto.",
        "input_schema": {
            "type": "object",
            "properties": { "who": { "type": "string" } }
        }
    },
    { "name": "wait", "description": "", "input_schema": {"type": "object"},
      "output_schema": 1 }
]
END
my $parent = Toolgate::Parent->new($sock);
my $bridge = $tg->bridge([ $sock, $schemas ]);
my $text = \&Toolgate::Parent::text_result;

sub call {
    my ($name, $arguments) = @_;
    return $bridge->request('tools/call',
        { name => $name, arguments => $arguments // {} });
}

# Tools come from the file; the parent does not exist yet.
$bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
unlink $schemas;
my $tools = $bridge->rpc('tools/list')->{result}{tools};
is_deeply $tools, [
    {
        name        => 'greet',
        description => "Says \"hi\"\nto.",
        inputSchema => {
            type       => 'object',
            properties => { who => { type => 'string' } },
        },
    },
    {
        name        => 'wait',
        description => '',
        inputSchema => { type => 'object' },
    },
], 'the tools of the schema file';
ok !$parent->is_called(0.1), 'no connection before the first call';

# One call, and its exact frame.
my $id = call('greet', { who => "J\x{f6}rg" });
my $conn = $parent->accept;
my $size = unpack 'N', $conn->recv_bytes(4);
my $bytes = $conn->recv_bytes($size);
is_deeply $conn->decode($bytes), {
    method => 'call_tool',
    params => { name => 'greet', arguments => { who => "J\x{f6}rg" } },
}, 'the request as clients of ipc send it, nothing else in it';
$conn->send_ipc({ result => { %{ $text->('hi') }, isError => \0 } });
is_deeply $bridge->reply($id)->{result},
    { %{ $text->('hi') }, isError => JSON::PP::false }, 'its answer';

# Modern requests get modern responses, whatever the parent supports.
$id = $bridge->request('tools/call', {
    name  => 'greet',
    _meta => modern_meta(),
});
is_deeply $conn->recv_ipc->{params}, { name => 'greet', arguments => {} },
    'arguments are always there';
$conn->send_ipc({ result => $text->('hi') });
is $bridge->reply($id)->{result}{resultType}, 'complete', 'a modern result';

# Calls are sent one at a time, whatever the agent pipelines.
my @ids = map { call('wait', { n => $_ }) } 1 .. 3;
for my $n (1 .. 3) {
    is $conn->recv_ipc->{params}{arguments}{n}, $n, "call $n";
    ok $conn->is_silent(0.05), 'no other before its answer';
    $conn->send_ipc({ result => $text->("r$n") });
    is text_of($bridge->reply($ids[ $n - 1 ])), "r$n", "answer $n";
}

# A tool's exception is a result, shown with its class.
$id = call('greet');
$conn->recv_ipc;
$conn->send_ipc(
    { error => { message => "no \"x\"\n", type => 'ValueError' } });
is_deeply $bridge->reply($id)->{result},
    { %{ $text->("ValueError: no \"x\"\n") }, isError => JSON::PP::true },
    'an exception';

# The parent rejects a tool that the file does not have.
$id = call('nosuch');
is $conn->recv_ipc->{params}{name}, 'nosuch', 'unknown tools are passed on';
$conn->send_ipc(
    { error => { message => 'nosuch', type => 'ToolNotFoundError' } });
like text_of($bridge->reply($id)),
    qr/^ToolNotFoundError: nosuch$/, 'and its refusal comes back';

# Lost while it ran: an MCP error. Calls that waited are sent again.
@ids = map { call('wait', { n => $_ }) } 1 .. 2;
is $conn->recv_ipc->{params}{arguments}{n}, 1, 'the first runs';
$conn->close;
my $error = $bridge->reply($ids[0])->{error};
is $error->{code}, -32603, 'a lost call is an MCP error';
like $error->{message}, qr/lost while wait was running.*; retry it only if/,
    'that says so';
$conn = $parent->accept;
is $conn->recv_ipc->{params}{arguments}{n}, 2, 'the second is sent again';
$conn->send_ipc({ result => $text->('two') });
is text_of($bridge->reply($ids[1])), 'two', 'and answered';

# Cancelled while it runs: the parent sees the end of the connection, and the
# next call is not delayed.
@ids = map { call('wait', { n => $_ }) } 1 .. 2;
$conn->recv_ipc;
$bridge->notify('notifications/cancelled', { requestId => $ids[0] });
ok $conn->at_eof, 'cancelling ends the connection';
$conn = $parent->accept;
is $conn->recv_ipc->{params}{arguments}{n}, 2, 'the other call continues';
$conn->send_ipc({ result => $text->('two') });
is text_of($bridge->reply($ids[1])), 'two', 'and is answered';

# Cancelled while it waits: it is never sent.
@ids = map { call('wait', { n => $_ }) } 1 .. 3;
$conn->recv_ipc;
$bridge->notify('notifications/cancelled', { requestId => $ids[1] });
is_deeply $bridge->rpc('ping')->{result}, {}, 'it is read';
$conn->send_ipc({ result => $text->('one') });
is $conn->recv_ipc->{params}{arguments}{n}, 3, 'a cancelled call is not sent';
$conn->send_ipc({ result => $text->('three') });
$bridge->reply($ids[$_]) for 0, 2;

# An invalid response, and one that is too large.
for my $bad ('{"ok":true}', '[]', '{', '{"error":"x"}') {
    $id = call('wait');
    $conn->recv_ipc;
    $conn->send_ipc($bad);
    like $bridge->reply($id)->{error}{message}, qr/lost while wait/,
        "answer $bad ends the call";
    ok $conn->at_eof, 'and the connection';
    $id = call('greet');
    $conn = $parent->accept;
    $conn->recv_ipc;
    $conn->send_ipc({ result => $text->('hi') });
    ok $bridge->reply($id)->{result}, 'the next call works';
}
$id = call('wait');
$conn->recv_ipc;
$conn->send_ipc({ result => 7 });
like $bridge->reply($id)->{error}{message}, qr/not a valid result/, 'a number';
$id = call('wait');
$conn->recv_ipc;
$conn->send_raw(pack 'N', 10_485_761);
like $bridge->reply($id)->{error}{message}, qr/lost while wait/, 'too large';

# The largest response is 10 MiB, which is the agent's limit as well. As bytes,
# because JSON::PP would take seconds.
sub large {
    my ($size) = @_;
    return '{"result":{"content":[{"type":"text","text":"' . 'x' x $size
        . '"}]}}';
}
$id = call('wait');
$conn = $parent->accept;
$conn->recv_ipc;
$conn->send_ipc(large(10_400_000));
like $bridge->recv_line, qr/^\{"jsonrpc":"2.0","id":$id,.*"text":"x{30000}/,
    'a large answer';
$id = call('wait');
$conn->recv_ipc;
$conn->send_ipc(large(10_450_000));
like $bridge->reply($id)->{error}{message}, qr/answer has \d+ bytes/,
    'one that no agent would take';
$bridge->send_line('{"jsonrpc":"2.0","id":"large","method":"tools/call",'
    . '"params":{"name":"wait","arguments":{"text":"'
    . 'y' x 10_400_000 . '"}}}');
$size = unpack 'N', $conn->recv_bytes(4);
cmp_ok $size, '>', 10_400_000, 'large arguments';
$conn->recv_bytes($size);
$conn->send_ipc({ result => $text->('ok') });
ok $bridge->reply('large')->{result}, 'pass';

# The parent has closed while no call ran: the next call detects it.
$conn->close;
$parent->close;
$error = call('greet');
$error = $bridge->reply($error)->{error};
is $error->{code}, -32603, 'no parent is an MCP error';
like $error->{message}, qr/parent process is not running.*\Q$sock\E/,
    'that says so';
$parent->listen;
$id = call('greet');
$conn = $parent->accept;
$conn->recv_ipc;
$conn->send_ipc({ result => $text->('back') });
is text_of($bridge->reply($id)), 'back', 'and it is back';

$bridge->close;
ok $conn->at_eof, 'the connection ends with the bridge';
is $bridge->wait_exit, 0, 'which ends with its input';

done_testing;
