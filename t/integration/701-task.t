#!/usr/bin/perl
# Tasks: each method, its result and its errors, and the notifications.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->conf(<<'END')->start;
task_store sqlite:%%STATE%%/my.db;
task_agent shell { exec sh -c $task_prompt; default; success 0 2; timeout 1m;
    env TASK "$task_id of ${task_agent}, $task_priority $task_metadata"; }
task_agent reader { exec cat; stdin "$task_prompt"; cwd %%DIR%%; }
task_agent slow { exec sh -c $task_prompt; timeout 300ms; }
task_methods on;
task_concurrency 1;
task_queue 2;
END

my $time = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
my $c = $tg->connect;
my $hears = $tg->connect;
$hears->rpc('ping');

sub rpc { return $c->rpc(@_) }

sub error {
    my ($code, $like, $method, $params) = @_;
    my $error = rpc($method, $params)->{error};
    is $error->{code}, $code, "$method: $code";
    like $error->{message}, $like, "$method: it says what";
}

sub submit { return rpc('task.submit', {@_})->{result}{taskId} }

# Returns the params of the next notification of this name.
sub told {
    my ($method) = @_;
    return $hears->recv_where(sub { ($_[0]{method} // '') eq $method },
        undef, $method)->{params};
}

# --- the handshake

my $mcp = $tg->connect;
$mcp->rpc('initialize', { protocolVersion => '2025-06-18' });

my $status = rpc('daemon.status')->{result};
my $runner = $tg->runner_pid;
is $status->{pid}, $runner, 'the runner is there before any task';
like $status->{started_at}, $time, 'since when';
ok $status->{uptime_seconds} >= 0, 'for how long';
is $status->{health}, 'healthy', 'its health';
is_deeply $status->{subsystems}, {
    ipc        => { clients => 3 },
    supervisor => {
        running        => 0,
        queued         => 0,
        maxConcurrency => 1,
        tasks          => { running => [], queued => [] },
    },
    automation => { enabled => JSON::PP::false, ruleCount => 0, rules => [],
        recentExecutions => [] },
    map { $_ => { enabled => JSON::PP::false } }
        qw(file_watcher scheduler messaging)
}, 'its parts';

# --- a successful task

is_deeply rpc('task.submit', { prompt => 'echo "$TASK"; echo oh >&2; exit 2',
        priority => 3, metadata => { suite => 'unit' } })->{result},
    { taskId => 'task-0000', state => 'queued' }, 'a task';
is_deeply told('task.queued'),
    { taskId => 'task-0000', agent => 'shell', priority => 3 }, 'told: queued';
my $told = told('task.started');
like delete $told->{pid}, qr/^\d+$/, 'told: its process';
is_deeply $told, { taskId => 'task-0000', agent => 'shell' }, 'told: started';
$told = told('task.completed');
like delete $told->{duration_ms}, qr/^\d+$/, 'told: how long it took';
is_deeply $told, { taskId => 'task-0000', agent => 'shell' },
    'notified: completed';
is_deeply told('event.taskCompleted'), { taskId => 'task-0000' },
    "notified: in the daemon's words";
my $task = rpc('task.get', { taskId => 'task-0000' })->{result};
like delete $task->{$_}, $time, "its $_"
    for qw(createdAt startedAt completedAt);
is delete $task->{pid}, undef, 'no pid any more';
my $text = 'task-0000 of shell, 3 {"suite":"unit"}';
like delete $task->{output}, qr/^(?:\Q$text\E\noh|oh\n\Q$text\E)$/,
    'its output, both';
is_deeply $task, {
    id       => 'task-0000',
    prompt   => 'echo "$TASK"; echo oh >&2; exit 2',
    agent    => 'shell',
    priority => 3,
    state    => 'completed',
    result   => $text,
    error    => undef,
    cwd      => undef,
    owner    => "$>",
    metadata => { suite => 'unit' },
}, 'all of it';

# --- failed tasks

is submit(prompt => 'echo no >&2; exit 3'), 'task-0001', 'counting on';
is_deeply told('task.failed'), {
    taskId => 'task-0001',
    agent  => 'shell',
    error  => 'shell exited with status 3: no',
}, 'notified: failed';
is rpc('task.get', { taskId => 'task-0001' })->{result}{state}, 'failed',
    'a status that is no success';
submit(prompt => 'sleep 3600', agent => 'slow');
is told('task.timeout')->{taskId}, 'task-0002', 'notified: timeout';
like told('task.failed')->{error}, qr/did not finish within 300 ms/,
    'and that it failed';
submit(prompt => "a \x{e4}\n", agent => 'reader', cwd => '/usr');
told('task.completed');
is rpc('task.get', { taskId => 'task-0003' })->{result}{result}, "a \x{e4}",
    'what it got on its standard input';
submit(prompt => 'pwd', cwd => '/usr');
told('task.completed');
is rpc('task.get', { taskId => 'task-0004' })->{result}{result}, '/usr',
    'where it ran';
submit(prompt => "a\0b");
like told('task.failed')->{error}, qr/NUL/, 'what no argument can be';

# --- order and concurrency

my $go = "until [ -e $dir/go ]; do sleep 0.01; done; echo -n";
submit(prompt => "$go done");
told('task.started');
submit(prompt => 'true', priority => -1);
submit(prompt => 'true ' . 'x' x 100, priority => 5);
error -32002, qr/^Queue full: .*task_queue/, 'task.submit',
    { prompt => 'true' };
$status = rpc('daemon.status')->{result}{subsystems}{supervisor};
is_deeply [ map { [ @$_{qw(id agent priority)}, length $_->{prompt} ] }
        @{ $status->{tasks}{queued} } ],
    [ [ 'task-0008', 'shell', 5, 80 ], [ 'task-0007', 'shell', -1, 4 ] ],
    'which wait, the next one first';
is $status->{queued}, 2, 'how many';
is $status->{running}, 1, 'and how many run';
my ($now) = @{ $status->{tasks}{running} };
like $now->{startedAt}, $time, 'the one that runs: since when';
like $now->{pid}, qr/^\d+$/, 'its pid';
is $now->{id}, 'task-0006', 'its id';
is $now->{agent}, 'shell', 'its agent';
is length $now->{prompt}, length("$go done") > 80 ? 80 : length("$go done"),
    'its prompt';
is_deeply rpc('task.stats')->{result}, { total => 9, queued => 2,
    running => 1, completed => 3, failed => 3, cancelled => 0 }, 'numbers';
$task = rpc('task.get', { taskId => 'task-0006' })->{result};
is $task->{state}, 'running', 'it runs';
is $task->{completedAt}, undef, 'and has not ended';
is $task->{pid}, $now->{pid}, 'as which process';

# --- lists

sub ids {
    return join ' ', map { $_->{id} =~ /-0*(\d+)/ }
        @{ rpc('task.list', {@_})->{result} };
}
is ids(), '8 7 6 5 4 3 2 1 0', 'the newest first';
is ids(limit => 2), '8 7', 'so many';
is ids(state => 'failed'), '5 2 1', 'of a state';
is ids(agent => 'slow'), '2', 'of an agent';
is ids(agent => 'shell', state => 'queued'), '8 7', 'of both';
is ids(agent => 'nobody'), '', 'of none';
is ids(agent => "slow\0"), '', 'no agent has a NUL in its name';
is_deeply rpc('task.list', { state => 'completed', limit => 1 })->{result}[0],
    do {
        my %all = %{ rpc('task.get', { taskId => 'task-0004' })->{result} };
        delete @all{qw(result output)};
        \%all;
    }, 'what is listed of each';

# --- cancelled

is_deeply rpc('task.cancel', { taskId => 'task-0007' })->{result},
    { cancelled => JSON::PP::true }, 'one that waits';
is_deeply told('task.cancelled'), { taskId => 'task-0007', agent => 'shell' },
    'notified: cancelled';
is_deeply rpc('task.cancel', { taskId => 'task-0006' })->{result},
    { cancelled => JSON::PP::true }, 'one that runs';
is told('task.cancelled')->{taskId}, 'task-0006', 'notified: cancelled, too';
is told('task.completed')->{taskId}, 'task-0008', 'the next one follows';
ok !kill(0, $now->{pid}), 'its process is gone by then';
is rpc('task.get', { taskId => 'task-0006' })->{result}{state}, 'cancelled',
    'it stays cancelled';
error -32001, qr/^Task not cancellable: .*ended/, 'task.cancel',
    { taskId => 'task-0006' };

# --- output

my $id = submit(prompt => "printf 'one\\n'; until [ -e $dir/two ]; do "
    . 'sleep 0.01; done; printf two >&2');
my $part = rpc('task.output', { taskId => $id, follow => \1 })->{result};
is_deeply $part, { taskId => $id, state => 'running', offset => 0,
    output => "one\n", next => 4, size => 4 }, 'output of one that runs';
is told('task.output')->{size}, 4, 'notified: output';
my $more = $c->request('task.output',
    { taskId => $id, offset => 4, follow => \1 });
$c->rpc('ping');
$tg->file('two', '');
is $c->reply($more)->{result}{output}, 'two', 'more of it, when it comes';
told('task.completed');
is_deeply rpc('task.output', { taskId => $id, offset => 2 })->{result},
    { taskId => $id, state => 'completed', offset => 2, output => "e\ntwo",
    next => 7, size => 7 }, 'from somewhere on, later';
is rpc('task.output', { taskId => $id, offset => 7, follow => \1 })
    ->{result}{output}, '', 'nothing more will come';
is rpc('task.output', { taskId => 'task-0007' })->{result}{size}, 0,
    'of one that put nothing out';

# --- mistakes

for my $method (qw(task.get task.cancel task.output)) {
    error -32000, qr/^Task not found/, $method, { taskId => 'task-9999' };
    error -32000, qr/^Task not found/, $method, { taskId => 'job 1' };
    error -32602, qr/taskId/, $method, {};
    error -32602, qr/taskId/, $method, { taskId => 7 };
}
error -32602, qr/prompt/, 'task.submit', {};
error -32602, qr/$_->[0]/, 'task.submit', { prompt => 'x', @$_ }
    for [ prompt => 1 ], [ agent => [] ], [ priority => 'high' ],
    [ priority => 1.5 ], [ cwd => 1 ], [ metadata => 'x' ];
error -32602, qr/^agent: no agent has this name/, 'task.submit',
    { prompt => 'x', agent => 'nobody' };
error -32602, qr/^cwd: must be an absolute path/, 'task.submit',
    { prompt => 'x', cwd => 'src' };
error -32602, qr/$_->[0]/, 'task.list', {@$_}
    for [ state => 'gone' ], [ limit => 0 ], [ limit => 1001 ], [ agent => 1 ];
error -32602, qr/offset/, 'task.output', { taskId => $id, offset => -1 };
error -32601, qr/daemon\.stop/, 'daemon.stop';
is rpc('task.submit', { prompt => 'true', other => 1 })->{error}, undef,
    'what it does not know, it leaves alone';
told('task.completed');

done_testing;
