#!/usr/bin/perl
# Broadcasts through the bridge: an agent is notified, sees the capability, and
# gets the reason if its bridge is displaced or rejected.

use Toolgate::Test;

my $tg = Toolgate::Test->new;

sub body {
    my ($policy) = @_;
    return <<"END";
        tool_capability claude/channel;
        tool_relay_bridges $policy;
        tool shout {
            description "Tells all.";
            broadcast   notifications/claude/channel;
        }
        tool hi { description "Says hi."; return hi; }
        tool hold { description "Waits."; exec sleep 3600; timeout 2h; }
END
}
$tg->conf(body('displace'))->start;
my %meta = (_meta => modern_meta());
my @relay = ([ qw(--dialect relay), $tg->socket_path ]);

# In front of Toolgate, and as a bridge with the dialect relay.
my $legacy = $tg->bridge;
my $about = $legacy->rpc('initialize', { protocolVersion => '2025-06-18' });
is_deeply $about->{result}{capabilities}{experimental},
    { 'claude/channel' => {} }, 'the channel is declared to the agent';
my $modern = $tg->bridge;
is $modern->rpc('tools/list', {%meta})->{result}{resultType}, 'complete',
    'a modern agent';
my $listens = $tg->bridge;
my $id = $listens->request('subscriptions/listen',
    { notifications => { 'toolgate/broadcasts' => \1 }, %meta });
is_deeply $listens->recv_json->{params}{notifications},
    { 'toolgate/broadcasts' => JSON::PP::true }, 'a modern agent that listens';
is scalar(@{ $listens->rpc('tools/list', {%meta})->{result}{tools} }), 3,
    'its bridge is there';
my $relay = $tg->bridge(@relay);
$about = $relay->rpc('initialize', { protocolVersion => '2025-06-18' });
is_deeply $about->{result}{capabilities}{experimental},
    { 'claude/channel' => {} }, 'relay: likewise';
is text_of($relay->call_tool('hi')), 'hi', 'relay: served';

is text_of($relay->call_tool('shout', { content => 'hey' })), '{"clients":4}',
    'an agent broadcasts';
is_deeply $_->notification('notifications/claude/channel'),
    { jsonrpc => '2.0', method => 'notifications/claude/channel',
        params => { content => 'hey' } }, 'a legacy agent hears it'
    for $legacy, $relay;
is_deeply $listens->notification('notifications/claude/channel')->{params},
    { content => 'hey',
        _meta => { 'io.modelcontextprotocol/subscriptionId' => $id } },
    'a modern one on its subscription';
ok $modern->rpc('tools/list', {%meta})->{result}, 'and one without';
ok $modern->is_silent(0), 'nothing';

# It stays so after a reload.
$tg->reload;
is text_of($legacy->call_tool('shout', { content => 'again' })),
    '{"clients":4}', 'after a reload';
is $_->notification('notifications/claude/channel')->{params}{content},
    'again', 'they receive it'
    for $legacy, $relay, $listens;

# Displaced: the agent gets the reason, and its server closes.
$id = $relay->request('tools/call', { name => 'hold' });
wait_for { grep {/sleep 3600/} values %{ $tg->processes } } 'the call';
my $next = $tg->bridge(@relay);
is text_of($next->call_tool('hi')), 'hi', 'the next bridge';
like $relay->reply($id)->{error}{message},
    qr/was running \(its reason: another bridge has connected and displaced/,
    'its call says why';
ok $relay->at_eof, 'the bridge ends';
is $relay->wait_exit, 0, 'exit status after the shutdown notice';
like $relay->stderr, qr/shuts down: another bridge .* displaced/,
    'the log says why';
wait_for { !grep {/sleep 3600/} values %{ $tg->processes } } 'the call to end';

# Rejected.
$tg->reload(body('reject'));
my $late = $tg->bridge(@relay);
$id = $late->request('tools/list');
like $late->reply($id)->{error}{message},
    qr/its reason: another bridge is connected/, 'its list says why';
ok $late->at_eof, 'the bridge ends';
$late->wait_exit;
like $late->stderr, qr/shuts down: another bridge is connected/,
    'the log says why';
is text_of($next->call_tool('hi')), 'hi', 'the first one is served on';

done_testing;
