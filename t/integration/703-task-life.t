#!/usr/bin/perl
# Tasks and NGINX: a reload disturbs none, a removed agent fails its waiting
# tasks; daemon.stop is for admins; NGINX ends before running tasks.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
task_agent sh { exec sh -c $task_prompt; default; concurrency 1; }
task_methods on;
task_admin uid=%UID%;
END
$conf =~ s/%UID%/$>/;
my $more = $conf . 'task_agent more { exec echo $$ ${task_id}; }';
$tg->conf($more)->start;
my $c = $tg->connect;

sub call { return $c->result_of(@_) }
sub submit { return call('task.submit', @_)->{taskId} }
sub task { return call('task.get', taskId => $_[0]) }
sub until_state {
    my ($id, $state) = @_;
    wait_for { task($id)->{state} eq $state } "$id to be $state";
    return task($id);
}
sub prompt { return "echo begun; until [ -e $dir/$_[0] ]; do sleep 0.01; done; "
        . 'echo ended' }

# Asks, as a worker does, whether the runner has stopped its tasks.
sub stopping {
    my $state = $tg->state_dir;
    my $health = Toolgate::Client->connect("$state/runner-3.sock")
        ->rpc('task', {
            tool   => 't',
            store  => "sqlite:$state/tasks.db",
            method => 'daemon.status',
            params => {},
            owner  => '0',
        })->{result}{json}{health};
    return $health eq 'stopping';
}

# --- several agents, and variables

my $first = submit(prompt => prompt('first'));
until_state($first, 'running');
my $beside = submit(prompt => '-', agent => 'more');
is until_state($beside, 'completed')->{result}, "\$ $beside",
    'another agent has places of its own';
my $second = submit(prompt => 'echo second');
is task($second)->{state}, 'queued', 'one of this agent';

# --- a reload

$tg->reload($conf);
$tg->file('first', '');
is until_state($first, 'completed')->{result}, "begun\nended",
    'a reload disturbs nothing that runs';
is until_state($second, 'completed')->{result}, 'second', 'nor what waits';
like $c->rpc('task.submit', { prompt => '-', agent => 'more' })
    ->{error}{message}, qr/^agent: /, 'the new config holds';

# --- a removed agent

$tg->reload($more . 'task_concurrency 1;');
$first = submit(prompt => prompt('third'));
until_state($first, 'running');
my $gone = submit(prompt => '-', agent => 'more');
$second = submit(prompt => 'echo second');
my $hears = $tg->connect;
$hears->rpc('ping');
$tg->reload($conf . 'task_concurrency 1;');
my $task = until_state($gone, 'failed');
like $task->{error}, qr/agent is no longer configured \(task_agent, or /,
    'its task fails with a reason';
is_deeply $hears->recv_where(sub { ($_[0]{method} // '') eq 'task.failed' },
    undef, 'the notification')->{params},
    { taskId => $gone, agent => 'more', error => $task->{error} },
    'clients are notified of it';
is task($second)->{state}, 'queued', 'others wait on';
my $alive = $tg->runner_pid;

# --- daemon.stop

is_deeply call('daemon.stop'), { stopping => JSON::PP::true }, 'stopping';
is call('daemon.status')->{health}, 'stopping', 'that is its health';
my $error = $c->rpc('task.submit', { prompt => 'true' })->{error};
is $error->{code}, -32003, 'no more are taken';
like $error->{message}, qr/^Subsystem unavailable: .*tasks were stopped/,
    'as it says';
$tg->file('third', '');
is until_state($first, 'completed')->{result}, "begun\nended",
    'what runs may end';
is task($second)->{state}, 'queued', 'what waits stays';
$tg->kill_workers(($tg->worker_pids)[0]);
$c = $tg->connect;
is task($second)->{state}, 'queued', 'also after a worker has restarted';
$tg->reload;
is until_state($second, 'completed')->{result}, 'second',
    'a reload starts it again';
$first = submit(prompt => prompt('fourth'));
my $pid = until_state($first, 'running')->{pid};
call('daemon.stop', force => \1);
like until_state($first, 'failed')->{error}, qr/tasks were stopped/,
    'by force: what runs is ended';
wait_for { !is_alive($pid) } 'its process to be gone';
is $tg->runner_pid, $alive, 'by the same runner';
$tg->reload;

# --- NGINX quits, as daemon.stop has it

$first = submit(prompt => prompt('fifth'));
until_state($first, 'running');
$second = submit(prompt => 'echo second');
$tg->stop(signal => 'QUIT');
$tg->start;
$c = $tg->connect;
is task($first)->{state}, 'running', 'NGINX stops and starts: it runs on';
is $tg->runner_pid, $alive, 'in the same runner';
$tg->stop(signal => 'QUIT');
$tg->file('fifth', '');
wait_for { !$tg->runner_pids } 'the runner to leave once it has ended';
$tg->start;
$c = $tg->connect;
my $task_of_first = until_state($first, 'completed');
is $task_of_first->{result}, "begun\nended", 'what ran when NGINX quit';
$task = until_state($second, 'completed');
is $task->{result}, 'second', 'and what waited until it came back';
cmp_ok $task->{startedAt}, 'gt', $task_of_first->{completedAt},
    'which did not start in between';

# --- NGINX is stopped, which is the same by force

$first = submit(prompt => "trap '' TERM; " . prompt('sixth'));
$pid = until_state($first, 'running')->{pid};
$second = submit(prompt => 'echo second');
$tg->stop(signal => 'TERM');
wait_for { !is_alive($pid) } 'what ran to be ended';
$tg->start;
$c = $tg->connect;
like until_state($first, 'failed')->{error},
    qr/^interrupted: .*tasks were stopped/, 'it has failed';
is until_state($second, 'completed')->{result}, 'second', 'what waited runs';

# --- NGINX is killed: running tasks have time, waiting ones stay

$first = submit(prompt => prompt('seventh'));
until_state($first, 'running');
$second = submit(prompt => 'echo second');
$tg->kill_master;
wait_for { !grep { /^nginx: worker/ } values %{ $tg->processes } }
    'its workers to notice';
# Longer than a new worker is waited for.
wait_for { stopping() } 'the runner to give up waiting for another one';
$tg->file('seventh', '');
wait_for { !$tg->runner_pids } 'the runner to leave';
$tg->start;
$c = $tg->connect;
is until_state($first, 'completed')->{result}, "begun\nended", 'it has ended';
is until_state($second, 'completed')->{result}, 'second', 'the rest follows';

# --- access

$tg->reload($conf =~ s/uid=\d+/uid=54321/r);
like $c->rpc('daemon.stop')->{error}{message}, qr/not found/i,
    'others may not stop it';
is_deeply $tg->connect->rpc('daemon.status')->{result}{health}, 'healthy',
    'nor did they';

done_testing;
