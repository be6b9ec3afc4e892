#!/usr/bin/perl
# Tools with `task`: calls that become tasks, on request or always, with the
# results of normal calls.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
mkdir "$dir/here" or die;
$tg->file('count.pl', <<'END');
use strict;
my $file = shift;
open my $log, '>>', $file or die;
syswrite $log, "begun\n";
sleep 1 while -e "$file.run";
syswrite $log, "ended\n";
print "done in $ENV{WHAT} of ", `pwd`;
END
my $tools = <<"END";
task_tools on;
task_methods on;
tool build {
    description "Builds.";
    input_schema '{"type":"object","properties":{"what":{"type":"string"}},
        "additionalProperties":false}';
    exec perl $dir/count.pl $dir/log;
    env WHAT \$tool_arg_what;
    cwd $dir/here;
    task required;
}
tool maybe {
    description "Says something.";
    exec sh -c 'cat; echo aside >&2';
    task;
}
tool json {
    description "It.";
    exec echo '{"a": [1, "\x{e4}"]}';
    output json;
    task optional;
}
tool whole {
    description "It.";
    exec echo '{"content":[{"type":"text","text":"no"}],"isError":true}';
    output result;
    task optional;
}
tool fails { description "It."; task optional;
    exec sh -c 'echo out; echo why >&2; exit 3'; }
tool three { description "It."; exec sh -c 'exit 3'; success 0 3;
    task optional; }
tool much { description "It."; exec seq 100000; max_output 1k; task optional; }
tool slow { description "It."; exec sleep 1000; timeout 100ms; task optional; }
tool large { description "It."; exec seq 10000; max_output 100 spill;
    task optional; }
tool hi { description "It."; return hi; }
END
$tools =~ s/\x{e4}/ä/;
$tg->conf($tools)->start;
my $c = $tg->connect;
$c->rpc('initialize', { protocolVersion => '2025-06-18' });

sub meta { return (_meta => { 'toolgate/task' => $_[0] // \1 }) }
sub answer {
    my ($name, $arguments, @more) = @_;
    return $c->result_of('tools/call', name => $name,
        arguments => $arguments // {}, @more);
}
sub task { return $c->result_of('task.get', taskId => $_[0]) }
sub ended {
    my ($id) = @_;
    my $task;
    do { $task = $c->result_of('task.wait', taskId => $id) }
        while $task->{state} =~ /queued|running/;
    return $task;
}
sub becomes {
    my ($name, $arguments) = @_;
    return answer($name, $arguments, meta())->{structuredContent}{taskId};
}

# --- what is told of them

my %tools = map { $_->{name} => $_ }
    @{ $c->rpc('tools/list')->{result}{tools} };
is_deeply $tools{build}{_meta}, { 'toolgate/task' => 'required' }, 'required';
is_deeply $tools{maybe}{_meta}, { 'toolgate/task' => 'optional' }, 'optional';
ok !exists $tools{hi}{_meta}, 'or neither';
ok !exists $tools{task_submit}, 'without agents, nothing can be submitted';
like $tools{task_list}{inputSchema}{properties}{agent}{description},
    qr/tool:NAME/, 'those that do tasks are tools';

# --- required

$tg->file('log.run', '');
my $answer = answer('build', { what => 'all' });
my $id = $answer->{structuredContent}{taskId};
is_deeply $answer, {
    content => [ { type => 'text', text => 'This call has become a background '
        . 'task, which continues after this conversation ends. Its taskId is '
        . 'task-0000. task_wait waits for its result, task_get returns its '
        . 'current state, task_cancel stops it.' } ],
    structuredContent => { taskId => 'task-0000', state => 'queued' },
    isError => JSON::PP::false,
}, 'a call has become a task';
wait_for { -s "$dir/log" } 'it to begin';
my $task = task($id);
like $task->{pid}, qr/^\d+$/, 'it runs';
is_deeply [ @$task{qw(prompt agent priority state owner metadata result)} ],
    [ '{"what":"all"}', 'tool:build', 0, 'running', "$>",
        { source => 'tool', tool => 'build' }, undef ], 'what is told of it';
undef $c;
$tg->reload;
$tg->kill_workers($tg->worker_pids);
$c = $tg->connect;
is task($id)->{pid}, $task->{pid},
    'the task continues without its client and worker';
unlink "$dir/log.run";
$task = ended($id);
is_deeply [ @$task{qw(state error)} ], [ 'completed', undef ], 'it ends';
is_deeply $task->{result}, { content => [ { type => 'text',
    text => "done in all of $dir/here\n" } ], isError => JSON::PP::false },
    'its result, with its environment and folder';
is $c->result_of('task.output', taskId => $id)->{output},
    "done in all of $dir/here\n", 'and its output';
is slurp("$dir/log"), "begun\nended\n", 'it ran once';
my $error = $c->rpc('tools/call', { name => 'build',
    arguments => { no => 1 } })->{result};
ok $error->{isError}, 'arguments are checked before it is one';

# --- optional: at the caller's wish

like $_->{content}[0]{text}, qr/^\{"a":1\}/, 'no wish: answered at once'
    for answer('maybe', { a => 1 }),
    answer('maybe', { a => 1 }, meta(\0)),
    answer('maybe', { a => 1 }, meta('yes')),
    answer('maybe', { a => 1 }, task => { ttl => 1000 });
is scalar @{ $c->result_of('task.list') }, 1, 'that makes no task';
is becomes('maybe', { a => 1 }), 'task-0001', 'a wish';
like ended('task-0001')->{output}, qr/^\{"a":1\}aside$/, 'all of its output';

# --- each comes to what the same call is answered with

for my $name (qw(maybe json whole fails three much slow)) {
    my $now = answer($name, { x => 1 });
    my $task = ended(becomes($name, { x => 1 }));
    my $later = $task->{result};

    # Waiting and running times differ.
    s/(?:waited|ran) \K\d+/N/g
        for $now->{content}[0]{text}, $later->{content}[0]{text},
        $task->{error} // ();
    is_deeply $later, $now, "$name: the same later";
    my $is_failed = $name =~ /fails|much|slow/;
    is $task->{state}, $is_failed ? 'failed' : 'completed', "$name: its state";
    is $task->{error}, $is_failed ? $now->{content}[0]{text} : undef,
        "$name: and error";
}
is_deeply ended(becomes('json'))->{result}{structuredContent},
    { a => [ 1, "\x{e4}" ] }, 'JSON';
ok ended(becomes('whole'))->{result}{isError}, 'an error of its own';
like ended(becomes('large'))->{result}{content}[0]{text}, qr/toolgate_output/,
    'what is too large is kept in a file';

like + ($tg->cli('task', 'get', becomes('three')))[1], qr/^agent +tool:three$/m,
    'as people see it';
like + ($tg->cli('task', 'get', 'task-0001'))[1],
    qr/^result:\n\n\{"a":1\}\n\nend of the output:/m, 'with its result';

# --- the modern era, and the other dialects

my $modern = $tg->connect;
my $reply = $modern->rpc('tools/call', { name => 'maybe', arguments => {},
    _meta => { 'io.modelcontextprotocol/protocolVersion' => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => {},
        'toolgate/task' => \1 } });
is $reply->{result}{resultType}, 'complete', 'modern: it is an answer';
is ended($reply->{result}{structuredContent}{taskId})->{state}, 'completed',
    'and a task';
my $ipc = $tg->connect->ipc_call('build', { what => 'ipc' });
($id) = $c->encode($ipc) =~ /Its taskId is (task-\d+)/;
is ended($id)->{prompt}, '{"what":"ipc"}', 'ipc: a task';

my $bridge = $tg->bridge;
$bridge->rpc('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 'agent', version => '1' } });
$bridge->notify('notifications/initialized');
$reply = $bridge->rpc('tools/call', { name => 'maybe', arguments => {},
    meta() });
is ended($reply->{result}{structuredContent}{taskId})->{state}, 'completed',
    'an agent behind a bridge: a task';

# --- cancel, list, and who may not

$tg->file('log.run', '');
$id = answer('build')->{structuredContent}{taskId};
wait_for { task($id)->{state} eq 'running' } 'it to run';
ok $c->result_of('task.cancel', taskId => $id)->{cancelled}, 'cancelled';
$task = task($id);
is_deeply [ @$task{qw(state result error)} ], [ 'cancelled', undef, undef ],
    'without a result';
is_deeply [ map { $_->{id} } @{ $c->result_of('task.list',
        agent => 'tool:build') } ], [ $id, (sort map { $_->{id} }
        grep { $_->{prompt} =~ /ipc/ } @{ $c->result_of('task.list',
            limit => 1000) })[0], 'task-0000' ], 'a list';
for my $agent ('tool:build', 'tool:', 'other') {
    my $error = $c->rpc('task.submit', { prompt => '{}', agent => $agent })
        ->{error};
    is $error->{code}, -32602, "$agent: cannot be submitted to";
}
my $long = answer('maybe', { a => 'x' x 1_100_000 }, meta());
ok $long->{isError}, 'arguments that are too long';
like $long->{content}[0]{text}, qr/may have at most 1 MiB/, 'it says so';

done_testing;
