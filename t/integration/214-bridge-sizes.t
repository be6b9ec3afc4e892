#!/usr/bin/perl
# Maximum message of an agent through the bridge: what the parent's dialect
# carries, to the byte, and an error with the request's id for more.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $parent = Toolgate::Parent->new($sock);
my $text = \&Toolgate::Parent::text_result;

# As bytes, because JSON::PP would take seconds.
sub call {
    my ($id, $name, $x) = @_;
    return '{"jsonrpc":"2.0","id":' . $id . ',"method":"tools/call","params":'
        . '{"name":"' . $name . '","arguments":{"x":"' . 'y' x $x . '"}}}';
}

# ipc: its largest message, although MCP's envelope is larger.
my $schemas = $tg->file('schemas.json',
    '[{"name":"t","description":"","input_schema":{"type":"object"}}]');
my $bridge = $tg->bridge([ $sock, $schemas ]);
my $frame = '{"method":"call_tool","params":{"name":"t","arguments":{"x":""}}}';
my $most = 10_485_760 - length $frame;
my $id = '"' . 'i' x 1_000 . '"';
$bridge->send_line(call($id, 't', $most));
my $conn = $parent->accept;
my $size = unpack 'N', $conn->recv_bytes(4);
is $size, 10_485_760, 'ipc: the largest message passes';
$conn->recv_bytes($size);
$conn->send_ipc({ result => $text->('ok') });
is $bridge->recv_json->{result}{content}[0]{text}, 'ok', 'and is answered';
$bridge->send_line(call(7, 't', $most + 1));
my $answer = $bridge->recv_json;
is $answer->{id}, 7, 'ipc: one byte more is answered';
like $answer->{error}{message},
    qr/arguments are too large .* 104857\d\d bytes; the limit is 10485760 /,
    'with the sizes';
ok $conn->is_silent(0.05), 'and not sent';

# A message that is too large for the bridge is answered by its id, wherever the
# id is in it.
for my $case (
    [ 9, '{"jsonrpc":"2.0","id":9,"method":"m","params":{%s}}' ],
    [ 'last', '{"jsonrpc":"2.0","method":"m","params":{%s},"id":"last"}' ])
{
    my ($name, $message) = @$case;
    $message =~ s/%s/'"x":"' . 'y' x 11_000_000 . '"'/e;
    $bridge->send_line($message);
    my $refused = $bridge->recv_json;
    is $refused->{id}, $name, "too large: answered to $name";
    is $refused->{error}{code}, -32600, 'as that';
    like $refused->{error}{message},
        qr/larger than the limit of 10493952 bytes/, 'with what is taken';
    unlike $refused->{error}{message}, qr/tool_max_frame/,
        "and no setting of somebody else's";
}
is_deeply $bridge->rpc('ping')->{result}, {}, 'the session continues';

$bridge->close;
is $bridge->wait_exit, 0, 'it ends with its agent';
$parent->close;

# relay, whose messages are smaller.
$parent->listen;
$bridge = $tg->bridge([ '--dialect', 'relay', $sock ]);
$conn = $parent->accept;
$bridge->send_line(call(8, 't', 1_048_576));
$answer = $bridge->recv_json;
is $answer->{id}, 8, 'relay: too large is answered';
like $answer->{error}{message}, qr/1048584 bytes; the limit is 1048575 /,
    'with the sizes';
$bridge->stop;
$parent->close;

# NGINX: the bridge's maximum, with longer ids, also over a reload.
my $body = 'tool t { description T.; return ok; }';
$tg->conf($body)->start;
$bridge = $tg->bridge;
$bridge->rpc('ping') for 1 .. 10;
$most = 10_493_952 - length call(1, 't', 0);
for my $when ('jsonrpc', 'after a reload') {
    $bridge->send_line(call(1, 't', $most));
    is $bridge->recv_json->{result}{content}[0]{text}, 'ok',
        "$when: all that the bridge takes passes";
    $tg->reload($body) if $when eq 'jsonrpc';
}
$bridge->stop;

done_testing;
