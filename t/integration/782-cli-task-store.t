#!/usr/bin/perl
# The command line prints the error of the tasks' store in one line, however
# late it comes; and the machine of a task.

use Toolgate::Test qw(Command);
use Toolgate::Parent qw(answer refuse request);

# --- a store that cannot be opened

my $tg = Toolgate::Test->new(workers => 1);
$tg->allow_log(qr/store cannot be opened/);
$tg->conf('task_store postgresql://nobody@127.0.0.1:1/x; task_methods on; '
        . 'task_agent all { exec sh -c $task_prompt; default; }')->start;
for my $args ([qw(list)], [qw(submit x)], [qw(get task-0000)], [qw(stats)]) {
    my ($rc, $out, $err) = $tg->cli('task', @$args);
    is $rc, 1, "task @$args: refused";
    like $err, qr/^toolgate: [^\n]*-32003: [^\n]*store cannot be opened: \S/,
        "task @$args: with the store's error";
    unlike $err, qr/\\u00/, "task @$args: on a line of plain text";
}
$tg->stop;

# --- a server that takes longer than other commands wait

my $slow = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($slow->socket_path);
my $cli = $slow->spawn({ env => { TOOLGATE_SOCKET => $slow->socket_path } },
    'sh', '-c', 'exec "$0" task list 2>&1', "$BUILD/toolgate");
my $conn = greet($parent);
my $asked = request($conn, 'task.list');
ok $cli->is_silent(6), 'task list waits for the answer';
refuse($conn, $asked, -32003, 'Subsystem unavailable: the disk is full');
like $cli->recv_line, qr/-32003: Subsystem unavailable: the disk is full$/,
    "with the server's message";
is $cli->wait_exit >> 8, 1, 'refused';

# --- machines

$cli = $slow->spawn({ env => { TOOLGATE_SOCKET => $slow->socket_path } },
    "$BUILD/toolgate", 'task', 'list');
$conn = greet($parent);
my %task = (prompt => "one\ntwo", agent => 'all', priority => 0);
answer($conn, request($conn, 'task.list'), [
    { %task, id => 'task-0002', state => 'running', machine => 'alpha' },
    { %task, id => 'task-0001', state => 'queued', machine => undef },
]);
like $cli->recv_line, qr/^ID +STATE .* MACHINE +AGENT +PROMPT$/,
    'a list of a fleet names machines';
like $cli->recv_line, qr/^task-0002 +running .* alpha +all +one…$/,
    'where one runs';
like $cli->recv_line, qr/^task-0001 +queued .* - +all +one…$/,
    'one that waits runs nowhere';
$cli->wait_exit;

$cli = $slow->spawn({ env => { TOOLGATE_SOCKET => $slow->socket_path } },
    "$BUILD/toolgate", 'task', 'get', 'task-0002');
$conn = greet($parent);
answer($conn, request($conn, 'task.get'),
    { %task, id => 'task-0002', state => 'running', machine => 'alpha',
        error => "one\ntwo\e[2J" });
1 while $cli->fill(time + 30);
like $cli->buffered, qr/^machine    alpha$/m, 'and so does a task';
like $cli->buffered, qr/^error      one\n {11}two\\u001b\[2J$/m,
    'an error of several lines stands below itself';

done_testing;
