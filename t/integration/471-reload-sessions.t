#!/usr/bin/perl
# What one reload is to the clients that are there: calls end with the old
# config, idle clients get their dialect's farewell, new ones see the new
# config at once, and old workers are gone with their last call.

use strict;
use warnings;

use Toolgate::Test;
use Toolgate::Measure;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $socket = $tg->socket_path;
# Programs that run until the test lets them.
$tg->file('wait', <<'END', 0755);
#!/bin/sh
touch "$2"
while ! [ -e "$1" ]; do sleep 0.02; done
echo "$3"
END

sub body {
    my ($name) = @_;
    return <<"END";
tool who { return $name; }
tool $name { return yes; }
tool wait { exec $dir/wait $dir/go\$tool_arg_n $dir/runs\$tool_arg_n $name; }
method wait { output text; exec $dir/wait $dir/go $dir/runs $name; }
END
}

sub let_go {
    my ($n) = @_;
    $tg->file("go$n", '');
}

my %meta = (
    'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities' => {},
);

$tg->conf(body('old'))->start;
my @old = $tg->worker_pids;

# --- before ---------------------------------------------------------------

my %client = map { $_ => $tg->connect } qw(
    mcp rpc ipc relay busy busy_ipc busy_relay busy_rpc half none modern hello);
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
wait_for(sub { -e "$dir/runs$_" }, 10, "program $_") for 1 .. 4, '';

# --- the reload -----------------------------------------------------------

$tg->reload(body('new'));
my $new = $tg->connect;
is text_of($new->call_tool('who')), 'new', 'a new client sees the new config';
is text_of($new->call_tool('new')), 'yes', 'and its tools';
is $new->call_tool('old')->{error}{code}, -32602, 'and none of the old ones';

ok $client{$_}->at_eof, "$_: idle, closed" for qw(mcp rpc ipc half none);
is $client{relay}->recv_json->{kind}, 'shutdown',
    'relay: the shutdown frame';
ok $client{relay}->at_eof, 'relay: then closed';
my $last = $client{modern}->recv_json;
is $last->{id}, $listen, 'modern: the subscription ends with its result';
is $last->{result}{resultType}, 'complete', 'modern: which is one';
ok $client{modern}->at_eof, 'modern: then closed';
is $client{hello}->recv_json->{method}, 'notifications/toolgate/closing',
    'hello: told';
ok $client{hello}->at_eof, 'hello: then closed';

# --- calls in flight ------------------------------------------------------

ok $client{$_}->is_silent(0), "$_: stays" for grep {/busy/} keys %client;
is grep({ is_alive($_) } @old) > 0, 1, 'an old worker is there for them';
let_go(1);
is text_of($client{busy}->reply($id)), "old\n", 'a call ends with the old one';
# It still has a call, and is told of no farewell: it may go on.
is text_of($client{busy}->call_tool('who')), 'old',
    'and so do others of that client';
let_go(2);
is text_of($client{busy}->reply($second)), "old\n", 'its last one';
ok $client{busy}->at_eof, 'then it is closed';
let_go(3);
is text_of($client{busy_ipc}->recv_ipc), "old\n", 'in ipc';
ok $client{busy_ipc}->at_eof, 'then it is closed';
let_go(4);
is text_of($client{busy_relay}->recv_json), "old\n", 'in relay';
is $client{busy_relay}->recv_json->{kind}, 'shutdown', 'a shutdown frame';
ok $client{busy_relay}->at_eof, 'then it is closed';
is grep({ is_alive($_) } @old) > 0, 1, 'one call is left';
let_go('');
is $client{busy_rpc}->reply($method)->{result}, "old\n", 'of a method';
ok $client{busy_rpc}->at_eof, 'then it is closed';
wait_for(sub { !grep { is_alive($_) } @old }, 10, 'the old workers to go');
pass 'the old workers are gone with the last call';
is text_of($new->call_tool('who')), 'new', 'the new client stays';

# --- one that does not load -----------------------------------------------

my @workers = $tg->worker_pids;
my $relay = $tg->connect;
$relay->send_line({ kind => 'mcp_request', id => 1, method => 'tools/list' });
is $relay->recv_json->{id}, 1, 'a relay client';
like $tg->reload_fails("tool broken { return x; }\ntool { }"),
    qr/number of arg/, 'a config that does not load';
ok !eval { $tg->signal_reload; 1 }, 'nginx -s reload refuses it too';
is text_of($new->call_tool('who')), 'new', 'changes nothing';
is text_of($tg->connect->call_tool('who')), 'new', 'for new clients';
ok $relay->is_silent(0), 'nobody is told';
is_deeply [ $tg->worker_pids ], \@workers, 'the workers are the same';

# --- a bridge -------------------------------------------------------------

$tg->reload(body('one'));
my $bridge = $tg->bridge;
$bridge->rpc('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 't', version => 1 } });
$bridge->notify('notifications/initialized');
is text_of($bridge->call_tool('who')), 'one', 'through a bridge';
$tg->reload(body('two'));
ok $bridge->notification('notifications/tools/list_changed'), 'it tells';
is text_of($bridge->call_tool('who')), 'two', 'and goes on';
is text_of($bridge->call_tool('two')), 'yes', 'with the new tools';
my $call = $bridge->request('tools/call',
    { name => 'wait', arguments => { n => 5 } });
wait_for(sub { -e "$dir/runs5" }, 10, 'its program');
$tg->reload(body('three'));
let_go(5);
is text_of($bridge->reply($call)), "two\n", 'its call ends with the old one';
wait_for(sub { text_of($bridge->call_tool('who')) eq 'three' }, 10, 'the new');
pass 'and it goes on with the new one';

done_testing;
