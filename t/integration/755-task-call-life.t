#!/usr/bin/perl
# Tools with `task`: concurrency, visibility of their tasks, and what happens
# when the runner is killed, or the tool removed.

use Toolgate::Test qw(User);

my ($ann, $bob) = (54321, 54322);
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $wait = "sh -c 'echo begun; while [ -e $dir/run ]; do sleep 0.01; done; "
    . "echo ended'";
my $conf = <<"END";
tool_socket_mode 0666;
task_methods on;
task_queue 3;
tool one {
    description "One at a time.";
    exec $wait;
    concurrency 1 queue=10;
    task optional;
}
tool again { description "Again."; exec $wait; task required retry=1; }
END
my $two = 'tool two { description "Two."; exec echo two; task required; }';
$tg->conf("$conf $two")->start;
my $c = $tg->connect;
$c->rpc('ping');

sub begin {
    my ($tool, $client) = @_;
    return ($client // $c)->result_of('tools/call', name => $tool,
        arguments => {}, _meta => { 'toolgate/task' => \1 })
        ->{structuredContent}{taskId};
}
sub task { return $c->result_of('task.get', taskId => $_[0]) }
sub runs {
    my ($id) = @_;
    wait_for { (task($id)->{output} // '') =~ /begun/ } "$id to run";
    return task($id);
}
sub ended {
    my ($id) = @_;
    wait_for { task($id)->{completedAt} } "$id to end";
    return task($id);
}
sub text { return $_[0]{result}{content}[0]{text} }

# --- concurrency

$tg->file('run', '');
my $first = begin('one');
my $pid = runs($first)->{pid};
my $second = begin('one');
is text(ended(begin('two'))), "two\n", 'another tool\'s task passes by';
is task($second)->{state}, 'queued', 'concurrency: one of it at a time';

# A normal call waits for the same slot.
my $direct = $tg->connect;
$direct->send_line($c->encode({ jsonrpc => '2.0', id => 'd',
    method => 'tools/call', params => { name => 'one', arguments => {} } }));
wait_for {
    $c->result_of('toolgate.status')->{runners}[0]{queued};
} 'the call to wait';
begin('one');
begin('one');
my $full = $c->rpc('tools/call', { name => 'one', arguments => {},
    _meta => { 'toolgate/task' => \1 } })->{result};
ok $full->{isError}, 'task_queue: no more wait';
like $full->{content}[0]{text}, qr/^Queue full: .*task_queue/, 'it says so';
unlink "$dir/run";
is text(ended($_)), "begun\nended\n", "$_ has ended" for $first, $second;
my $reply = $direct->recv_where(sub { ($_[0]{id} // '') eq 'd' });
is $reply->{result}{content}[0]{text}, "begun\nended\n",
    'and the call was answered';
wait_for {
    my $stats = $c->result_of('task.stats');
    $stats->{queued} + $stats->{running} == 0;
} 'all to have ended';

# --- the runner is killed

$tg->file('run', '');
my ($lost, $again) = map { begin($_) } 'one', 'again';
$pid = runs($lost)->{pid};
runs($again);
my $queued = begin('one');
kill KILL => $tg->runner_pids;
$tg->allow_log(qr/toolgate-runner/);
wait_for { !kill 0, $pid } 'its program to be ended';
is_deeply [ @{ ended($lost) }{qw(state error result)} ], [ 'failed',
    'interrupted: toolgate-runner ended while it ran', undef ],
    'what ran was interrupted';
runs($_) for $again, $queued;
unlink "$dir/run";
is text(ended($again)), "begun\nended\n", 'but for what is tried again';
is text(ended($queued)), "begun\nended\n", 'what waited was not lost';

# --- who sees them

SKIP: {
    skip 'only root can be other users', 5 if !Toolgate::User::is_possible();
    my ($one, $two) = map {
        my $uid = $_;
        my $client = Toolgate::User::as($uid, [$uid], sub { $tg->connect });
        $client->rpc('ping');
        $client;
    } $ann, $bob;
    my $id = begin('two', $one);
    is ended($id)->{owner}, $ann, 'it is its caller\'s';
    is $one->result_of('task.get', taskId => $id)->{state}, 'completed',
        'who sees it';
    is $two->rpc($_, { taskId => $id })->{error}{code}, -32000,
        "$_: no other user does"
        for qw(task.get task.cancel task.output);
}

# --- the tool is gone

$tg->file('run', '');
$first = begin('one');
runs($first);
$second = begin('one');
$tg->reload("task_methods on; tool_socket_mode 0666; $two");
$c = $tg->connect;
$c->rpc('ping');
is ended($second)->{error}, 'its agent is no longer configured (task_agent, or '
    . 'task of a tool)', 'what waits fails';
is task($first)->{state}, 'running', 'a running task continues';
unlink "$dir/run";
is text(ended($first)), "begun\nended\n", 'to its end';

done_testing;
