#!/usr/bin/perl
# No answered request is lost when the runner, its supervisor, NGINX or all of
# them are killed: waiting tasks run in order; running ones have failed, without
# processes; ended ones do not change.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->conf(<<'END')->start;
task_agent sh { exec sh -c $task_prompt; default; }
task_methods on;
task_concurrency 1;
END

my $c;
sub call { return $c->result_of(@_) }
sub submit { return call('task.submit', @_)->{taskId} }
sub state_of { return call('task.get', taskId => $_[0])->{state} }

my $old;
for my $who ('the runner', 'its supervisor', 'both', 'all at once') {
    $c = $tg->connect;
    my $done = submit(prompt => 'echo kept');
    # Ignores SIGTERM, with a child in its own session.
    my $run = submit(prompt => "echo before; trap '' TERM; setsid sleep 3607 & "
            . 'while :; do sleep 3608; done');
    wait_for { state_of($run) eq 'running'
            && call('task.output', taskId => $run)->{size} } "$who: it runs";
    my @wait = map { submit(prompt => "echo $_ >>$dir/order", priority => $_) }
        -1, 5, 0, 5;
    my $runner = $tg->runner_pid;
    my $supervisor = parent_of($runner);
    my @pids = ($who ne 'its supervisor' ? $runner : (),
        $who ne 'the runner' ? $supervisor : ());
    if ($who eq 'all at once') {
        kill KILL => $tg->master_pid, $tg->worker_pids, @pids;
        $tg->kill_master;
        wait_for { !grep { is_alive($_) } @pids } 'all to be gone';
        $tg->allow_log(qr/exited on signal 9/);
        $tg->start;
    } else {
        kill KILL => @pids;
        wait_for { !is_alive($runner) } "$who: it is gone";
    }
    $c = $tg->connect;
    wait_for { (eval { state_of($wait[0]) } // '') eq 'completed' }
        "$who: the last one that waited";
    is slurp("$dir/order"), "5\n5\n0\n-1\n", "$who: in their order";
    unlink "$dir/order";
    isnt $tg->runner_pid, $runner, "$who: by another runner";
    my $task = call('task.get', taskId => $run);
    is $task->{state}, 'failed', "$who: what ran has failed";
    like $task->{error}, qr/^interrupted/, "$who: it says why";
    ok $task->{completedAt}, "$who: and when";
    is call('task.output', taskId => $run)->{output}, "before\n",
        "$who: what it put out is kept";
    $task = call('task.get', taskId => $done);
    is "$task->{state} $task->{result} $task->{output}",
        'completed kept kept', "$who: what had ended is as it was";
    my $left = join "\n", sort values %{ $tg->processes };
    is scalar(() = $left =~ /^\S*sleep 360[78]$/mg), 0,
        "$who: its processes are gone";
}
is_deeply call('task.stats'), { total => 24, queued => 0, running => 0,
    completed => 20, failed => 4, cancelled => 0 }, 'each of them once';

done_testing;
