#!/usr/bin/perl
# Tools with `task` whose limits change while tasks wait: the new ones apply to
# calls and tasks; waiting tasks have no process; and invisible tools are not
# mentioned.

use Toolgate::Test qw(User);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
sub until_gone {
    return "sh -c 'while [ -e $dir/$_[0] ]; do sleep 0.01; done'";
}

sub conf {
    my ($concurrency) = @_;
    return <<"CONF";
tool_socket_mode 0666;
task_methods on;
task_tools on;
task_concurrency 1;
task_agent block { exec @{[ until_gone("block") ]}; default; }
tool one {
    description "Waits.";
    exec @{[ until_gone("one") ]};
    concurrency $concurrency queue=10;
    task optional;
}
tool hidden { description "Hidden."; exec true; task; deny all; }
CONF
}
$tg->conf(conf(4))->start;
my $c = $tg->connect;
$c->rpc('ping');

sub runner { return $c->result_of('toolgate.status')->{runners}[0] }
sub running {
    return $c->result_of('daemon.status')->{subsystems}{supervisor}{tasks}
        {running};
}
sub direct {
    my $client = $tg->connect;
    return [ $client,
        $client->request('tools/call', { name => 'one', arguments => {} }) ];
}

# --- a task of the old config, and calls of the new one

$tg->file($_, '') for 'block', 'one';
$c->result_of('task.submit', prompt => '-');
wait_for { grep { $_->{pid} } @{ running() } } 'another task to run';
my $id = $c->result_of('tools/call', name => 'one', arguments => {},
    _meta => { 'toolgate/task' => \1 })->{structuredContent}{taskId};
$tg->reload(conf(1));
my $first = direct();
wait_for { runner()->{running} == 2 } 'a call to run';
my $second = direct();
wait_for { runner()->{queued} == 1 } 'another one to wait';
unlink "$dir/block";
wait_for { grep { $_->{id} eq $id } @{ running() } } 'the task to be next';
my $runner;
wait_for { $runner = runner(); $runner->{queued} == 2 } 'it to wait';
is $runner->{running}, 1, 'one of the tool at a time, as the new config says';
is $runner->{queued}, 2, 'the task and a call wait';
is running()->[0]{pid}, undef, 'what waits for a place has no process';
my $task = $c->result_of('task.get', taskId => $id);
is "$task->{state} " . ($task->{pid} // 'none'), 'running none',
    'as task.get says, too';
like + ($tg->cli(qw(daemon status)))[1], qr/^$id +running +- /m,
    'people see it';
unlink "$dir/one";
ok !$_->[0]->reply($_->[1])->{result}{isError}, 'the call is answered'
    for $first, $second;
is $c->result_of('task.wait', taskId => $id)->{state}, 'completed',
    'and the task has ended';

# --- names

my ($list) = grep { $_->{name} eq 'task_list' }
    @{ $c->rpc('tools/list')->{result}{tools} };
unlike $c->encode($list), qr/hidden/, 'a tool that nobody may see';
is_deeply [ map { $_->{id} } @{ $c->decode($c->call_tool('task_list',
        { agent => 'tool:one' })->{result}{content}[0]{text}) } ], [$id],
    'but its tasks can be listed by their tool';

done_testing;
