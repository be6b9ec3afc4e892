#!/usr/bin/perl
# The parent disconnects and returns; the agent's session continues.

use Toolgate::Test qw(Parent);
use Time::HiRes qw(time);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $parent = Toolgate::Parent->new($sock);
my $tool = \&Toolgate::Parent::tool;
my $text = \&Toolgate::Parent::text_result;
my $changed = 'notifications/tools/list_changed';
my ($bridge, $conn);

sub begin {
    my ($grace, @tools) = @_;
    $bridge = $tg->bridge([ '--grace', $grace, $sock ]);
    # Before the agent sends anything, which waits for at most a second.
    $conn = $parent->serve(@tools);
    return $bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
}

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }
sub call { return $bridge->request('tools/call', { name => $_[0] }) }
sub names { return $bridge->tool_names }

# --- disconnected, and back ---

begin(600, $tool->('one'));
is names(), 'one', 'the first list';
my $running = call('one');
request('tools/call');
$conn->close;
my $lost = $bridge->reply($running)->{result};
ok $lost->{isError}, 'a call that ran is a failed one';
like $lost->{content}[0]{text},
    qr/connection to Toolgate \(\Q$sock\E\) was lost while one was running/,
    'it says why';
like $lost->{content}[0]{text}, qr/may or may not .*; retry it only if/,
    'and what may be done';
is_deeply $bridge->rpc('ping')->{result}, {}, 'the agent is still served';
my $waiting = call('one');
my $list = $bridge->request('tools/list');
$conn = $parent->serve($tool->('one'));
answer(request('tools/call'), $text->('again'));
is text_of($bridge->reply($waiting)), 'again',
    'a call of the time between waits for the new connection';
is $bridge->reply($list)->{result}{tools}[0]{name}, 'one', 'so does the list';
$conn->notify('notifications/mark');
is $bridge->recv_json->{method}, 'notifications/mark',
    'the same list again is no news';

$conn->close;
$conn = $parent->serve($tool->('one'), $tool->('two'));
$bridge->notification($changed);
is names(), 'one two', 'the agent is notified of a new list';

# --- a shutdown notice: nothing was started, so calls are sent again ---

my @ids = map { call($_) } qw(a b c);
request('tools/call') for 1 .. 3;
$conn->notify('notifications/toolgate/closing', { reason => 'reload' });
ok Toolgate::Parent::is_left($conn), 'the bridge leaves';
$conn = $parent->serve($tool->('one'), $tool->('two'));
my @calls = map { request('tools/call') } 1 .. 3;
is_deeply [ map { $_->{params}{name} } @calls ], [qw(a b c)],
    'calls come again, in their order';
answer($_, $text->($_->{params}{name})) for @calls;
is text_of($bridge->reply($ids[$_])), ('a' .. 'c')[$_],
    'answered once' for 0 .. 2;

# A call that is cancelled in between is not sent again.
@ids = map { call($_) } qw(d e);
request('tools/call') for 1 .. 2;
$conn->notify('notifications/toolgate/closing');
ok Toolgate::Parent::is_left($conn), 'the bridge leaves';
$bridge->notify('notifications/cancelled', { requestId => $ids[0] });
is_deeply $bridge->rpc('ping')->{result}, {}, 'the cancellation is read';
$conn = $parent->serve($tool->('one'), $tool->('two'));
answer(request('tools/call'), $text->('e'));
ok $bridge->reply($ids[1])->{result}, 'the other call';
is_deeply $bridge->rpc('ping')->{result}, {}, 'and nothing else';

# A call that no parent reads is not sent again for ever.
my $id = call('f');
my $rounds = 0;
while (request('tools/call')) {
    $rounds++;
    $conn->notify('notifications/toolgate/closing');
    $conn->close;
    last if $rounds >= 20;
    $conn = $parent->serve($tool->('one'), $tool->('two'));
}
is $rounds, 20, 'delivered twenty times';
like $bridge->reply($id)->{error}{message}, qr/could not be delivered/,
    'then given up';
$conn = $parent->serve($tool->('one'), $tool->('two'));
$bridge->stop;

# --- disconnected for longer ---

begin(3, $tool->('one'), $tool->('two'));
is names(), 'one two', 'a list';
$running = call('g');
request('tools/call');
my $start = time;
$conn->close;
$parent->close;
ok $bridge->reply($running)->{result}{isError}, 'a call that ran';
$id = call('h');
$list = $bridge->request('tools/list');
my $error = $bridge->reply($id)->{error};
cmp_ok time - $start, '>', 2.5, 'a call waits for it';
is $error->{code}, -32603, 'then it is an MCP error';
like $error->{message}, qr/not running: .*\Q$sock\E.*Start NGINX/,
    'that says what to start';
like $bridge->reply($list)->{error}{message}, qr/not running/,
    'for the list as well';
my $quickest = 3;
for my $try (1 .. 5) {
    $start = time;
    like $bridge->reply(call('i'))->{error}{message}, qr/not running/,
        'the next one knows';
    my $took = time - $start;
    $quickest = $took if $took < $quickest;
}
cmp_ok $quickest, '<', 3, 'without waiting again';
is $bridge->rpc('initialize', { protocolVersion => '2025-11-25' })
    ->{result}{serverInfo}{name}, 'parent', 'the agent may initialize again';

# The bridge reconnects by itself, and the agent is notified of the list.
$parent->listen;
$conn = $parent->serve($tool->('one'), $tool->('two'));
$bridge->notification($changed);
is names(), 'one two', 'the list is back';
$bridge->stop;
like $bridge->stderr, qr/not running.*connected to/s, 'both are in the log';
my @lines = split /\n/, $bridge->stderr;
cmp_ok scalar(@lines), '<', 40, 'not again and again';

# --- killed before a write ------------------

begin(600, $tool->('one'));
$id = call('one');
request('tools/call');
$conn->close;
my @more = map { call('one') } 1 .. 50;
ok $bridge->reply($id)->{result}{isError}, 'the one that ran is lost';
$conn = $parent->serve($tool->('one'));
my $n = 0;
my (%got, %open);
@open{@more} = ();
while (%open) {
    # An unknown number may have been lost with the connection.
    my $reached = eval { request('tools/call', 0.05) };
    if ($reached) {
        answer($reached, $text->('ok'));
        $n++;
    }
    while ($bridge->fill(0) || $bridge->buffered =~ /\n/) {
        my $reply = $bridge->recv_json;
        die "answered twice: $reply->{id}\n" if !exists $open{ $reply->{id} };
        delete $open{ $reply->{id} };
        $got{ $reply->{result}{isError} ? 'lost' : 'done' }++;
    }
}
is(($got{done} // 0) + ($got{lost} // 0), 50, 'all others are answered');
is $got{done} // 0, $n, 'those that reached the parent by it';
is $bridge->buffered, '', 'exactly once';
$bridge->stop;

# --- started later --------------------

$parent->close;
$bridge = $tg->bridge;
$bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
like $bridge->rpc('tools/list')->{error}{message}, qr/not running/,
    'no list';
$parent->listen;
$conn = $parent->serve($tool->('late'));
$bridge->notification($changed);
is names(), 'late', 'the agent is notified when there is a list';
$bridge->stop;

done_testing;
