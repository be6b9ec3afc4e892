#!/usr/bin/perl
# toolgate task and daemon: their output, what they wait for, and their exit
# statuses.

use Toolgate::Test qw(Terminal);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
task_agent sh { exec sh -c $task_prompt; default; concurrency 1; }
task_agent say { exec echo $task_prompt; }
task_methods on;
END
$tg->conf($conf)->start;

my ($rc, $out, $err);
sub cli {
    ($rc, $out, $err) = $tg->cli(@_);
    return $out;
}
sub json { return Toolgate::Client->decode(cli(@_, '--json')) }
sub until_go { return "until [ -e $dir/$_[0] ]; do sleep 0.01; done" }

# --- submit, and the state after it -----------------------------------------

is cli(qw(task submit --agent say hello there)), "task-0000\n", 'its id alone';
is "$rc $err", '0 ', 'that is all';
is cli(qw(task wait task-0000)) =~ s/after .*/after/r,
    "task-0000 completed after\n", 'wait';
is $rc, 0, 'it is completed';
is_deeply json(qw(task submit), until_go('first'), qw(--priority -3 --cwd),
    "$dir/state/..", '--metadata', '{"a":[1]}'),
    { taskId => 'task-0001', state => 'queued' }, 'submit --json';
my $task = json(qw(task get task-0001));
is_deeply [ @$task{qw(priority cwd metadata owner)} ],
    [ -3, $dir, { a => [1] }, "$>" ], 'with all that was said';
is cli({ stdin => "echo 1\necho 2\n" }, qw(task submit -)), "task-0002\n",
    'a prompt from standard input';
is json(qw(task get task-0002))->{prompt}, "echo 1\necho 2\n", 'as it is';
wait_for { json(qw(task get task-0001))->{state} eq 'running' } 'it to run';
like cli('status'), qr{^\S*/state +up +\d+ +1 +0 +\d+ +1 +exec 1$}m,
    'status has it among the jobs of the runner';
like cli(qw(status --prometheus)),
    qr/^toolgate_runner_tasks\{state_dir="[^"]+"\} 1$/m, 'and Prometheus';

my $time = qr/(?:\d+(?:\.\d+)?|\d\S*) (?:ms|s|min|h)/;
cli(qw(task list));
like $out, qr/^ID\ +STATE\ +PRIORITY\ +AGE\ +TOOK\ +AGENT\ +PROMPT\n
    task-0002\ +queued\ +0\ +$time\ +-\ +sh\ +echo\ 1…\n
    task-0001\ +running\ +-3\ +$time\ +$time\ +sh\ +until\ \[\ .*\n
    task-0000\ +completed\ +0\ +$time\ +$time\ +say\ +hello\ there\n
    \z/x, 'list';
is_deeply [ map { $_->{id} } @{ json(qw(task list --limit 1)) } ],
    ['task-0002'], 'the newest';
is_deeply [ map { $_->{id} } @{ json(qw(task list --state completed --agent),
        'say') } ], ['task-0000'], 'of a state and an agent';
cli(qw(task get task-0001));
like $out, qr/^id         task-0001\nstate      running\nagent      sh\n/,
    'get';
like $out, qr/^created    2\d{3}-\S+Z\n(?:started .*\n)?took +$time$/m,
    'with times';
like $out, qr/^metadata   \{"a":\[1\]\}\n\nprompt:\n\nuntil \[ -e/m,
    'its metadata and prompt';
like cli(qw(task get task-0000)), qr/^result:\n\nhello there\n\z/m,
    'and a result';
like cli(qw(task stats)), qr/^QUEUED\ +RUNNING\ +COMPLETED\ +FAILED\ +
    CANCELLED\ +TOTAL\n\ +1\ +1\ +1\ +0\ +0\ +3\n\z/x, 'stats';
is_deeply json(qw(task stats)), { total => 3, queued => 1, running => 1,
    completed => 1, failed => 0, cancelled => 0 }, 'stats --json';

# The closes of earlier clients may not have been handled yet.
sub clients { return json(qw(daemon status))->{subsystems}{ipc}{clients} }
wait_for { clients() == 1 } 'earlier clients to be gone';
like cli(qw(daemon status)), qr/^daemon:\ healthy,\ pid\ \d+,\ up\ $time,
    \ clients\ 1\ntasks:\ running\ 1\ \(at\ most\ 3\),\ queued\ 1\n
    /x, 'daemon status';
like $out, qr/^ID\ +STATE\ +PRIORITY\ +RUNTIME\ +AGENT\ +PROMPT\n
    task-0001\ +running\ +-\ +$time\ +sh\ +until\ .*\n
    task-0002\ +queued\ +0\ +-\ +sh\ +echo\ 1…\n\z/mx, 'what there is to do';
is json(qw(daemon status))->{health}, 'healthy', 'daemon status --json';

# --- cancel, and calls without an end ---------------------------------------

is cli(qw(task cancel task-0002 task-0001)),
    "task-0002 was cancelled\ntask-0001 was cancelled\n", 'cancel';
is $rc, 0, 'both of them';
cli(qw(task cancel task-0000 task-0099));
is $rc, 1, 'neither';
like $err, qr/-32001: Task not cancellable.*\n.*-32000: Task not found/,
    'and why';
cli(qw(task wait task-0001));
is "$rc $err", "1 toolgate: task-0001 was cancelled\n", 'wait: cancelled';
cli(qw(task submit), 'echo before; echo wrong >&2; exit 4');
cli(qw(task wait task-0000 task-0003));
is $rc, 1, 'wait for two, of which one fails';
like $out, qr/^task-0000 completed/, 'the one';
like $err, qr/^toolgate: task-0003 failed: sh exited with status 4: wrong$/,
    'the other';
is json(qw(task wait task-0003))->{state}, 'failed', 'wait --json';
is $rc, 1, 'with the same status';

# --- output -----------------------------------------------------------------

is cli(qw(task output task-0003)), "before\nwrong\n", 'output';
is $rc, 0, 'of one that has failed';
cli(qw(task output -f task-0003));
is "$rc $out", "1 before\nwrong\n", 'output -f, of the same';
is json(qw(task output task-0000))->{output}, "hello there\n",
    'output --json';
my $many = 20_000;
my $all = join '', map {"$_\n"} 1 .. $many;
cli(qw(task submit -f --agent sh), "seq $many");
ok $out eq $all, 'submit -f: all that it puts out, in many parts';
is "$rc $err", "0 task-0004\n", 'and its id aside';
cli(qw(task submit -f), 'exit 3');
is $rc, 1, 'submit -f: it has failed';
like $err, qr/^task-0005\ntoolgate: task-0005 failed: /, 'and why';

# It is printed as it arrives, whatever happens to workers.
my $follow = $tg->spawn({ env => { TOOLGATE_SOCKET => $tg->socket_path } },
    "$BUILD/toolgate", qw(task submit --follow),
    'echo one; ' . until_go('two') . '; echo two; ' . until_go('three')
        . '; echo three');
is $follow->recv_line, 'one', 'the first line';
$tg->reload;
$tg->file('two', '');
is $follow->recv_line, 'two', 'the second one, after a reload';
$tg->kill_workers($tg->worker_pids);
$tg->file('three', '');
is $follow->recv_line, 'three', 'the third one, after workers were killed';
is $follow->wait_exit >> 8, 0, 'to the end';

# --- timeouts and interrupts ------------------------------------------------

my $id = cli(qw(task submit), until_go('never')) =~ s/\n//r;
cli(qw(task wait), $id, qw(--timeout 1));
is $rc, 2, 'no longer than that';
like $err, qr/^toolgate: $id has not ended within 1 s; it continues$/,
    'it says';
wait_for { clients() == 1 } 'earlier clients to be gone';
my $wait = $tg->spawn({ env => { TOOLGATE_SOCKET => $tg->socket_path } },
    "$BUILD/toolgate", qw(task wait), $id);
wait_for { clients() > 1 } 'it to wait';
kill INT => $wait->pid;
is $wait->wait_exit >> 8, 130, 'Ctrl-C ends the wait';
is json(qw(task get), $id)->{state}, 'running', 'and not the task';

# --- on a terminal ----------------------------------------------------------

SKIP: {
    skip 'no terminals here', 6 if !Toolgate::Terminal::pair(80);
    my ($pid, $screen) = Toolgate::Terminal::run($tg, 70, qw(task wait), $id);
    wait_for {
        $screen->fill(time + 1);
        $screen->buffered =~ /\e\[K$id running for [1-9].* \(sh\)/;
    } 'its state, alive';
    cli(qw(task cancel), $id);
    ($rc, $out) = Toolgate::Terminal::end($pid, $screen);
    is $rc, 1, 'its end';
    like $out, qr/\r\e\[Ktoolgate: $id was cancelled\n\z/, 'in its place';

    cli(qw(task submit --agent say), "\e[2Jevil", 'x' x 100);
    ($pid, $screen) = Toolgate::Terminal::run($tg, 80, qw(task list --limit 1));
    ($rc, $out) = Toolgate::Terminal::end($pid, $screen);
    is $rc, 0, 'a list';
    my @lines = split /\n/, $out;
    utf8::decode($_) for @lines;
    is scalar(@lines), 2, 'of one';
    cmp_ok length($_), '<=', 80, 'that fits' for @lines;
    unlike $out, qr/\e/, 'and is tame';

    ($pid, $screen) = Toolgate::Terminal::run($tg, 80, qw(task list --watch));
    wait_for {
        $screen->fill(time + 1);
        my @shown = $screen->buffered =~ /\e\[H\e\[2JID +STATE/g;
        @shown > 1;
    } 'a list that is watched';
    kill INT => $pid;
    is +(Toolgate::Terminal::end($pid, $screen))[0], 130, 'until Ctrl-C';
}
cli(qw(task cancel), $id);

# --- mistakes ---------------------------------------------------------------

for my $mistake (
    [ qr/task needs a subcommand/ ],
    [ qr/unknown command "task run"/, 'run' ],
    [ qr/unknown command "task lst"; did you mean list\?/, 'lst' ],
    [ qr/submit what\?/, 'submit' ],
    [ qr/must be an integer, not "high"/, qw(submit x --priority high) ],
    [ qr/cannot use the folder \/none/, qw(submit x --cwd /none) ],
    [ qr/must be a JSON object, not \[1\]/, qw(submit x --metadata [1]) ],
    [ qr/not valid UTF-8/, 'submit', "\xff" ],
    [ qr/must be an integer, not "all"/, qw(list --limit all) ],
    [ qr/takes no arguments; unexpected argument "x"$/, qw(list x) ],
    [ qr/unexpected argument "limit=5"; did you mean --limit=5\?/,
        qw(list limit=5) ],
    [ qr/unexpected argument "state"; did you mean --state=VALUE\?/,
        qw(list state) ],
    [ qr/unexpected argument "watch"; did you mean --watch\?/,
        qw(stats watch) ],
    [ qr/unexpected argument "cwd=x"$/, qw(list cwd=x) ],
    [ qr/task stats does not take --limit \(see/, qw(stats --limit 5) ],
    [ qr/task list does not take --metadata \(see/, qw(list --metadata {}) ],
    [ qr/get which task\?/, 'get' ],
    [ qr/cancel which task\?/, 'cancel' ],
    [ qr/wait for which task\?/, 'wait' ],
    [ qr/output of which task\?/, 'output' ],
    [ qr/task get does not take --follow/, qw(get -f x) ],
    [ qr/task stats does not take --agent/, qw(stats --agent x) ],
) {
    my ($like, @args) = @$mistake;
    cli('task', @args);
    is $rc, 2, "task @args";
    like $err, $like, 'it says why';
}
for my $refused ([ qr/-32602: --state: .*got "gone"/, qw(list --state gone) ],
    [ qr/-32602: --limit: must be at least 1, got 0/, qw(list --limit 0) ],
    [ qr/-32602: --priority: /, qw(submit x --priority 9999999999) ],
    [ qr{-32602: /prompt: must have at least 1}, 'submit', '' ],
    [ qr/-32602: agent: no agent has this name/, qw(submit x --agent nobody) ],
    [ qr/-32000: Task not found/, qw(get x) ],
    [ qr/-32000: Task not found/, qw(output x) ],
    [ qr/-32000: Task not found/, qw(wait x) ])
{
    my ($like, @args) = @$refused;
    cli('task', @args);
    is $rc, 1, "task @args";
    like $err, $like, 'it says why';
}
is json(qw(task get x))->{error}{code}, -32000, 'an error as JSON';
cli(qw(daemon stop));
is $rc, 1, 'daemon stop: not for everybody';
like $err, qr/task_methods in nginx\.conf, and task_admin says who may/,
    'as it says';
like cli(qw(help task submit)), qr/^usage: toolgate task submit PROMPT/, 'help';
like cli(qw(daemon --help)), qr/^usage: toolgate daemon status/, 'help, too';

# --- stop -------------------------------------------------------------------

$tg->reload("$conf task_admin all;");
cli(qw(task submit), until_go('never'));
like cli(qw(daemon stop)), qr/^the tasks stop: running tasks have 30 s/, 'stop';
like cli(qw(daemon status)), qr/^daemon: stopping/, 'it stops';
like cli(qw(daemon stop --force)),
    qr/^the tasks stop: running tasks were ended/,
    'by force';
is_deeply json(qw(daemon stop --force)), { stopping => JSON::PP::true },
    'as JSON';
$tg->reload('tool hi { description "Hi."; return hi; }');
cli(qw(task list));
is $rc, 1, 'a server without tasks';
like $err,
    qr/does not offer you the method task\.list: the server needs task_methods/,
    'it says so';

done_testing;
