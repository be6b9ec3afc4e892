#!/usr/bin/perl
# Tasks over the runner's socket, used as by a worker: it stays while a task
# runs, a waiting task has its timeout from its start, a cancellation needs no
# caller, and a call that waits for output does not delay the runner's end.

use Toolgate::Test qw(Runner);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $state = $tg->state_dir;
my $store = "sqlite:$state/tasks.db";

sub agent {
    return { argv => [ ['/bin/sh'], ['-c'], [ '', 'prompt', '' ] ], @_ };
}
sub open_tasks {
    my ($c, @agents) = @_;
    my $reply = $c->rpc('task_open', {
        store       => $store,
        generation  => 'g',
        concurrency => 2,
        queue       => 9,
        keep_ms     => 1e9,
        default     => 'a',
        agents      => \@agents,
    });
    ok $reply->{result}, 'open' or diag explain $reply;
}
sub params {
    my ($method, $params) = @_;
    return {
        tool    => 't',
        store   => $store,
        method  => $method,
        params  => $params,
        clients => 1,
        owner   => "0",
    };
}
sub call {
    my ($c, $method, %params) = @_;
    my $reply = $c->rpc('task', params($method, \%params));
    return $reply->{result}{json} // die explain($reply);
}
my $one = agent(name => 'a', timeout_ms => 60000, concurrency => 1);
my $short = agent(name => 'b', timeout_ms => 10_000);

# --- the last worker exits, and a waiting task starts after that

my $runner = Toolgate::Runner->start($tg, linger => 1, foreground => 1);
my $c = $runner->connect;
open_tasks($c, $one);
call($c, 'task.submit', prompt => "echo >$dir/begun; "
    . "until [ -e $dir/go ]; do sleep 0.01; done");
call($c, 'task.submit', prompt => "sleep 2; echo >$dir/ended");
wait_for { -e "$dir/begun" } 'the first task';
undef $c;
$tg->file('go', '');
$runner->wait_gone(20);
ok -e "$dir/ended", 'the runner stays until it has ended';

# --- all slots are in use

$runner = Toolgate::Runner->start($tg, foreground => 1);
$c = $runner->connect;
open_tasks($c, $one, $short);
my $busy = $runner->connect;
my $wait = "until [ -e $dir/free ]; do sleep 0.1; done";
$busy->request('exec', Toolgate::Runner::sh($wait)) for 1 .. 64;
wait_for { $c->rpc('status')->{result}{running} == 64 } '64 programs';
my $id = call($c, 'task.submit', prompt => 'echo done',
    agent => 'b')->{taskId};
wait_for { call($c, 'task.get', taskId => $id)->{state} eq 'running' }
    'the task to be claimed';
# Longer than the agent's timeout, which begins with the program.
sleep 11;
$tg->file('free', '');
my $task;
wait_for {
    $task = call($c, 'task.get', taskId => $id);
    $task->{completedAt};
} 'the task to end';
is $task->{state}, 'completed', 'its time is from its start'
    or diag explain $task;
is $task->{pid}, undef, 'and its process is no more';
undef $busy;

# --- a config without agents, or without a default

sub failure {
    my ($method, %params) = @_;
    my $told = $c->rpc('task', params($method, \%params))->{result};
    return "$told->{code} $told->{message}";
}
open_tasks($c);
like failure('task.submit', prompt => 'x'),
    qr/^-32003 Subsystem unavailable: .*no task_agent/, 'nobody runs tasks';
is call($c, 'daemon.status')->{health}, 'healthy', 'which can be seen';
open_tasks($c, { %$one, name => 'c' });
like failure('chat.send', message => 'x'),
    qr/^-32003 Subsystem unavailable: no agent handles/, 'nobody to chat with';
open_tasks($c, $one);

# --- a running task is cancelled by a client that closes at once

$id = call($c, 'task.submit', prompt => "echo >$dir/left; exec sleep 600")
    ->{taskId};
wait_for { -e "$dir/left" } 'a task to run';
my $hasty = $runner->connect;
$hasty->send_raw(join '', map { $c->encode($_) . "\n" } map { (
    { jsonrpc => '2.0', id => $_, method => 'task',
        params => params('task.cancel', { taskId => $id }) },
    { jsonrpc => '2.0', method => 'notifications/cancelled',
        params => { requestId => $_ } },
) } 1 .. 3);
wait_for {
    call($c, 'task.get', taskId => $id)->{completedAt}
} 'it to be ended all the same';
is call($c, 'task.get', taskId => $id)->{state}, 'cancelled',
    'a cancel does not need its caller';
like failure('task.cancel', taskId => $id), qr/^-32001 /, 'it has ended';
undef $hasty;

# --- the end, with calls that wait

$id = call($c, 'task.submit', prompt => "echo >$dir/last; sleep 60")->{taskId};
wait_for { -e "$dir/last" } 'the last task';
my $follow = { taskId => $id, follow => JSON::PP::true };
$c->request('task', params('task.output', $follow)) for 1 .. 3;
$c->rpc('status');
kill TERM => $runner->pid;
$runner->wait_gone(20);
unlike $runner->log, qr/signal (?!15)|Sanitizer/, 'the runner has ended';

done_testing;
