#!/usr/bin/perl
# The bridge in front of a parent with the dialect relay.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my %env = (TOOLGATE_SOCKET => undef, AC7_RUNNER_SOCKET => $sock);
my $parent = Toolgate::Parent->new($sock);
my $text = \&Toolgate::Parent::text_result;
my ($bridge, $conn);

sub begin {
    $bridge = $tg->bridge([], \%env);
    $conn = $parent->accept;
    return $bridge->rpc('initialize', { protocolVersion => '2025-06-18' })
        ->{result};
}

sub request {
    my ($method) = @_;
    return $conn->recv_where(
        sub { $_[0]{kind} eq 'mcp_request' && $_[0]{method} eq $method },
        undef, $method);
}

sub answer {
    my ($request, %more) = @_;
    $conn->send_line({ kind => 'mcp_response', id => $request->{id}, %more });
}

# Connects at once, and announces the agent's capabilities to the parent.
my $about = begin();
is_deeply $about->{capabilities}{experimental}, { 'claude/channel' => {} },
    'the channel is declared';
is_deeply $about->{capabilities}{tools}, { listChanged => JSON::PP::true },
    'and that the list may change';
ok $conn->is_silent(0.05), 'nothing is sent unasked';

# Each tools/list is passed on; the parent composes the list each time.
for my $name (qw(first second)) {
    my $id = $bridge->request('tools/list');
    my $request = request('tools/list');
    is_deeply [ sort keys %$request ], [qw(id kind method params)],
        'a frame as clients of relay send it';
    like $request->{id}, qr/^\d+$/, 'with an id of its own';
    my $tool = Toolgate::Parent::tool($name, _meta => { x => [1] });
    answer($request, result => { tools => [$tool] });
    is_deeply $bridge->reply($id)->{result}{tools}, [$tool],
        'the tools as they came';
}

# Two requests before the response need one request to the parent, unless the
# list changes in between.
my @ids = map { $bridge->request('tools/list') } 1 .. 2;
my $request = request('tools/list');
ok $conn->is_silent(0.05), 'asked once';
$conn->send_line({
    kind   => 'mcp_notification',
    method => 'notifications/tools/list_changed',
});
is_deeply $bridge->notification('notifications/tools/list_changed'),
    { jsonrpc => '2.0', method => 'notifications/tools/list_changed' },
    'a change is passed on';
push @ids, $bridge->request('tools/list');
is_deeply $bridge->rpc('ping')->{result}, {}, 'the third is read';
answer($request,
    result => { tools => [ Toolgate::Parent::tool('old') ] });
answer(request('tools/list'),
    result => { tools => [ Toolgate::Parent::tool('new') ] });
is $bridge->reply($ids[$_])->{result}{tools}[0]{name}, 'old', "list $_"
    for 0, 1;
is $bridge->reply($ids[2])->{result}{tools}[0]{name}, 'new', 'list 2';

# Pages, and an error.
my $id = $bridge->request('tools/list');
answer(request('tools/list'), result => {
    tools => [ Toolgate::Parent::tool('p1') ], nextCursor => 'n"1' });
$request = request('tools/list');
is_deeply $request->{params}, { cursor => 'n"1' }, 'the next page';
answer($request, result => { tools => [ Toolgate::Parent::tool('p2') ] });
is_deeply [ map { $_->{name} } @{ $bridge->reply($id)->{result}{tools} } ],
    [qw(p1 p2)], 'both pages';
$id = $bridge->request('tools/list');
my $error = { code => -32603, message => 'not "now"', data => { a => 1 } };
answer(request('tools/list'), error => $error);
is_deeply $bridge->reply($id)->{error}, $error, 'a refused list';

# Any number of concurrent calls, answered as they end.
@ids = map {
    $bridge->request('tools/call', { name => 'say', arguments => { n => $_ } })
} 1 .. 3;
my @requests = map { request('tools/call') } 1 .. 3;
is_deeply $requests[1]{params}, { name => 'say', arguments => { n => 2 } },
    'a call';
answer($requests[$_], result => $text->("r$_")) for 2, 0;
answer($requests[1], error => $error);
is text_of($bridge->reply($ids[2])), 'r2', 'the third';
is text_of($bridge->reply($ids[0])), 'r0', 'the first';
is_deeply $bridge->reply($ids[1])->{error}, $error, 'the second';

# A tool's own failure is a result.
$id = $bridge->request('tools/call', { name => 'say' });
answer(request('tools/call'),
    result => { %{ $text->('bad') }, isError => \1 });
ok $bridge->reply($id)->{result}{isError}, 'a tool that says no';

# Progress has the agent's own token.
$id = $bridge->request('tools/call',
    { name => 'say', _meta => { progressToken => 'mine' } });
$request = request('tools/call');
my $token = $request->{params}{_meta}{progressToken};
$conn->send_line({
    kind   => 'mcp_notification',
    method => 'notifications/progress',
    params => { progressToken => $token, progress => 1.50, total => 3 },
});
is_deeply $bridge->notification('notifications/progress')->{params},
    { progressToken => 'mine', progress => 1.5, total => 3 }, 'progress';
answer($request, result => $text->('done'));
ok $bridge->reply($id)->{result}, 'then the result';

# Messages that the parent pushes are passed on unchanged.
my $push = '{"content":"hi \u00e9","meta":{"level":1.0,"data.x":[null]}}';
$conn->send_line('{"kind":"mcp_notification",'
    . '"method":"notifications/claude/channel","params":' . "$push}");
is $bridge->recv_line, '{"jsonrpc":"2.0",'
    . '"method":"notifications/claude/channel","params":' . "$push}",
    'a push';

# An undefined result of JavaScript is answered as well.
$id = $bridge->request('tools/call', { name => 'say' });
answer(request('tools/call'));
$error = $bridge->reply($id)->{error};
is $error->{code}, -32603, 'neither result nor error';
like $error->{message}, qr/neither a result nor an error; check the log/,
    'is an error that says so';
$id = $bridge->request('tools/call', { name => 'say' });
answer(request('tools/call'), result => $text->('x'),
    error => { code => -1, message => 'no' });
is $bridge->reply($id)->{error}{message}, 'no', 'both is no success';

# Messages that violate the contract are dropped without other effects.
$conn->send_line($_) for '', '{', '[]', '7', '{"kind":"what"}',
    '{"kind":"mcp_response","id":99,"result":{}}', '{"kind":"mcp_response"}',
    '{"kind":"mcp_notification"}';
$id = $bridge->request('tools/call', { name => 'say' });
answer(request('tools/call'), result => $text->('fine'));
ok $bridge->reply($id)->{result}, 'malformed frames are dropped';
like $bridge->rpc('prompts/list')->{error}{message}, qr/not found/i,
    'no other methods';

# Arguments beyond the frame limit are not sent.
like $bridge->call_tool('say', { x => 'y' x 1_048_576 })->{error}{message},
    qr/arguments are too large/, 'too large to send';

# The agent exits: a shutdown frame, then the end.
$bridge->close;
is $conn->recv_json->{kind}, 'shutdown',
    'the runner is notified of the shutdown';
ok $conn->at_eof, 'and left';
is $bridge->wait_exit, 0, 'exit status';

# The parent sends shutdown: running calls are answered, and the agent sees its
# server close.
begin();
$id = $bridge->request('tools/call', { name => 'say' });
request('tools/call');
$conn->send_line({ kind => 'shutdown', reason => 'displaced' });
is $bridge->reply($id)->{error}{code}, -32603, 'a call that ran is answered';
ok $bridge->at_eof, 'nothing after it';
is $bridge->wait_exit, 0, 'exit status';
like $bridge->stderr, qr/shuts down: displaced/, 'the log says why';
ok Toolgate::Parent::is_left($conn), 'the connection is closed';

# shutdown without a reason.
begin();
$conn->send_line({ kind => 'shutdown' });
ok $bridge->at_eof, 'a shutdown without a reason: the server goes';
like $bridge->stderr, qr/shuts down$/m, 'the log says so';
$bridge->wait_exit;

# It rejects this bridge.
begin();
$conn->send_line({ kind => 'error', message => 'one is enough' });
ok $bridge->at_eof, 'refused: the server goes';
like $bridge->stderr, qr/one is enough/, 'the log says why';
$bridge->wait_exit;

# It cannot process one request: that request gets the reason.
begin();
@ids = map { $bridge->request('tools/call', { name => 'say' }) } 1 .. 2;
@requests = map { request('tools/call') } 1 .. 2;
$conn->send_line({
    kind    => 'error',
    id      => $requests[0]{id},
    message => 'the broker says "no"',
});
is_deeply $bridge->reply($ids[0])->{error},
    { code => -32603, message => 'the broker says "no"' },
    "an error frame answers the request in the runner's words";
like $bridge->reply($ids[1])->{error}{message}, qr/lost while say was running/,
    'the other is lost';
ok $bridge->at_eof, 'then the server goes';
$bridge->wait_exit;

# It is killed.
begin();
$id = $bridge->request('tools/call', { name => 'say' });
request('tools/call');
$conn->close;
my $lost = $bridge->reply($id)->{error};
is $lost->{code}, -32603, 'a lost call is answered';
like $lost->{message}, qr/lost while say was running/, 'and says so';
ok $bridge->at_eof, 'the server goes';
isnt $bridge->wait_exit, 0, 'and that is a failure';

# It does not exist.
$parent->close;
my $orphan = $tg->bridge([], \%env);
ok $orphan->at_eof, 'no runner, no server';
isnt $orphan->wait_exit, 0, 'exit status';
like $orphan->stderr, qr/The runner is not running.*\Q$sock\E/,
    'the log says what is missing';

done_testing;
