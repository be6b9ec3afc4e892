#!/usr/bin/perl
# One reload with connected clients: they stay connected, are notified of other
# tools if possible, and call the new ones; running calls end as usual, and old
# workers exit.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $socket = $tg->socket_path;
# Programs that run until the test ends them.
$tg->file('wait', <<'END', 0755);
#!/bin/sh
touch "$2"
while ! [ -e "$1" ]; do sleep 0.02; done
echo "$3"
END

sub body {
    my ($name) = @_;
    return <<"END";
tool_idle_timeout off frame=1h;
tool who { return $name; }
tool $name { return yes; }
tool wait {
    exec    $dir/wait $dir/go\$tool_arg_n $dir/runs\$tool_arg_n $name;
    timeout 1h;
}
method wait {
    output  text;
    exec    $dir/wait $dir/go $dir/runs $name;
    timeout 1h;
}
END
}

sub let_go {
    my ($n) = @_;
    $tg->file("go$n", '');
}

my %meta = %{ modern_meta() };

$tg->conf(body('old'))->start;
my @old = $tg->worker_pids;

# --- before ---------------------------------------------------------------

my %client = map { $_ => $tg->connect } qw(
    mcp rpc ipc relay busy busy_ipc busy_relay busy_rpc half none modern hello);
$client{mcp}->rpc('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 't', version => 1 } });
is text_of($client{mcp}->call_tool('who')), 'old', 'mcp';
is $client{rpc}->rpc('ping')->{result}{pong}, JSON::PP::true, 'rpc';
is text_of($client{ipc}->ipc_call('who')), 'old', 'ipc';
$client{relay}->send_line(
    { kind => 'mcp_request', id => 1, method => 'tools/list' });
is $client{relay}->recv_json->{id}, 1, 'relay';
$client{half}->send_raw('{"jsonrpc":"2.0","id":1,"method":"pi');
my $listen = $client{modern}->request('subscriptions/listen',
    { _meta => \%meta, notifications => { toolsListChanged => \1 } });
is $client{modern}->recv_json->{method},
    'notifications/subscriptions/acknowledged', 'modern';
$client{hello}->notify('notifications/toolgate/hello');
ok $client{hello}->rpc('ping')->{result}, 'hello';

my $id = $client{busy}->request('tools/call',
    { name => 'wait', arguments => { n => 1 } });
my $second = $client{busy}->request('tools/call',
    { name => 'wait', arguments => { n => 2 } });
$client{busy_ipc}->send_ipc({ method => 'call_tool',
    params => { name => 'wait', arguments => { n => 3 } } });
$client{busy_relay}->send_line({ kind => 'mcp_request', id => 4,
    method => 'tools/call',
    params => { name => 'wait', arguments => { n => 4 } } });
my $method = $client{busy_rpc}->request('wait');
wait_for { -e "$dir/runs$_" } "program $_" for 1 .. 4, '';

# --- the reload -----------------------------------------------------------

$tg->reload(body('new'));
my $new = $tg->connect;
is text_of($new->call_tool('who')), 'new', 'a new client sees the new config';
is text_of($new->call_tool('new')), 'yes', 'and its tools';
is $new->call_tool('old')->{error}{code}, -32602, 'and none of the old ones';

my $changed = 'notifications/tools/list_changed';
is $client{mcp}->recv_json->{method}, $changed,
    'mcp: notified of changed tools';
my $told = $client{modern}->recv_json;
is $told->{method}, $changed, 'modern: notified';
is $told->{params}{_meta}{'io.modelcontextprotocol/subscriptionId'}, $listen,
    'modern: on its subscription';
$told = $client{relay}->recv_json;
is "$told->{kind} $told->{method}", "mcp_notification $changed",
    'relay: notified';

is text_of($client{$_}->call_tool('who')), 'new',
    "$_: continues with the new config"
    for qw(mcp none hello);
is text_of($client{ipc}->ipc_call('who')), 'new', 'ipc: continues';
is $client{rpc}->rpc('ping')->{result}{pong}, JSON::PP::true, 'rpc: continues';
$client{half}->send_raw(qq(ng"}\n));
is $client{half}->recv_json->{id}, 1, 'half: the other half is read';
$client{relay}->send_line({ kind => 'mcp_request', id => 2,
    method => 'tools/call', params => { name => 'who', arguments => {} } });
is text_of($client{relay}->recv_json), 'new', 'relay: continues';

# --- running calls --------------------------------------------------------

# They are held while their sessions move; other calls continue.
wait_for { !grep { is_alive($_) } @old } 'the old workers to go';
pass 'the old workers are gone';
is text_of($client{busy}->call_tool('who')), 'new', 'busy: calls the new one';
is text_of($client{busy_rpc}->call_tool('who')), 'new', 'busy_rpc: so does it';
let_go(1);
is text_of($client{busy}->reply($id)), "old\n", 'a call ends with the old one';
let_go(2);
is text_of($client{busy}->reply($second)), "old\n", 'its last one';
is text_of($client{busy}->call_tool('who')), 'new', 'then it continues';
let_go(3);
is text_of($client{busy_ipc}->recv_ipc), "old\n", 'in ipc';
is text_of($client{busy_ipc}->ipc_call('who')), 'new', 'then it continues';
let_go(4);
my %last = map { $_->{id} // 'told' => $_ }
    map { $client{busy_relay}->recv_json } 1, 2;
is text_of($last{4}), "old\n", 'in relay';
is $last{told}{method}, $changed, 'which is notified of changed tools';
let_go('');
is $client{busy_rpc}->reply($method)->{result}, "old\n", 'of a method';
is text_of($new->call_tool('who')), 'new', 'the new client stays';
ok $client{$_}->is_silent(0), "$_: nothing else is said"
    for sort keys %client;

# --- a config that does not load ------------------------------------------

my @workers = $tg->worker_pids;
my $relay = $tg->connect;
$relay->send_line({ kind => 'mcp_request', id => 1, method => 'tools/list' });
is $relay->recv_json->{id}, 1, 'a relay client';
like $tg->reload_fails("tool broken { return x; }\ntool { }"),
    qr/number of arg/, 'a config that does not load';
ok !eval { $tg->signal_reload; 1 }, 'nginx -s reload refuses it too';
is text_of($new->call_tool('who')), 'new', 'changes nothing';
is text_of($tg->connect->call_tool('who')), 'new', 'for new clients';
ok $relay->is_silent(0), 'no client is notified';
is_deeply [ $tg->worker_pids ], \@workers, 'the workers are the same';

# --- a bridge -------------------------------------------------------------

$tg->reload(body('one'));
my $bridge = $tg->bridge;
$bridge->rpc('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 't', version => 1 } });
$bridge->notify('notifications/initialized');
is text_of($bridge->call_tool('who')), 'one', 'through a bridge';
$tg->reload(body('two'));
ok $bridge->notification('notifications/tools/list_changed'),
    'the bridge notifies the agent';
is text_of($bridge->call_tool('who')), 'two', 'and continues';
is text_of($bridge->call_tool('two')), 'yes', 'with the new tools';
my $call = $bridge->request('tools/call',
    { name => 'wait', arguments => { n => 5 } });
wait_for { -e "$dir/runs5" } 'its program';
$tg->reload(body('three'));
let_go(5);
is text_of($bridge->reply($call)), "two\n", 'its call ends with the old one';
wait_for { text_of($bridge->call_tool('who')) eq 'three' } 'the new';
pass 'and it continues with the new config';

done_testing;
