#!/usr/bin/perl
# The bridge in front of an MCP server on a Unix socket, Toolgate or another:
# list, calls, progress, cancellation, other messages, and limits.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $bridge = $tg->bridge;
my $conn = $parent->accept;
my $tool = \&Toolgate::Parent::tool;
my $text = \&Toolgate::Parent::text_result;
my $changed = 'notifications/tools/list_changed';

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }
sub refuse { return Toolgate::Parent::refuse($conn, @_) }
sub names { return $bridge->tool_names }

# --- the beginning ---

is $conn->recv_json->{method}, 'notifications/toolgate/hello', 'says hello';
my $greeting = $conn->recv_json;
is $greeting->{method}, 'initialize', 'initialize';
is $greeting->{params}{protocolVersion}, '2025-11-25', 'as a legacy client';
is $greeting->{params}{clientInfo}{name}, 'toolgate-bridge', 'by its name';
my $id = $bridge->request('initialize', { protocolVersion => '2025-11-25' });
ok $bridge->is_silent(0.05), 'the agent waits for the parent';
answer($greeting, {
    protocolVersion => '2025-11-25',
    serverInfo      => { name => 'p', version => '1' },
    capabilities    => { experimental => { x => { y => 1 } }, tools => {} },
});
my $about = $bridge->reply($id)->{result};
is_deeply $about->{serverInfo}, { name => 'p', version => '1' }, 'its name';
is_deeply $about->{capabilities}{experimental}, { x => { y => 1 } },
    'its experiments';
ok !exists $about->{instructions}, 'it has no instructions';
is $conn->recv_json->{method}, 'notifications/initialized', 'initialized';

# A list of two pages. A request that comes before it waits; calls are passed
# on.
$id = $bridge->request('tools/list');
my $call = $bridge->request('tools/call', { name => 'one' });
my $page = request('tools/list');
answer(request('tools/call'), $text->('early'));
ok $bridge->reply($call)->{result}, 'a call before the list is here';
my %whole = (
    title        => 'One',
    annotations  => { readOnlyHint => JSON::PP::true },
    outputSchema => { type => 'object' },
    icons        => [ { src => 'data:' } ],
    execution    => { taskSupport => 'optional' },
    _meta        => { 'a/b' => "\x{1f600}" },
);
answer($page, { tools => [ $tool->('one', %whole) ], nextCursor => '2' });
$page = request('tools/list');
is_deeply $page->{params}, { cursor => '2' }, 'the next page is asked for';
answer($page,
    { tools => [ $tool->('two'), $tool->('one'), 7, {}, $tool->('three') ] });
is_deeply $bridge->reply($id)->{result}{tools},
    [ $tool->('one', %whole), $tool->('two'), $tool->('three') ],
    'all tools, each as it came, none twice';
is names(), 'one two three', 'asked again, the bridge knows';
ok $conn->is_silent(0.05), 'and does not ask';

# --- calls ---

$bridge->send_line('{"jsonrpc":"2.0","id":"a\u0062","method":"tools/call",'
    . '"params":{"name":"o\u006ee","arguments":{"n":1.0}}}');
like $conn->recv_line, qr/"params":\{"name":"o\\u006ee",
    "arguments":\{"n":1\.0\}\}/x, 'name and arguments byte for byte';
$conn->send_line('{"jsonrpc":"2.0","id":'
    . ($page->{id} + 1) . ',"result":{"content":[],"x":1.0}}');
is $bridge->recv_line,
    '{"jsonrpc":"2.0","id":"a\u0062","result":{"content":[],"x":1.0}}',
    'the id and the result byte for byte';

my @ids = map { $bridge->request('tools/call', { name => "t$_" }) } 0 .. 2;
my @calls = map { request('tools/call') } 0 .. 2;
answer($calls[2], $text->('2'));
refuse($calls[0], -32602, 'Unknown tool: "t0"', [1]);
is text_of($bridge->reply($ids[2])), '2', 'answers as they come';
is_deeply $bridge->reply($ids[0])->{error},
    { code => -32602, message => 'Unknown tool: "t0"', data => [1] },
    'an error as it came';
answer($calls[1], 'text');
like $bridge->reply($ids[1])->{error}{message}, qr/not a valid result/,
    'a result that is none';

$id = $bridge->request('tools/call', {
    name  => 'one',
    _meta => modern_meta(),
});
answer(request('tools/call'), { %{ $text->('x') }, _meta => { k => 1 } });
my $modern = $bridge->reply($id)->{result};
is $modern->{resultType}, 'complete', 'a modern agent gets a modern result';
is $modern->{_meta}{k}, 1, 'with what the server put there';
is $modern->{_meta}{'io.modelcontextprotocol/serverInfo'}{name}, 'p',
    "in the server's name";

# --- progress, cancellation ---

$id = $bridge->request('tools/call',
    { name => 'one', _meta => { progressToken => 'a', other => 1 } });
$call = request('tools/call');
my $token = $call->{params}{_meta}{progressToken};
ok defined $token, 'a token of its own';
for my $n (1, 2) {
    $conn->notify('notifications/progress',
        { progressToken => $_, progress => $n, message => "m$n" })
        for $token, $token + 1, 'a';
    is_deeply $bridge->notification('notifications/progress')->{params},
        { progressToken => 'a', progress => $n, message => "m$n" },
        "progress $n";
}
answer($call, $text->('x'));
ok $bridge->reply($id)->{result}, 'and the result';
$conn->notify('notifications/progress',
    { progressToken => $token, progress => 3 });
is_deeply $bridge->rpc('ping')->{result}, {}, 'no progress after it';

@ids = map { $bridge->request('tools/call', { name => "t$_" }) } 0, 1;
@calls = map { request('tools/call') } 0, 1;
$bridge->notify('notifications/cancelled',
    { requestId => $ids[0], reason => 'enough' });
is $conn->notification('notifications/cancelled')->{params}{requestId},
    $calls[0]{id}, 'cancelled, by the id that the parent knows';
answer($_, $text->('x')) for @calls;
ok $bridge->reply($ids[1])->{result}, 'the other call is answered';
is_deeply $bridge->rpc('ping')->{result}, {}, 'the cancelled one is not';
is $bridge->buffered, '', 'nothing else came';

# --- the list changes ---

sub relist {
    my (@tools) = @_;
    answer(request('tools/list'), { tools => \@tools });
}
$conn->notify($changed);
relist($tool->('one'), $tool->('four'));
$bridge->notification($changed);
is names(), 'one four', 'the agent is notified of a new list';
$conn->notify($changed);
relist($tool->('one'), $tool->('four'));
$conn->notify('notifications/mark');
is $bridge->recv_json->{method}, 'notifications/mark',
    'the same list again is not, other notifications pass';

# A parent that announces changes all the time is not asked each time.
my $news = $conn->encode({ jsonrpc => '2.0', method => $changed });
$conn->send_raw("$news\n" x 900);
relist($tool->('one'));
$bridge->notification($changed);
my $asked = 1;
while (my $again = eval { request('tools/list', 0.5) }) {
    answer($again, { tools => [ $tool->('one') ] });
    last if ++$asked > 2;
}
cmp_ok $asked, '<=', 2, 'nine hundred changes, two questions at most';

# A list that cannot be fetched: the current one stays.
$conn->notify($changed);
refuse(request('tools/list'), -32603, 'not now');
is names(), 'one', 'the old list stays';
$conn->notify($changed);
answer(request('tools/list'), { tools => 1 });
is names(), 'one', 'nor does nonsense replace it';

# A modern agent is notified on its subscription.
my $meta = modern_meta();
my $sub = $bridge->request('subscriptions/listen',
    { _meta => $meta, notifications => { toolsListChanged => \1 } });
$bridge->notification('notifications/subscriptions/acknowledged');
$conn->notify($changed);
relist($tool->('five'));
$bridge->notification($changed);
my $note = $bridge->notification($changed);
is $note->{params}{_meta}{'io.modelcontextprotocol/subscriptionId'}, $sub,
    'a subscription is notified';
$bridge->notify('notifications/cancelled', { requestId => $sub });

# --- pages ---

# A long list is sent to the agent in pages; if it changes in between, the agent
# must begin again.
my @many = map { $tool->("m$_", description => 'x' x 200_000) } 1 .. 7;
$conn->notify($changed);
relist(@many);
$bridge->notification($changed);
my ($cursor, @pages, @seen);
do {
    my $result = $bridge->rpc('tools/list',
        defined $cursor ? { cursor => $cursor } : {})->{result};
    push @pages, scalar @{ $result->{tools} };
    push @seen, map { $_->{name} } @{ $result->{tools} };
    $cursor = $result->{nextCursor} // $cursor;
    undef $cursor if !defined $result->{nextCursor};
} while (defined $cursor);
cmp_ok scalar(@pages), '>', 2, 'pages';
is "@seen", join(' ', map {"m$_"} 1 .. 7), 'with every tool once';
$cursor = $bridge->rpc('tools/list')->{result}{nextCursor};
$conn->notify($changed);
relist(reverse @many);
$bridge->notification($changed);
is $bridge->rpc('tools/list', { cursor => $cursor })->{error}{code}, -32602,
    'a cursor of the old list';

# --- limits ---

my $large = '{"content":[{"type":"text","text":"' . 'x' x 10_400_000 . '"}]}';
for my $result ($large, $large =~ s{x}{xxxxxxx}r) {
    $id = $bridge->request('tools/call', { name => 'one' });
    $call = request('tools/call');
    $conn->send_line(
        qq({"jsonrpc":"2.0","id":$call->{id},"result":$result}));
    is length $bridge->recv_line,
        length(qq({"jsonrpc":"2.0","id":$id,"result":$result})),
        'a large result passes';
}
$large = '{"content":[{"type":"text","text":"' . 'x' x 11_000_000 . '"}]}';
$id = $bridge->request('tools/call', { name => 'one' });
$call = request('tools/call');
$conn->send_line(qq({"jsonrpc":"2.0","id":$call->{id},"result":$large}));
like $bridge->reply($id)->{error}{message}, qr/answer has 110\d+ bytes/,
    'too large a result is an error';
$bridge->send_line('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"'
    . 'x' x 10_500_000 . '"}');
is $bridge->recv_json->{error}{code}, -32600, 'too large a request too';
is_deeply $bridge->rpc('ping')->{result}, {}, 'and the session continues';

# Invalid messages are dropped; nothing hangs.
$conn->send_line($_) for '{', '[]', '7', '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":99,"result":{}}', "\xff";
$id = $bridge->request('tools/call', { name => 'one' });
answer(request('tools/call'), $text->('fine'));
ok $bridge->reply($id)->{result}, 'malformed lines are dropped';

# --- batches, of the one revision that has them ---

$bridge->rpc('initialize', { protocolVersion => '2025-03-26' });
$bridge->send_line([
    map { {
        jsonrpc => '2.0',
        id      => "b$_",
        method  => 'tools/call',
        params  => { name => "b$_" },
    } } 1 .. 3
]);
@calls = map { request('tools/call') } 1 .. 3;
answer($calls[2], $text->('3'));
refuse($calls[1], -32602, 'no');
answer($calls[0], $text->('1'));
my $batch = $bridge->recv_json;
is ref $batch, 'ARRAY', 'a batch is answered as one';
my %reply = map { $_->{id} => $_ } @$batch;
is join(' ', sort keys %reply), 'b1 b2 b3', 'every call in it';
is $reply{b2}{error}{message}, 'no', 'each with its own answer';

$bridge->close;
ok Toolgate::Parent::is_left($conn), 'the connection ends with the bridge';
is $bridge->wait_exit, 0, 'which ends with its input';

done_testing;
