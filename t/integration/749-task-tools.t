#!/usr/bin/perl
# Tasks for agents: the tools of task_tools, their descriptions and results.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $say = 'task_agent say { exec echo $task_prompt; default; }';
my $sh = 'task_agent sh { exec sh -c $task_prompt; }';
$tg->conf("$say $sh task_tools on;")->start;
my $c = $tg->connect;
$c->rpc('initialize', { protocolVersion => '2025-06-18' });

sub tools {
    return { map { $_->{name} => $_ }
            @{ $c->rpc('tools/list')->{result}{tools} } };
}
my $tools = tools();
is join(' ', sort keys %$tools),
    'task_cancel task_get task_list task_submit task_wait', 'the tools';
ok $_->{description}, "$_->{name}: what it is for" for values %$tools;
my $schema = $tools->{task_submit}{inputSchema};
is_deeply $schema->{properties}{agent}{enum}, [qw(say sh)],
    'which agents there are';
like $schema->{properties}{agent}{description}, qr/default say$/,
    'and which is the default';
is_deeply $schema->{required}, ['prompt'], 'what is needed';
is $tools->{task_get}{annotations}{readOnlyHint}, JSON::PP::true,
    'what only looks, says so';

sub call {
    my ($name, %arguments) = @_;
    my $result = $c->call_tool($name, \%arguments)->{result};
    die "$name: " . text_of({ result => $result }) . "\n" if $result->{isError};
    is_deeply $c->decode($result->{content}[0]{text}),
        $result->{structuredContent}, "$name: the same as text"
        if $result->{structuredContent};
    return $c->decode($result->{content}[0]{text});
}
sub fails {
    my ($like, $name, %arguments) = @_;
    my $result = $c->call_tool($name, \%arguments)->{result};
    ok $result->{isError}, "$name: an error";
    like $result->{content}[0]{text}, $like, "$name: it says why";
}

is_deeply call('task_submit', prompt => 'hello', metadata => { a => 1 }),
    { taskId => 'task-0000', state => 'queued' }, 'submitted';
my $task = call('task_wait', taskId => 'task-0000');
is "$task->{state} $task->{result}", 'completed hello', 'it is waited for';
is_deeply call('task_get', taskId => 'task-0000'), $task, 'as task_get has it';
$tg->file('run', '');
my $id = call('task_submit', agent => 'sh',
    prompt => "echo begun; while [ -e $dir/run ]; do sleep 0.01; done; exit 3")
    ->{taskId};
like call('task_wait', taskId => $id, timeout => 0)->{state},
    qr/^(?:queued|running)$/, 'it is not waited for in vain';
is_deeply [ map {"$_->{id} $_->{agent}"} @{ call('task_list') } ],
    [ "$id sh", 'task-0000 say' ], 'a list';
is_deeply [ map { $_->{id} } @{ call('task_list', state => 'completed',
        limit => 3) } ], ['task-0000'], 'of some';
is_deeply call('task_list', agent => 'sh', state => 'failed'), [], 'or none';

# A waiting call gets progress, and then the end.
my $wait = $c->request('tools/call', {
    name      => 'task_wait',
    arguments => { taskId => $id, timeout => 3600 },
    _meta     => { progressToken => 'w' },
});
my $progress;
wait_for {
    $progress = $c->notification('notifications/progress')->{params};
    $progress->{message} =~ /so far: 6 bytes$/;
} 'the task to have put something out';
is $progress->{progressToken}, 'w', 'progress of the call';
like $progress->{message}, qr/^$id is running, output so far: 6 bytes$/,
    'how far';
unlink "$dir/run";
$task = $c->decode($c->reply($wait)->{result}{content}[0]{text});
is "$task->{state} $task->{output}", 'failed begun', 'its end';
like $task->{error}, qr/^sh exited with status 3/, 'and why';

# Cancelled, also while another client waits.
$tg->file('run', '');
$id = call('task_submit', agent => 'sh', prompt => 'sleep 3600')->{taskId};
my $other = $tg->connect;
$wait = $other->request('tools/call',
    { name => 'task_wait', arguments => { taskId => $id, timeout => 3600 } });
$other->rpc('ping');
is_deeply call('task_cancel', taskId => $id), { cancelled => JSON::PP::true },
    'cancelled';
is $c->decode($other->reply($wait)->{result}{content}[0]{text})->{state},
    'cancelled', 'a waiting client is notified';

# Mistakes.
fails(qr/^Task not found/, $_, taskId => 'task-0099')
    for qw(task_get task_wait task_cancel);
fails(qr/^Task not cancellable/, 'task_cancel', taskId => 'task-0000');
fails(qr/taskId/, 'task_get');
fails(qr/agent/, 'task_submit', prompt => 'x', agent => 'nobody');
fails(qr/prompt/, 'task_submit');
fails(qr/^cwd: /, 'task_submit', prompt => 'x', cwd => 'src');
fails(qr/timeout/, 'task_wait', taskId => $id, timeout => 3601);
fails(qr/note/, 'task_list', note => 1);

# No agent is the default; with methods there are no tools, and vice versa.
$tg->reload("$sh task_tools on;");
is_deeply tools()->{task_submit}{inputSchema}{required}, [qw(prompt agent)],
    'one must be named';
like $c->rpc('task.list')->{error}{message}, qr/not found/i, 'no methods';
$tg->reload("$say task_methods on;");
is_deeply tools(), {}, 'no tools';
is $c->rpc('task.wait', { taskId => 'task-0000' })->{result}{result}, 'hello',
    'what was done stays';

done_testing;
