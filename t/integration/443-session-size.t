#!/usr/bin/perl
# Frames at and beyond the limits of each dialect, in both directions, and
# invalid ones: each is answered as its dialect requires, and nobody else
# notices.

use Toolgate::Test plain_too => 'it measures memory';

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool hi { return hi; }
tool echo { return $tool_arg_text; }
tool twice { return $tool_arg_text$tool_arg_text; }
tool cat { exec cat; stdin $tool_arg_text; max_output 32m; }
method echo { return $tool_json_text; }
END
my ($worker) = $tg->worker_pids;
my $other = $tg->connect;
my ($ipc_max, $line_max, $relay_max) = (10_485_760, 10_485_760, 1_048_576);

sub check {
    my ($ok, $name) = @_;
    my $said = text_of($other->call_tool('hi'));
    ok $ok && $said eq 'hi', $name or diag "the other client got $said";
}

# Returns a call of a tool whose JSON has this length.
sub call_of {
    my ($size, $name, %envelope) = @_;
    my $json = $other->encode({
        %envelope,
        params => { name => $name, arguments => { text => '' } },
    });
    my $text = 'x' x ($size - length $json);
    $json =~ s/"text":"/"text":"$text/;
    return $json;
}

# Large texts are composed and compared by hand: Perl's JSON takes seconds.
sub call_with {
    my ($name, $text, %envelope) = @_;
    my $json = $other->encode({
        %envelope,
        params => { name => $name, arguments => { text => 'TEXT' } },
    });
    substr $json, index($json, 'TEXT'), 4, $text;
    return $json;
}

sub is_result {
    my ($got, $text, $name, $head) = @_;
    my $wanted = qq($head"result":{"content":[{"type":"text","text":")
        . qq($text"}],"isError":false}});
    ok $got eq $wanted, $name or diag substr $got, 0, 200;
}

my %rpc = (jsonrpc => '2.0', id => 7, method => 'tools/call');
my %relay = (kind => 'mcp_request', id => 7, method => 'tools/call');
my %ipc = (method => 'call_tool');

# --- jsonrpc --------------------------------------------------------------

my $client = $tg->connect;
my $json = call_of($line_max + 1, hi => %rpc);
$client->send_line($json);
my $reply = $client->recv_json;
is $reply->{error}{code}, -32600, 'jsonrpc: a line beyond the limit is refused';
like $reply->{error}{message}, qr/larger than the limit of $line_max bytes/,
    'jsonrpc: says the limit';
is $reply->{id}, 7, 'jsonrpc: by its id';
my $huge = 'x' x 11_534_336;
$client->send_line(qq({"jsonrpc":"2.0","method":"m","params":{"x":"$huge"},)
    . '"id":12}');
is $client->recv_json->{id}, 12, 'jsonrpc: by its id at the end of 11 MB';
is text_of($client->call_tool('hi')), 'hi', 'jsonrpc: the client stays';
$json = call_of($line_max, hi => %rpc);
$client->send_line($json);
is text_of($client->recv_json), 'hi', 'jsonrpc: the longest line is served';

# An endless line is not stored.
my $before = rss_kb($worker);
$client->send_raw('{"jsonrpc":"2.0","id":1,"x":"' . 'x' x 65536);
$client->send_raw('x' x 1_048_576) for 1 .. 64;
memory_below rss_kb($worker) - $before, 16_384, 'a line of 64 MiB is not kept';
$client->send_line('"}');
is $client->recv_json->{error}{code}, -32600, 'jsonrpc: it is refused once';
check(text_of($client->call_tool('hi')) eq 'hi', 'jsonrpc: the client stays');

# 10 MB in both directions, through the worker and through a program.
my $large = join '', map { chr(32 + $_ % 90) } 1 .. 10_000;
$large =~ tr/"\\/''/;
$large = ($large x 1000) . "\xf0\x9f\x98\x80";
my $head = '{"jsonrpc":"2.0","id":7,';
for my $tool ('echo', 'cat') {
    $client->send_line(call_with($tool, $large, %rpc));
    is_result($client->recv_line, $large, "jsonrpc: $tool, 10 MB", $head);
}
$client->send_line(qq($head"method":"echo","params":{"text":"$large"}}));
ok $client->recv_line eq qq($head"result":"$large"}), 'a method: 10 MB';
$client->send_line(call_with('twice', $large, %rpc));
$reply = $client->recv_json;
is $reply->{error}{code}, -32603, 'jsonrpc: 20 MB back are too much';
like $reply->{error}{message}, qr/\d{8}.*\d{8}/, 'jsonrpc: it says how much';
check(text_of($client->call_tool('hi')) eq 'hi', 'jsonrpc: the client stays');

my @no_text =
    ("\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82");
for my $text (@no_text) {
    $client->send_line(qq({"jsonrpc":"2.0","id":9,"method":"$text"}));
    is $client->recv_json->{error}{code}, -32700, 'jsonrpc: no UTF-8';
}
$client->send_line('{"jsonrpc":"2.0",');
is $client->recv_json->{error}{code}, -32700, 'jsonrpc: no JSON';
$client->send_line('[' x 200 . ']' x 200);
is $client->recv_json->{error}{code}, -32600, 'jsonrpc: too deep';
check(text_of($client->call_tool('hi')) eq 'hi', 'jsonrpc: the client stays');

# A configured limit is smaller.
my $limited = Toolgate::Test->new(workers => 1);
$limited->conf("tool_max_frame 4k;\ntool hi { return hi; }")->start;
$client = $limited->connect;
$json = call_of(4097, hi => %rpc);
$client->send_line($json);
is $client->recv_json->{error}{code}, -32600, 'tool_max_frame: 4097 bytes';
$json = call_of(4096, hi => %rpc);
$client->send_line($json);
is text_of($client->recv_json), 'hi', 'tool_max_frame: 4096 bytes';
$limited->stop;

# --- ipc ------------------------------------------------------------------

$client = $tg->connect;
$client->send_raw(pack 'N', $ipc_max + 1);
is $client->recv_ipc->{error}{type}, 'IPCMessageSizeError',
    'ipc: a frame beyond the limit is refused before it comes';
check($client->at_eof, 'ipc: then it is closed');

$client = $tg->connect;
$json = call_of($ipc_max, hi => %ipc);
$client->send_ipc($json);
is text_of($client->recv_ipc), 'hi', 'ipc: the longest frame is served';
for my $tool ('echo', 'cat') {
    $client->send_ipc(call_with($tool, $large, %ipc));
    my $size = unpack 'N', $client->recv_bytes(4);
    is_result($client->recv_bytes($size), $large, "ipc: $tool, 10 MB", '{');
}
$client->send_ipc(call_with('twice', $large, %ipc));
$reply = $client->recv_ipc;
is $reply->{error}{type}, 'IPCMessageSizeError', 'ipc: 20 MB are too much';
check(text_of($client->ipc_call('hi')) eq 'hi', 'ipc: the client stays');

for my $text ("{\"method\":\"\xff\"}", '{', '', ' ', '[' x 200 . ']' x 200) {
    $client = $tg->connect;
    $client->send_raw(pack 'N/a', $text);
    is $client->recv_ipc->{error}{type}, 'IPCError', 'ipc: no JSON';
    check($client->at_eof, 'ipc: then it is closed');
}

# --- relay ----------------------------------------------------------------

$client = $tg->connect;
$json = call_of($relay_max, hi => %relay);
$client->send_line($json);
$reply = $client->recv_json;
is $reply->{error}{code}, -32600, 'relay: a frame beyond the limit is refused';
is $reply->{id}, 7, 'relay: by its id';
$json = call_of($relay_max - 1, hi => %relay, id => 8);
$client->send_line($json);
$reply = $client->recv_json;
is $reply->{id}, 8, 'relay: the next one is answered';
is text_of($reply), 'hi', 'relay: the longest frame is served';
like $tg->log, qr/relay frame larger than 1 MiB dropped/, 'relay: the log '
    . 'says it';

# Once the dialect is relay, its limit applies to the incomplete line.
$before = rss_kb($worker);
$client->send_raw('{"kind":"mcp_request","x":"' . 'x' x 65536);
$client->send_raw('x' x 1_048_576) for 1 .. 32;
memory_below rss_kb($worker) - $before, 8192, 'a line of 32 MiB is not kept';
$client->send_line('"}');

for my $text ("{\"kind\":\"\xff\"}", '{', '[]', '[' x 200 . ']' x 200) {
    $client->send_line($text);
}
my $half = 'x' x 600_000;
$client->send_line(call_with('echo', $half, %relay, id => 9));
is_result($client->recv_line, $half, 'relay: 600 KB',
    '{"kind":"mcp_response","id":9,');
$client->send_line(call_with('twice', $half, %relay, id => 10));
$reply = $client->recv_json;
is $reply->{id}, 10, 'relay: nothing else was answered';
is $reply->{error}{code}, -32603, 'relay: 1.2 MB are too much';
check($client->is_silent(0), 'relay: the client stays');

done_testing;
