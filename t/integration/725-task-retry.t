#!/usr/bin/perl
# Interrupted tasks are retried as often as their agent allows (`retry`): when
# the runner is killed, and when tasks are stopped; a call that follows a task
# gets its end, also if nobody can run it any more.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
task_agent sh { exec sh -c $task_prompt; default; retry 2; }
task_methods on;
task_concurrency 1;
task_admin all;
END
my $more = $conf . 'task_agent gone { exec true; }';
$tg->conf($more)->start;
my $c = $tg->connect;

sub call { return $c->result_of(@_) }
sub submit { return call('task.submit', @_)->{taskId} }
sub task { return call('task.get', taskId => $_[0]) }
sub until_state {
    my ($id, $state) = @_;
    wait_for { (eval { task($id)->{state} } // '') eq $state } "$id: $state";
    return task($id);
}
# Counts its tries, then runs until it may end.
sub prompt {
    my ($name) = @_;
    return "echo >>$dir/$name; until [ -e $dir/$name.end ]; do sleep 0.01; "
        . 'done; echo ended';
}
sub tries {
    my ($name, $n) = @_;
    wait_for { length(slurp("$dir/$name") // '') == $n } "$name: try $n";
}
sub kill_runner {
    my $runner = $tg->runner_pid;
    kill KILL => $runner, parent_of($runner);
    wait_for { !is_alive($runner) } 'the runner to be gone';
}

# --- the runner is killed

my $first = submit(prompt => prompt('first'));
my $second = submit(prompt => 'echo second');
tries(first => 1);
kill_runner();
tries(first => 2);
is task($second)->{state}, 'queued', 'it comes before those behind it';
$tg->file('first.end', '');
my $task = until_state($first, 'completed');
is $task->{result}, 'ended', 'tried again, it does its work'
    or diag explain $task;
is call('task.output', taskId => $first)->{output}, "ended\n",
    'what it puts out is that of the last time';
until_state($second, 'completed');

$first = submit(prompt => prompt('third'));
for my $n (1 .. 3) {
    tries(third => $n);
    kill_runner();
}
$task = until_state($first, 'failed');
like $task->{error}, qr/^interrupted: /, 'but not for ever';
is length slurp("$dir/third"), 3, 'so often as it was said';

# --- stopped

$first = submit(prompt => prompt('fourth'));
tries(fourth => 1);
my $hears = $tg->connect;
$hears->rpc('ping');
call('daemon.stop', force => \1);
is_deeply $hears->recv_where(sub { ($_[0]{method} // '') eq 'task.queued' },
    undef, 'task.queued')->{params},
    { taskId => $first, agent => 'sh', priority => 0 },
    'clients are notified that it waits again';
$task = task($first);
is $task->{state}, 'queued', 'as it does';
is $task->{startedAt}, undef, 'as if it had not begun';
$tg->reload;
tries(fourth => 2);
is_deeply call('task.cancel', taskId => $first),
    { cancelled => JSON::PP::true }, 'it can be cancelled as others can';
is task($first)->{state}, 'cancelled', 'and is not tried again';

# --- nobody can run it any more

$first = submit(prompt => prompt('fifth'));
tries(fifth => 1);
my $gone = submit(prompt => '-', agent => 'gone');
# For tasks without output, this ends after 25 s.
my @follow = map { $c->request('task.output',
        { taskId => $_, follow => \1, offset => 0 }) } $first, $gone;
$c->rpc('ping');
$tg->reload($conf);
my $reply = $c->recv_where(sub { grep { ($_[0]{id} // '') eq $_ } @follow },
    undef, 'an answer');
is $reply->{id}, $follow[1],
    'a follower of its output is notified of its end at once';
is $reply->{result}{state}, 'failed', 'and what it was';
$tg->file('fifth.end', '');
until_state($first, 'completed');

done_testing;
