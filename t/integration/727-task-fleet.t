#!/usr/bin/perl
# Machines that share a queue: an agent's name decides which of them runs a
# task; each can show and cancel all tasks; the tasks of a dead machine run
# elsewhere, or have failed; the database disconnects and returns.

use Sys::Hostname qw(hostname);
use Toolgate::Test qw(Postgres);

my @tg = map { Toolgate::Test->new(workers => 1) } 1 .. 3;
my $db = Toolgate::Postgres->new(Toolgate::Test->new);
my $dir = $tg[0]->dir;
my @agents = (
    'task_agent all { exec sh -c $task_prompt; default; retry 9; } '
        . 'task_agent first { exec sh -c $task_prompt; env WHERE first; }',
    'task_agent all { exec sh -c $task_prompt; default; retry 9; } '
        . 'task_agent second { exec sh -c $task_prompt; env WHERE second; }',
    'task_agent third { exec sh -c $task_prompt; }',
);
sub body {
    my ($i, $lease) = @_;
    return 'task_store ' . $db->uri . " lease=$lease; $agents[$i] "
        . 'task_methods on; task_concurrency 2; task_admin all;';
}
$tg[$_]->conf(body($_, '5m'))->start for 0 .. 2;
my @c = map { $_->connect } @tg;

sub call {
    my ($i, $method, %params) = @_;
    my $reply = $c[$i]->rpc($method, \%params);
    die "$method: $reply->{error}{message}\n" if $reply->{error};
    return $reply->{result};
}
sub submit { return call(shift, 'task.submit', @_)->{taskId} }
sub task { return call($_[0], 'task.get', taskId => $_[1]) }
sub until_state {
    my ($i, $id, $state) = @_;
    wait_for { (eval { task($i, $id) } // {})->{state} eq $state }
        "$id: $state";
    return task($i, $id);
}
sub runner { return $tg[ $_[0] ]->runner_pid }
sub prompt {
    my ($name) = @_;
    return "echo \$\$ >>$dir/$name; echo begun; "
        . "until [ -e $dir/$name.end ]; do sleep 0.01; done; echo ended";
}
sub tries { return scalar(() = (slurp("$dir/$_[0]") // '') =~ /\n/g) }

# They are registered when they have opened the store.
call($_, 'task.stats') for 0 .. 2;

# --- which machine runs a task

my $hears = $tg[2]->connect;
$hears->rpc('ping');
my $id = submit(0, prompt => 'echo $WHERE', agent => 'second');
is until_state(0, $id, 'completed')->{result}, 'second',
    'an agent of another machine';
my $told;
for my $name (qw(queued started completed)) {
    $told = $hears->recv_where(sub { ($_[0]{method} // '') eq "task.$name" },
        undef, $name)->{params};
    is $told->{taskId}, $id, "clients of a third runner are notified: $name";
}
like $told->{duration_ms}, qr/^\d+$/, 'as those of its own are';
is submit(2, prompt => 'echo $WHERE', agent => 'first'), 'task-0001',
    'ids count on, wherever one asks';
is until_state(1, 'task-0001', 'completed')->{result}, 'first', 'the other';
my $error = $c[0]->rpc('task.submit', { prompt => 'x', agent => 'nobody' })
    ->{error};
is $error->{code}, -32602, 'an unknown agent';
like $error->{message}, qr/^agent: no agent has this name/, 'as it says';

# --- tasks of other machines

$id = submit(0, prompt => prompt('far'), agent => 'second');
my $seen = until_state(2, $id, 'running');
is $seen->{machine}, hostname(), 'on which machine it runs';
is +(grep { $_->{id} eq $id } @{ call(0, 'task.list') })[0]{machine},
    hostname(), 'in a list, too';
my $part;
wait_for {
    $part = call(0, 'task.output', taskId => $id);
    $part->{size};
} 'its output elsewhere';
is $part->{output}, "begun\n", 'what it puts out';
my $more = $c[0]->request('task.output',
    { taskId => $id, offset => 6, follow => \1 });
$c[0]->rpc('ping');
$tg[0]->file('far.end', '');
$part = $c[0]->reply($more)->{result};
# It may just have ended, and report that in the next part.
$part = call(0, 'task.output', taskId => $id, offset => 6, follow => \1)
    if $part->{output} eq '';
is $part->{output}, "ended\n", 'more of it when it comes';
my $last = until_state(2, $id, 'completed');
is $last->{output}, "begun\nended", 'what it put out, in the end';
is $last->{machine}, undef, 'it runs nowhere any more';

$id = submit(0, prompt => prompt('stop'), agent => 'second');
wait_for { tries('stop') } 'it runs';
my ($pid) = slurp("$dir/stop") =~ /(\d+)/;
is_deeply call(2, 'task.cancel', taskId => $id),
    { cancelled => JSON::PP::true }, 'cancelled from elsewhere';
is task(2, $id)->{state}, 'cancelled', 'as it is';
wait_for { !is_alive($pid) } 'its process to be gone';
$error = $c[2]->rpc('task.cancel', { taskId => $id })->{error};
is $error->{code}, -32001, 'not twice';

# --- a runner is killed and restarted

$id = submit(0, prompt => prompt('killed'), agent => 'second');
wait_for { tries('killed') } 'it runs';
my $runner = runner(1);
kill KILL => $runner;
my $task = until_state(0, $id, 'failed');
like $task->{error}, qr/^interrupted/, 'it has failed, and says why';
isnt runner(1), $runner, 'another runner says so';

# --- the database restarts

# Runs a task that two of them may run: its id, the running one, the other.
sub run_anywhere {
    my ($name) = @_;
    my $id = submit(2, prompt => prompt($name), agent => 'all');
    wait_for { tries($name) } "$name: it runs";
    my ($here) = grep {
        grep { $_->{id} eq $id }
            @{ call($_, 'daemon.status')->{subsystems}{supervisor}{tasks}
                {running} }
    } 0, 1;
    return ($id, $here, 1 - $here);
}
my ($dead, $alive);
($id, $dead, $alive) = run_anywhere('restart');
my $wait = submit(2, prompt => 'echo third', agent => 'third');
$db->stop('QUIT');
my @ask = map { $c[$_]->request('task.submit', { prompt => 'echo',
            agent => 'all' }) } 0 .. 2;
$db->start;
like $c[$_]->reply($ask[$_])->{result}{taskId}, qr/^task-\d+$/,
    "asked meanwhile, machine $_ answers" for 0 .. 2;
$tg[0]->file('restart.end', '');
until_state($dead, $id, 'completed');
is tries('restart'), 1, 'what runs, runs on';
until_state(2, $wait, 'completed');

# --- a machine dies: its lease expires

$tg[$_]->reload(body($_, '10s')) for 0 .. 2;
wait_for {
    $db->sql("SELECT count(*) FROM toolgate_runner
        WHERE until > now() + interval '10 seconds'") == 0;
} 'all to have short leases';
($id, $dead, $alive) = run_anywhere('dead');
my @pids = (runner($dead), parent_of(runner($dead)));
$tg[$dead]->kill_master;
kill KILL => @pids;
wait_for { tries('dead') > 1 } 'another one to run it';
is task(2, $id)->{state}, 'running', 'as it can be seen everywhere';
$tg[0]->file('dead.end', '');
is until_state(2, $id, 'completed')->{result}, "begun\nended", 'to its end';
$tg[$dead]->start;
$c[$dead] = $tg[$dead]->connect;
call($dead, 'task.stats');

# A machine that was only asleep ends its tasks as soon as it wakes up.
($id, $dead, $alive) = run_anywhere('asleep');
my $other = submit(2, prompt => prompt('other'),
    agent => qw(first second)[$dead]);
wait_for { tries('other') } 'another one that is not tried again';
$hears = $tg[$alive]->connect;
$hears->rpc('ping');
@pids = (runner($dead), slurp("$dir/asleep") =~ /(\d+)/);
kill STOP => @pids;
wait_for { tries('asleep') > 1 } 'another one to run it';
my $lease = qr/^interrupted: .* lost its lease of the task store/;
like until_state(2, $other, 'failed')->{error}, $lease,
    'a lost lease is reported as such';
$told = $hears->recv_where(sub {
        ($_[0]{method} // '') eq 'task.failed'
            && $_[0]{params}{taskId} eq $other
    }, undef, 'task.failed');
like $told->{params}{error}, $lease, 'to clients, too';
$tg[0]->file('asleep.end', '');
my $first = until_state(2, $id, 'completed');
kill CONT => @pids;
$tg[$dead]->wait_log(qr/the lease of the task store has expired|cannot be ren/);
wait_for { !is_alive($pids[1]) } 'what it ran is gone';
is_deeply task($dead, $id), $first, 'and did not end twice';
is submit($dead, prompt => 'echo', agent => 'all') =~ /^task-/, 1,
    'it continues';

# --- the database is down for too long

($id, $dead, $alive) = run_anywhere('away');
$other = submit(2, prompt => prompt('away2'),
    agent => qw(first second)[$dead]);
wait_for { tries('away2') } 'one that is not tried again';
my ($pid2) = slurp("$dir/away") =~ /(\d+)/;
$db->stop;
@ask = map { $c[$_]->request('task.stats') } 0 .. 2;
$tg[$dead]->wait_log(qr/lease .* cannot be renewed, as the database cannot/);
wait_for { !is_alive($pid2) } 'what it ran is ended';
$error = $c[0]->reply($ask[0])->{error};
is $error->{code}, -32603, 'calls are answered, too';
like $error->{message}, qr/Task store error: the database cannot be reached: /,
    'and say why';
$db->start;
wait_for { tries('away') > 1 } 'it is tried again, when it is back';
$tg[0]->file('away.end', '');
until_state(2, $id, 'completed');
like until_state(2, $other, 'failed')->{error},
    qr/^interrupted: .* lease of the task store|^interrupted: .*its lease/,
    'what failed says that it was for the lease';
$tg[$_]->allow_log(qr/tasks cannot be stored, trying again: the databa/)
    for 0 .. 2;
is_deeply [ @{ call($_, 'task.stats') }{qw(queued running)} ], [ 0, 0 ],
    "machine $_: nothing is left" for 0 .. 2;
$_->stop for @tg;
wait_for { !$tg[0]->runner_pids } 'the runners to leave';

done_testing;
