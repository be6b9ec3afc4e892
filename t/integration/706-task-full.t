#!/usr/bin/perl
# A full disk: tasks are rejected with a reason, running ones are not affected,
# and their end is stored as soon as possible; a failed denial is not taken for
# one.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $state = $tg->state_dir;
$tg->conf(<<'END')->start;
task_agent sh { exec sh -c $task_prompt; default; }
task_methods on;
task_concurrency 1;
task_queue 100000;
automation ask {
    trigger  event type=task.completed;
    when     metadata.ask exists;
    notify   asked;
    approval required;
}
END
my $c = $tg->connect;
$c->rpc('daemon.status');
my $runner = runner_in($state);

# Above a file's size limit the kernel reports an error like a full disk's.
sub room {
    my ($bytes) = @_;
    my ($status, $out, $err) = run_command({}, 'prlimit', '--pid', $runner,
        "--fsize=$bytes:");
    is $status, 0, 'the limit of the runner' or diag $err;
}

sub task { return $c->rpc('task.get', { taskId => $_[0] })->{result} }

my $run = $c->rpc('task.submit', { prompt => "ulimit -f unlimited; echo begun;"
        . "until [ -e $dir/go ]; do sleep 0.01; done; echo ended" })
    ->{result}{taskId};
wait_for { task($run)->{state} eq 'running' } 'a task to run';
my $pid = task($run)->{pid};
my $size = -s "$state/tasks.db-wal";
room(($size > 65536 ? $size : 65536) + 32768);

my ($n, $error) = 0;
while (!$error && $n < 10_000) {
    $error = $c->rpc('task.submit', { prompt => 'x' x 1000 })->{error};
    $n++;
}
is $error->{code}, -32603, 'at last there is no room';
like $error->{message}, qr{^Task store error: .*tasks\.db},
    'it says so';
is $c->rpc('task.stats')->{result}{queued}, $n - 1,
    'what was answered is there, and nothing else';
ok is_alive($pid), 'what runs, runs on';
is task($run)->{state}, 'running', 'as it can be seen';

# Not even enough for the end of a task.
room(4096);
$tg->file('go', '');
$tg->wait_log(qr/changes of tasks cannot be stored.*tasks\.db/);
ok !is_alive($pid), 'it has ended';
is task($run)->{state}, 'running', 'which is not written down';
room('unlimited');
wait_for { task($run)->{state} eq 'completed' }
    'that it is, when there is room';
is task($run)->{output}, "begun\nended", 'with all that it put out';
is $c->rpc('task.submit', { prompt => 'true' })->{error}, undef,
    'tasks are taken again';

# --- questions of rules -------------------------------------------------------

sub execution {
    my $status = $c->rpc('automation.status')->{result};
    return $status->{recentExecutions}[0] // {};
}
$c->rpc('task.submit',
    { prompt => 'true', priority => 9, metadata => { ask => 1 } });
wait_for { (execution()->{status} // '') eq 'pending_approval' }
    'a rule to wait for approval';
my $id = $c->recv_where(sub { ($_[0]{method} // '') eq 'automation.notify' },
    undef, 'what it asks')->{params}{executionId};
room(4096);
my $denied = $c->rpc('automation.approve',
    { executionId => $id, approve => \0 })->{result};
ok !$denied->{success}, 'what cannot be written down is no success';
like $denied->{error}, qr/^not stored because of a task store error/, 'and why';
room('unlimited');

done_testing;
