#!/usr/bin/perl
# A server of any dialect with tasks: a new client gets no notification before
# its first byte shows its dialect. A client that sends nothing gets them as
# JSON-RPC a little later, and none is lost.

use Toolgate::Test;

use Time::HiRes ();

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool twice { return "$tool_arg_x$tool_arg_x"; }
task_agent sh { exec sh -c $task_prompt; default; }
task_methods on;
END
my $c = $tg->connect;

# Runs a task to its end; all listeners have been notified then.
sub run_task {
    my $id = $c->rpc('task.submit', { prompt => 'true' })->{result}{taskId};
    wait_for {
        $c->notification('task.completed')->{params}{taskId} eq $id
    } 'the task';
    return $id;
}

# A late client gets notifications, by design: on a busy machine another client
# tries.
my $answer;
for (1 .. 20) {
    my $ipc = $tg->connect;
    my $since = Time::HiRes::time;
    run_task();
    if (Time::HiRes::time() - $since < 0.4) {
        $answer = $ipc->ipc_call('twice', { x => 'a' });
        last;
    }
}
is $answer->{result}{content}[0]{text}, 'aa',
    'the first bytes that a client gets are its answer';

my $silent = $tg->connect;
my $id = run_task();
is $silent->notification("task.$_")->{params}{taskId}, $id,
    "a client that sends nothing is told: $_" for qw(queued started completed);

my $late = $tg->connect;
$id = run_task();
my $reply = $late->rpc('tools/call', { name => 'twice',
        arguments => { x => 'b' } });
is $reply->{result}{content}[0]{text}, 'bb', 'a client that speaks JSON-RPC';
is $late->notification("task.$_")->{params}{taskId}, $id,
    "and is told what it waited for: $_" for qw(queued started completed);
done_testing;
