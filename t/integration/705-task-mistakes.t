#!/usr/bin/perl
# Mistakes in directives about tasks, and stores that cannot be opened.

use Toolgate::Test;

use POSIX ();

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $agent = 'task_agent a { exec true; }';

sub refused { return conf_fails($tg, @_) }

refused 'task_methods on;', qr/no "task_agent"; add one/,
    'methods without an agent';
refused "$agent task_methods yes;", qr/invalid value "yes".*"on" or "off"/,
    'neither on nor off';
refused "$agent task_methods on; task_methods on;", qr/is duplicate/, 'twice';
refused "$agent task_methods on; method task.get { return 1; }",
    qr/the method name "task.get" is reserved by "task_methods"; give/,
    'a method of that name';
refused "tool task_get { return 1; } $agent task_tools on;",
    qr/the tool name "task_get" is reserved by "task_tools"; give yours/,
    'a tool of that name';
refused "$agent task_tools maybe;", qr/invalid value "maybe" in "task_tools"/,
    'tools that may be';
refused 'task_tools on;', qr/no "task_agent"; add one/,
    'tools without an agent';
refused "$agent task_store mysql:x;", qr/invalid store.*"sqlite:PATH"/,
    'another kind of store';
refused "$agent task_store sqlite:$dir/none/tasks.db;",
    qr{directory "$dir/none" of "task_store" .*; create it}, 'no directory';
refused "$agent task_store sqlite:$_;", qr{"$_" of "task_store" is a directory},
    "$_, a directory"
    for $dir, "$dir/", '/';
for my $where ('/run', '/dev/shm') {
    my (undef, $out) = $tg->test_conf(
        "$agent task_store sqlite:$where/toolgate-none.db;");
    like $out, qr/\[warn\].*task store "\Q$where\E.*emptied at boot/,
        "a store in $where is warned of";
}
# SQLite opens each of these, and would wait for a FIFO for ever.
for (map { "fifo.db$_" } '', '-wal', '-shm', '-journal') {
    POSIX::mkfifo("$dir/$_", 0600) or die $!;
    refused "$agent task_store sqlite:$dir/fifo.db;",
        qr/$dir\/\Q$_\E"? .*is a FIFO; a task store must be a regular file/,
        "$_, a FIFO";
    unlink "$dir/$_" or die $!;
}
refused "$agent task_store sqlite:/dev/null;", qr/is a device; a task store/,
    'a device';
{
    my $file = $tg->state_dir . '/tasks.db';
    mkdir $tg->state_dir;
    POSIX::mkfifo($file, 0600) or die $!;
    refused $agent, qr/"$file" of "task_store" is a FIFO/, 'the default file';
    unlink $file or die $!;
}
refused "$agent task_$_->[0] $_->[1];", qr/invalid $_->[2] "$_->[1]" in/, "@$_"
    for [ concurrency => 0, 'number' ], [ concurrency => 33, 'number' ],
    [ queue => 0, 'number' ], [ queue => 'x', 'number' ],
    [ keep => '0', 'time' ], [ keep => 'x', 'time' ],
    [ output_quota => '1m', 'size' ], [ output_quota => 'x', 'size' ];
refused "$agent task_output_quota 2m; task_output_quota 2m;",
    qr/is duplicate/, 'two quotas';
refused "$agent task_store postgresql:tasks; task_output_quota 2m;",
    qr/"task_output_quota" limits files.*remove it/,
    'a quota of what is not in files';
refused "$agent task_visibility mine;",
    qr/invalid value "mine" in "task_visibility"; write one of own, all/,
    'a word';
refused "$agent task_admin ann;", qr/invalid rule "ann"/, 'no rule';
refused "$agent $agent", qr/duplicate task_agent "a"/, 'two of one name';
refused 'task_agent a.b { exec true; }',
    qr/invalid name "a.b".*letters, digits/, 'a name';
refused 'task_agent a { }', qr/"a" has no program; write "exec/, 'no program';
refused 'task_agent a { exec /none; }', qr/"\/none" of "exec" cannot be run/,
    'a program that is not there';
refused 'task_agent a { exec $task_prompt; }', qr/without variables/,
    'a program that is not known';
refused 'task_agent a { exec true; exec true; }', qr/is duplicate/,
    'two programs';
refused "task_agent a { exec echo \$$_; }",
    qr/unknown variable in "\$.*\$task_prompt/, "\$$_"
    for qw(pid task_nothing {task_id x);
refused "task_agent a { exec true; $_->[0] $_->[1]; }", $_->[2], "@$_[0, 1]"
    for [ timeout => '30d', qr/invalid time "30d".*at most 24d/ ],
    [ timeout     => '0',   qr/invalid time "0"/ ],
    [ concurrency => 33,    qr/"33" in "concurrency"; write 1 to 32/ ],
    [ retry       => 101,   qr/"101" in "retry"; write 0 to 100/ ],
    [ retry       => 'x',   qr/invalid number/ ],
    [ success     => 256,   qr/invalid status "256"/ ],
    [ env         => '"" x', qr/invalid name ""/ ],
    [ env         => 'A file=/none', qr{"/none"} ],
    [ cwd         => '/none', qr{"/none" of "cwd" is not a directory} ],
    [ title       => 'x',   qr/"title" directive is not allowed/ ];
refused 'task_agent a { exec true; default; } '
    . 'task_agent b { exec true; default; }',
    qr/"a" and "b" are both "default"/, 'two defaults';
{
    my ($status, $out) = $tg->test_conf(
        join(' ', map {"server { listen unix:$dir/$_; $agent tool_state_dir "
                . "$dir/state; task_store sqlite:$dir/state/x; }"} qw(1 2)),
        server => 0);
    isnt $status, 0, 'one store of two servers';
    like $out, qr/two servers use the task store "sqlite:/, 'it says which';
}
my ($status, $out) = $tg->test_conf("$agent task_methods off;");
is $status, 0, 'without methods' or diag $out;

# --- secrets

my $secret = $tg->file('secret', "a\$task_prompt\n");
chmod 0600, $secret;
$tg->conf('task_agent a { exec printenv TOKEN; default; '
    . "env TOKEN file=$secret; } task_methods on;")->start;
my $s = $tg->connect;
my $id = $s->rpc('task.submit', { prompt => 'x' })->{result}{taskId};
my $told;
wait_for {
    $told = $s->rpc('task.get', { taskId => $id })->{result};
    $told->{completedAt};
} 'the task to end';
is $told->{result}, 'a$task_prompt', 'a secret from a file, as it is';
undef $s;
$tg->stop;

# --- stores

my $state = $tg->state_dir;
$tg->conf("$agent task_methods on; task_store sqlite:$state/my.db;");
$tg->file('state/my.db', 'This is no database. ' x 100);
chown((getpwnam $tg->{user})[ 2, 3 ], "$state/my.db");
my $mine = "$agent task_store sqlite:$state/my.db;";
refused $mine, qr/store cannot be opened: .*my\.db: file is not a database/,
    'a file that is none';
is slurp("$state/my.db"), 'This is no database. ' x 100, 'it stays as it is';
$tg->start;
my $c = $tg->connect;
my $error = $c->rpc('task.submit', { prompt => 'x', agent => 'a' })->{error};
is $error->{code}, -32003, 'a file that is none';
like $error->{message}, qr{^Subsystem unavailable: .*my\.db.*not a database},
    'as it says';
is $c->rpc('daemon.status')->{result}{health}, 'unhealthy', 'nor is its health';
$tg->wait_log(qr/store cannot be opened, trying again: .*not a database/);
unlink "$state/my.db" or die;
wait_for { $c->rpc('daemon.status')->{result}{health} eq 'healthy' }
    'it is tried again';
$error = $c->rpc('task.submit', { prompt => 'x' })->{error};
is $error->{code}, -32602, 'no agent is the default';
like $error->{message}, qr/^agent: is required/, 'so it must be named';
is $c->rpc('task.submit', { prompt => 'x', agent => 'a' })->{result}{taskId},
    'task-0000', 'and all is well';
is sprintf('%o', (stat "$state/my.db")[2] & 07777), '600',
    'no other user can read it';

# Requests that are too large.
my $mega = 'x' x 1048576;
$error = $c->rpc('task.submit', { prompt => "x$mega", agent => 'a' })
    ->{error};
is $error->{code}, -32602, 'a prompt that is too long';
like $error->{message}, qr/^prompt: is too long/, 'as it says';
like $c->rpc('task.submit',
    { prompt => 'x', agent => 'a', metadata => { x => $mega } })
    ->{error}{message}, qr/^metadata: is too long/, 'nor so much metadata';
is_deeply [ map { $c->rpc('task.submit', { prompt => $mega, agent => 'a' })
        ->{result}{state} } 1 .. 4 ], [ ('queued') x 4 ], 'the longest';
$error = $c->rpc('task.list')->{error};
is $error->{code}, -32602, 'a list that is too long';
like $error->{message}, qr/^limit: .*ask for fewer/, 'it says what to do';
is @{ $c->rpc('task.list', { limit => 3 })->{result} }, 3, 'less is told';

# Another runner has opened it.
my $other = Toolgate::Test->new;
$other->conf("$agent task_methods on; task_store sqlite:$state/my.db;")->start;
$error = $other->connect->rpc('task.stats')->{error};
is $error->{code}, -32003, 'a store that another runner has opened';
like $error->{message}, qr/no other toolgate-runner/, 'it says so';
$other->stop;

# --- nginx -t with an existing store

($status, $out) = $tg->test_conf($mine);
is $status, 0, 'one that the runner has open' or diag $out;
$tg->stop;
wait_for { !$tg->runner_pids } 'the runner to leave', 60;
($status, $out) = $tg->test_conf($mine);
is $status, 0, 'one that it has left' or diag $out;

# Its header has the owner and the version.
sub patch {
    my ($at, $text) = @_;
    open my $fh, '+<:raw', "$state/my.db" or die $!;
    sysseek $fh, $at, 0;
    syswrite $fh, $text;
    close $fh or die $!;
}
my $before = join ' ', glob "$state/*";
patch(60, pack 'N', 99);
refused $mine, qr/opened: .*has version 99 of a newer Toolgate/,
    'a newer version';
patch(68, pack 'N', 1);
refused $mine, qr/opened: .*a database of another program/, 'of others';
is join(' ', glob "$state/*"), $before, 'to look changes nothing';
SKIP: {
    skip 'not root', 2 if $> != 0;
    mkdir "$dir/roots", 0755 or die $!;
    $tg = Toolgate::Test->new(user => 'nobody');
    refused "$agent task_store sqlite:$dir/roots/tasks.db;",
        qr/opened: .*Permission denied; this user must be able to write/,
        "a directory that is not the workers' user's";
}

done_testing;
