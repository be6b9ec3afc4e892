#!/usr/bin/perl
# The bridge in front of Toolgate: an agent calls tools while the config changes
# and NGINX stops, starts and is killed; its session continues.

use Toolgate::Test;

my $changed = 'notifications/tools/list_changed';
my $hi = 'tool hi { description "Says hi."; return "hi $tool_arg_who"; }';
my $ho = 'tool ho { description "Says ho."; return ho; }';
my $tg = Toolgate::Test->new;
my $wait = $tg->file('wait', <<'END', 0755);
#!/bin/sh
while ! [ -e "$1" ]; do sleep 0.02; done
echo ok
END
my $slow = <<"END";
tool slow {
    description "Waits for a file.";
    exec        $wait \$tool_arg_file;
    timeout     1h;
}
END
$tg->conf("tool_server_name mine; $hi $slow")->start;
# A restart may take a while on a busy machine.
my $bridge = $tg->bridge([ '--grace', 600, $tg->socket_path ]);

sub names {
    my ($result) = $bridge->rpc('tools/list', @_);
    return join ' ', map { $_->{name} } @{ $result->{result}{tools} };
}
sub text { return $_[0]{result}{content}[0]{text} // $_[0]{error}{message} }

my $about = $bridge->rpc('initialize', { protocolVersion => '2025-06-18' })
    ->{result};
is $about->{serverInfo}{name}, 'mine', "the server's name";
$bridge->notify('notifications/initialized');
is names(), 'hi slow', 'the list';
is text($bridge->call_tool('hi', { who => 'Ann' })), 'hi Ann', 'a call';
is $bridge->call_tool('ho')->{error}{code}, -32602, 'no such tool yet';

# --- a reload ---

$tg->reload("tool_server_name mine; $hi $ho $slow");
$bridge->notification($changed);
is names(), 'hi ho slow', 'after a reload the new tool is in the list';
is text($bridge->call_tool('ho')), 'ho', 'and can be called';

# A reload without a change: the agent is not notified.
$tg->reload;
is text($bridge->call_tool('ho')), 'ho', 'a reload of the same';
ok !(grep { ($_->{method} // '') eq $changed } @{ $bridge->{aside} }),
    'is no news';

# A config that does not load.
$tg->reload_fails("$hi tool { }");
is text($bridge->call_tool('ho')), 'ho', 'a refused reload changes nothing';

# --- a running call ends in the old worker -------------------------------

my $file = $tg->dir . '/go';
my $id = $bridge->request('tools/call',
    { name => 'slow', arguments => { file => $file } });
is_deeply $bridge->rpc('ping')->{result}, {}, 'it is on its way';
wait_for { $tg->runner_pids } 'the runner';
$tg->reload("tool_server_name mine; $hi $slow");
my $new = $tg->bridge;
is $new->call_tool('ho')->{error}{code}, -32602, 'the new config serves';
$tg->file('go', '');
is text($bridge->reply($id)), "ok\n", 'the old call ends';
$bridge->notification($changed);
is names(), 'hi slow', 'then the session goes over';
unlink $file;
$new->stop;

# --- a bridge that is killed takes its calls with it ---

my $is_waiting = sub {
    grep {m{/wait }} values %{ $tg->processes };
};
my $killed = $tg->bridge;
$killed->request('tools/call',
    { name => 'slow', arguments => { file => $file } });
wait_for { $is_waiting->() } 'its program';
$killed->signal('KILL');
ok wait_for(sub { !$is_waiting->() }, 'its end'),
    'a killed bridge leaves no program';
is text($bridge->call_tool('hi', { who => 'you' })), 'hi you',
    'no other client notices';

# --- stop and start ---

$tg->stop;
my $waiting = $bridge->request('tools/call',
    { name => 'hi', arguments => { who => 'Eve' } });
$tg->conf("$hi $ho")->start;
is text($bridge->reply($waiting)), 'hi Eve', 'a call waits for a restart';
$bridge->notification($changed);
is names(), 'hi ho', 'with the new list';

my $hasty = $tg->bridge([ '--grace', 1, $tg->socket_path ]);
is text($hasty->call_tool('hi', { who => 'me' })), 'hi me', 'another bridge';
$tg->stop;
my $error = $hasty->call_tool('hi')->{error};
is $error->{code}, -32603, 'without a restart it is an error';
like $error->{message}, qr/not running: there is no socket .*Start NGINX/,
    'that says what to do';
$hasty->stop;
$tg->start;
is text($bridge->call_tool('hi', { who => 'you' })), 'hi you',
    'and it is back';

# --- killed ---

$tg->allow_log(qr/exited on signal 9/);
$tg->conf("$hi $slow");
$tg->reload;
$bridge->notification($changed);
$id = $bridge->request('tools/call',
    { name => 'slow', arguments => { file => $file } });
is_deeply $bridge->rpc('ping')->{result}, {}, 'a call is on its way';
wait_for { $is_waiting->() } 'its program';
# Stopped first: the bridge must not reach the second one meanwhile.
kill $_ => $tg->worker_pids for qw(STOP KILL);
my $lost = $bridge->reply($id)->{result};
ok $lost->{isError}, 'workers killed: the call fails';
like $lost->{content}[0]{text},
    qr/lost while slow was running.*; retry it only if/,
    'and says so';
is text($bridge->call_tool('hi', { who => 'Bob' })), 'hi Bob',
    'the new worker answers';

wait_for { $tg->worker_pids == 2 } 'both to be there again';
my @workers = $tg->worker_pids;
$tg->kill_master;
wait_for { !grep { is_alive($_) } @workers } 'workers without a master to go';
$waiting = $bridge->request('tools/call',
    { name => 'hi', arguments => { who => 'all' } });
$tg->start;
is text($bridge->reply($waiting)), 'hi all',
    'master killed: the call waits for the next';

$bridge->close;
is $bridge->wait_exit, 0, 'the bridge ends with its agent';

done_testing;
