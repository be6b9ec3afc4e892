#!/usr/bin/perl
# Tools with `task` on several machines with one store: those with the tool run
# its tasks, with the arguments of the call; and rules about them.

use Toolgate::Test qw(Postgres);

my @machines = map { Toolgate::Test->new } 1 .. 2;
my $db = Toolgate::Postgres->new(Toolgate::Test->new);
my $store = 'task_store ' . $db->uri . '; task_methods on;';
my $tool = <<'END';
tool say {
    description "Says something.";
    exec echo '{"said":"$tool_arg_what"}';
    output json;
    task required;
}
END
my $rule = <<'END';
automation wrong {
    trigger event type=task.completed;
    when    metadata.tool eq say;
    when    result.structuredContent.said eq x;
    notify  "{{id}} said {{result.structuredContent.said}}";
}
END
# The second one has no such tool, and only shows them.
$machines[0]->conf("$store $tool $rule")->start;
$machines[1]->conf("$store task_agent none { exec true; }")->start;
my ($c, $other) = map { $_->connect } @machines;
$_->rpc('ping') for $c, $other;

sub call {
    my ($what) = @_;
    my $result = $c->result_of('tools/call', name => 'say',
        arguments => { what => $what });
    return $result->{structuredContent}{taskId};
}
sub ended {
    my ($client, $id) = @_;
    my $task;
    wait_for {
        $task = $client->result_of('task.get', taskId => $id);
        $task->{completedAt};
    } "$id to end";
    return $task;
}

my $id;
wait_for { $id = call('x') } 'the store to know the tool';
my $task = ended($other, $id);
is_deeply [ @$task{qw(state agent prompt)} ],
    [ 'completed', 'tool:say', '{"what":"x"}' ], 'a task, as the other sees it';
is_deeply $task->{result}, { content => [ { type => 'text',
    text => '{"said":"x"}' } ], structuredContent => { said => 'x' },
    isError => JSON::PP::false }, 'and its result';
is_deeply ended($c, $id), $task, 'as the one that has it';
is $c->recv_where(sub { ($_[0]{method} // '') eq 'automation.notify' })
    ->{params}{message}, "$id said x", 'rules see it, too';
is $db->sql('SELECT count(*) FROM toolgate_task WHERE job IS NOT NULL'), 0,
    'nothing is kept of what it ran';
is $other->rpc('task.submit', { agent => 'tool:say', prompt => '{}' })
    ->{error}{code}, -32602, 'clients cannot submit to it';

$_->stop for @machines;
done_testing;
