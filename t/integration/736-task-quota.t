#!/usr/bin/perl
# Outputs of all tasks have a quota: outputs of ended tasks are removed first,
# in the order of their ends; running tasks keep theirs, unless no other is
# left; the last part stays in the task.

use Toolgate::Test;

use constant M => 1024 * 1024;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $outputs = $tg->state_dir . '/tasks.db.output';
my $conf = <<'END';
task_agent sh { exec sh -c $task_prompt; default; max_output 64m; }
task_methods on;
task_output_quota 16m;
END
$tg->conf($conf)->start;
my $c = $tg->connect;

sub call { return $c->result_of(@_) }
sub task { return call('task.get', taskId => $_[0]) }
sub submit { return call('task.submit', prompt => $_[0])->{taskId} }
sub ended {
    my ($id) = @_;
    wait_for { task($id)->{completedAt} } "$id to end";
    is task($id)->{state}, 'completed', "$id: it does its work"
        or diag explain task($id);
    return $id;
}
# Writes a number of bytes with known last ones.
sub much {
    my ($bytes) = @_;
    return "head -c " . ($bytes - 4) . ' /dev/zero | tr "\\0" x; printf end.';
}
sub done { return ended(submit(much($_[0]))) }
sub used {
    my $bytes = 0;
    $bytes += -s $_ // 0 for glob "$outputs/*/*";
    return $bytes;
}
sub kept { return join ' ', map { /-0*(\d+)$/ } glob "$outputs/task-*" }
sub number { return $_[0] =~ /-0*(\d+)$/ ? $1 : die }

# --- those go that ended first

my $long = submit(much(3 * M) . "; until [ -e $dir/go ]; do sleep 0.01; done");
wait_for { call('task.output', taskId => $long)->{size} == 3 * M } 'its output';
my @ids = map { done(4 * M) } 1 .. 3;
is used(), 15 * M, 'as much as may be';
push @ids, done(4 * M);
cmp_ok used(), '<=', 16 * M, 'more of it: the quota holds';
ok !-d "$outputs/$ids[0]", 'the one is gone that ended first';
ok -d "$outputs/$long", 'not what still runs, which began before';
ok -d "$outputs/$ids[3]", 'nor the last one';
my $part = call('task.output', taskId => $ids[0]);
is "$part->{state} $part->{size} $part->{output}", 'completed 0 ',
    'of the one, nothing can be read';
my $task = task($ids[0]);
is length $task->{output}, 4096, 'but its end, which is in the task';
like $task->{output}, qr/xend\.$/, 'as it was';
is call('task.output', taskId => $ids[3])->{size}, 4 * M,
    'what is kept is whole';

$tg->file('go', '');
ended($long);
my @more = map { done(4 * M) } 1 .. 3;
ok -d "$outputs/$long", 'by when they ended, not by when they began';
is kept(), join(' ', map { number($_) } $long, @more), 'so these are left';
done(4 * M);
ok !-d "$outputs/$long", 'until it is its turn';

# --- another runner counts what there is, and another config is heard

my $runner = $tg->runner_pid;
kill KILL => $runner, parent_of($runner);
wait_for { !is_alive($runner) } 'the runner to be gone';
wait_for { eval { call('task.stats') } } 'the next one';
done(4 * M) for 1 .. 2;
cmp_ok used(), '<=', 16 * M, 'a new runner: the quota holds';
cmp_ok used(), '>=', 12 * M, 'and no more than must be has gone';
$tg->reload($conf =~ s/16m/8m/r);
my $last = done(1 * M);
cmp_ok used(), '<=', 8 * M, 'a smaller one: it holds, too';
is call('task.output', taskId => $last)->{size}, 1 * M, 'the newest is there';

# --- nothing else is left

my $alone = done(20 * M);
is kept(), number($alone), 'one that puts out more than all may';
cmp_ok used(), '<=', 9 * M, 'has its end alone';
$part = call('task.output', taskId => $alone);
is $part->{size}, 20 * M, 'of which each byte has its place';
is call('task.output', taskId => $alone, offset => 20 * M - 5)->{output},
    'xend.', 'up to its end';

# --- nothing can be written

rename $outputs, "$outputs.away";
$tg->file('nothing', '');
rename "$dir/nothing", $outputs;
my $from = $tg->log_size;
my $what = qr/the output of a task cannot be written .*?: Not a directory/;
like task(done(M))->{output}, qr{xend\.$}, 'then its end is in the task';
# Work after its end is done by then.
done(M);
is scalar(() = $tg->log($from) =~ /$what/g), 2, 'that is said once of each';
$tg->allow_log($what);

done_testing;
