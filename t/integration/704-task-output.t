#!/usr/bin/perl
# Outputs of tasks in files, in pieces: the newest max_output bytes can be read
# from any offset, until the task is removed.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $state = $tg->state_dir;
$tg->conf(<<'END')->start;
task_agent sh { exec sh -c $task_prompt; default; max_output 2m; }
task_methods on;
task_keep 1s;
END
my $c = $tg->connect;

sub call { return $c->result_of(@_) }
sub done {
    my $id = call('task.submit', @_)->{taskId};
    my $task;
    wait_for {
        $task = call('task.get', taskId => $id);
        $task->{state} ne 'queued' && $task->{state} ne 'running';
    } "$id to end";
    return $task;
}

# Each line has its own number: 10 bytes.
my $n = 500_000;
my $task = done(prompt => "seq -f %09.0f 1 $n");
is $task->{state}, 'completed', 'much output';
is length $task->{output}, 4095, 'its end is in the task';
like $task->{output}, qr/\n000499999\n000500000$/, 'as it should';
my $size = 10 * $n;
my $part = call('task.output', taskId => $task->{id});
is $part->{size}, $size, 'all of it is counted';
cmp_ok $part->{offset}, '<=', $size - 2 * 1024 ** 2,
    'at least max_output is kept';
cmp_ok $part->{offset}, '>', $size - 4 * 1024 ** 2, 'and little more';
my $from = $part->{offset};
my $text = '';
my $parts = 0;
while (length $part->{output}) {
    $text .= $part->{output};
    $parts++;
    $part = call('task.output', taskId => $task->{id}, offset => $part->{next});
}
cmp_ok $parts, '>', 20, 'read in parts';
is length $text, $size - $from, 'up to its end';
my $all = join '', map { sprintf "%09d\n", $_ } 1 .. $n;
ok $text eq substr($all, $from), 'byte for byte';
my @pieces = glob "$state/tasks.db.output/$task->{id}/*";
cmp_ok scalar @pieces, '<=', 4, 'in few files';

# Characters are not divided, and invalid bytes are replaced.
$task = done(prompt => q{perl -CO -e 'print chr(0x20ac) x 50000'; }
    . q{printf '\\377'});
$part = call('task.output', taskId => $task->{id});
is length $part->{output}, int(65536 / 3), 'whole characters';
$text = $part->{output};
while (length $part->{output}) {
    $part = call('task.output', taskId => $task->{id}, offset => $part->{next});
    $text .= $part->{output};
}
ok $text eq "\x{20ac}" x 50000 . "\x{fffd}", 'and all of them';

# An unreadable piece is not the end.
my $piece = "$state/tasks.db.output/$task->{id}/0";
rename $piece, "$dir/piece" or die "$piece: $!";
mkdir $piece or die "$piece: $!";
like $c->rpc('task.output', { taskId => $task->{id} })->{error}{message},
    qr/^The output of the task cannot be read: Is a directory/,
    'an output that cannot be read is an error';
rmdir $piece or die "$piece: $!";
rename "$dir/piece", $piece or die "$piece: $!";

# --- old tasks are removed with their output

my $first = 'task-0000';
ok -d "$state/tasks.db.output/$first", 'output is there';
# Old files are removed at intervals, and when the store is opened.
kill KILL => $tg->runner_pids;
wait_for { $c->rpc('task.get', { taskId => $first })->{error} }
    'what is older than task_keep to be removed';
wait_for { !-d "$state/tasks.db.output/$first" } 'its output, too';
is call('task.submit', prompt => 'true')->{taskId}, 'task-0002',
    'its id is never used again';

done_testing;
