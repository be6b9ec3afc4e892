#!/usr/bin/perl
# Rules about tasks: conditions, templates, actions, approval, cooldown, chains,
# what is stored, and what clients see.

use Toolgate::Test;

my $json = JSON::PP->new->canonical;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
task_agent sh { exec sh -c $task_prompt; default; }
task_agent echo { exec echo $task_prompt; }
task_methods on;
automation tests-broke {
    description "Mends what broke.";
    trigger  event type=task.failed source=tasks;
    when     metadata.suite eq unit;
    when     error matches "FAILED \d+";
    agent    echo "Mend {{payload.id}}: {{error}} {{none}} {{metadata}}";
    priority 5;
}
automation tell {
    trigger event pattern=^task.completed:tasks$;
    when    agent neq echo;
    notify  "{{id}} is done" channel=ops;
}
automation ask {
    trigger  event type=task.completed;
    when     metadata.ask exists;
    agent    echo "asked {{metadata.ask}}";
    approval required;
}
automation loop {
    trigger event type=task.completed;
    when    metadata.loop eq on;
    agent   echo again;
}
automation cool {
    trigger  event type=task.completed;
    when     metadata.cool eq on;
    notify   cool;
    cooldown 1h;
}
automation off {
    trigger event type=task.completed;
    notify  off;
    enabled off;
}
automation_file %%DIR%%/rules.json;
END
# As the daemon's own project writes rules; one that triggers itself.
$tg->file('rules.json', $json->encode({ rules => [ {
    id => 'chain', trigger => { type => 'task.completed' },
    conditions => [ { field => 'payload.metadata.ruleId', operator => 'equals',
        value => 'chain' } ],
    action => { type => 'agent', agent => 'echo', prompt => 'on and on' },
} ] }));
$tg->conf($conf)->start;

my $c = $tg->connect;
my $hears = $tg->connect;
$hears->rpc('ping');

sub call { return $c->result_of(@_) }
sub error {
    my ($code, $like, $method, $params) = @_;
    my $error = $c->rpc($method, $params)->{error};
    is $error->{code}, $code, "$method: $code";
    like $error->{message}, $like, "$method: it says what";
}
sub status { return call('automation.status') }
sub told {
    my ($method, %like) = @_;
    return $hears->recv_where(sub {
        my ($told) = @_;
        return ($told->{method} // '') eq $method
            && !grep { ($told->{params}{$_} // '') ne $like{$_} } keys %like;
    }, undef, "$method " . $json->encode(\%like))->{params};
}
sub task {
    my ($id) = @_;
    my $task;
    wait_for { $task = call('task.get', taskId => $id); $task->{completedAt} }
        "$id to end";
    return $task;
}
sub submit { return call('task.submit', @_)->{taskId} }
sub executions {
    my ($rule) = @_;
    return grep { $_->{ruleId} eq $rule } @{ status()->{recentExecutions} };
}

# --- the initial state

my $status = status();
my $time = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
ok $status->{enabled}, 'rules fire';
is $status->{ruleCount}, 7, 'so many';
is_deeply $status->{recentExecutions}, [], 'none has fired';
is_deeply $status->{rules}[0], {
    id          => 'tests-broke',
    description => 'Mends what broke.',
    trigger     => { type => 'task.failed', source => 'tasks' },
    action      => { type => 'agent', agent => 'echo', priority => 5,
        prompt => 'Mend {{payload.id}}: {{error}} {{none}} {{metadata}}' },
    enabled          => JSON::PP::true,
    cooldownMs       => 0,
    requiresApproval => JSON::PP::false,
}, 'one of them';
is_deeply [ map { $_->{id} } grep { !$_->{enabled} } @{ $status->{rules} } ],
    ['off'], 'one is not enabled';
is_deeply call('daemon.status')->{subsystems}{automation}, $status,
    'the same of the daemon';

# --- a task that fails

my $id = submit(prompt => 'echo 2 tests FAILED 17 >&2; exit 1',
    metadata => { suite => 'unit' });
my $fired = told('automation.fired');
my $mend = $fired->{taskId};
is_deeply $fired, { executionId => $fired->{executionId},
    ruleId => 'tests-broke', eventType => 'task.failed', taskId => $mend,
    status => 'submitted' }, 'told: it fired';
my $task = task($mend);
is $task->{prompt}, "Mend $id: sh exited with status 1: 2 tests FAILED 17 "
    . '{{none}} {"suite":"unit"}', 'its prompt, with all put in';
is $task->{agent}, 'echo', 'its agent';
is $task->{priority}, 5, 'its priority';
is_deeply $task->{metadata}, { source => 'automation',
    ruleId => 'tests-broke', executionId => $fired->{executionId},
    eventType => 'task.failed', chain => 1 }, 'what it is from';
my ($execution) = executions('tests-broke');
like delete $execution->{timestamp}, $time, 'when it fired';
is_deeply $execution, { executionId => $fired->{executionId},
    ruleId => 'tests-broke', eventType => 'task.failed', taskId => $mend,
    status => 'submitted' }, 'it is among the last executions';

# Neither another suite nor another error.
task(submit(prompt => 'echo FAILED 1 >&2; exit 1',
    metadata => { suite => 'other' }));
task(submit(prompt => 'exit 1', metadata => { suite => 'unit' }));
is scalar executions('tests-broke'), 1, 'conditions';

# --- notify

$id = submit(prompt => 'true');
my $told = told('automation.notify');
like delete $told->{executionId}, qr/^[0-9a-f]{20}$/, 'its execution';
is_deeply $told, { ruleId => 'tell', eventType => 'task.completed',
    message => "$id is done", channel => 'ops' }, 'told: a message';
is told('automation.fired', ruleId => 'tell')->{status}, 'notified',
    'and that it was';

# --- cooldown

task(submit(prompt => 'true', metadata => { cool => 'on' })) for 1 .. 2;
told('automation.fired', ruleId => 'cool');
wait_for { executions('tell') >= 3 } 'what both ended with';
is scalar executions('cool'), 1, 'not again before its cooldown is over';

# --- approval

submit(prompt => 'true', metadata => { ask => 'first' });
$told = told('automation.notify', ruleId => 'ask');
ok $told->{requiresApproval}, 'notified: it waits for approval';
like $told->{message}, qr/waits for approval.*: asked first$/, 'for what';
my $first = $told->{executionId};
is + (executions('ask'))[0]{status}, 'pending_approval', 'so it waits';
error -32602, qr/^executionId: no execution with this id/, 'automation.approve',
    { executionId => 'x', approve => \1 };
my $answer = call('automation.approve', executionId => $first,
    approve => \1);
is_deeply $answer, { success => JSON::PP::true, status => 'submitted',
    taskId => $answer->{taskId} }, 'approved';
is task($answer->{taskId})->{prompt}, 'asked first', 'and done';
error -32602, qr/^executionId: no execution with this id/, 'automation.approve',
    { executionId => $first, approve => \1 };
submit(prompt => 'true', metadata => { ask => 'second' });
my $second = told('automation.notify', ruleId => 'ask')->{executionId};
is_deeply call('automation.approve', executionId => $second, approve => \0),
    { success => JSON::PP::true, status => 'denied' }, 'denied';
told('automation.fired', executionId => $second, status => 'denied');
submit(prompt => 'true', metadata => { ask => 'third' });
my $third = told('automation.notify', ruleId => 'ask')->{executionId};

# --- chains: a rule whose task triggers it again

submit(prompt => 'true', metadata => { ruleId => 'chain' });
my $stopped = told('automation.fired', ruleId => 'chain',
    status => 'stopped');
like $stopped->{error}, qr/triggered itself too often/, 'it is stopped';
my @chain = grep { ($_->{metadata}{ruleId} // '') eq 'chain'
        && ($_->{metadata}{source} // '') eq 'automation' }
    @{ call('task.list', limit => 1000) };
is_deeply [ sort { $a <=> $b } map { $_->{metadata}{chain} } @chain ],
    [ 1 .. 10 ], 'by its bound: ten tasks, one by the other';
is_deeply call('automation.disable', ruleId => 'loop'),
    { success => JSON::PP::true }, 'a rule is disabled';

# --- enabled and disabled

is_deeply call('automation.disable', ruleId => 'none'),
    { success => JSON::PP::false }, 'one that there is not';
is_deeply call('automation.enable', ruleId => 'off'),
    { success => JSON::PP::true }, 'one that the config has off';
task(submit(prompt => 'true'));
is told('automation.fired', ruleId => 'off')->{status}, 'notified', 'is on';

# --- mistakes

error -32602, qr/$_->[0]/, 'automation.approve', $_->[1]
    for [ executionId => { approve => \1 } ],
    [ approve => { executionId => $third } ],
    [ approve => { executionId => $third, approve => 1 } ];
error -32602, qr/ruleId/, "automation.$_", { ruleId => 1 }
    for qw(enable disable);

# --- everything survives a restart

is_deeply call('automation.disable'), { enabled => JSON::PP::false },
    'all is disabled';
$id = submit(prompt => 'true', metadata => { ask => 'nobody' });
task($id);
my $runner = $tg->runner_pid;
undef $c;
undef $hears;
$tg->stop;
wait_for { !kill 0, $runner } 'the runner to leave';
$tg->conf($conf)->start;
$c = $tg->connect;
$hears = $tg->connect;
$hears->rpc('ping');
$status = status();
ok !$status->{enabled}, 'a restart changes nothing: it is disabled';
is_deeply [ sort map { $_->{id} } grep { !$_->{enabled} }
        @{ $status->{rules} } ], ['loop'], 'rules are as clients have said';
ok + (grep { $_->{executionId} eq $third
            && $_->{status} eq 'pending_approval' }
        @{ $status->{recentExecutions} }),
    'what waited for approval waits on';
ok !(grep { ($_->{taskId} // '') eq $id } @{ $status->{recentExecutions} }),
    'and none fired meanwhile';
$answer = call('automation.approve', executionId => $third, approve => \1);
is task($answer->{taskId})->{prompt}, 'asked third', 'and can be approved';
is_deeply call('automation.enable'), { enabled => JSON::PP::true },
    'enabled again';
task(submit(prompt => 'true', metadata => { cool => 'on' }));
told('automation.fired', ruleId => 'off');
is scalar executions('cool'), 0, 'cooldowns go on';
cmp_ok scalar @{ status()->{recentExecutions} }, '<=', 10, 'the last ten';

# --- no rules

$tg->reload('task_agent sh { exec sh -c $task_prompt; default; } '
    . 'task_methods on;');
wait_for {
    ($c->rpc('automation.status')->{error}{code} // 0) == -32003
} 'the new config';
error -32003, qr/^Subsystem unavailable: the config has no rules/,
    "automation.$_->[0]", $_->[1]
    for [ status => {} ], [ enable => {} ], [ disable => { ruleId => 'off' } ],
    [ approve => { executionId => $third, approve => \1 } ];
is_deeply call('daemon.status')->{subsystems}{scheduler},
    { enabled => JSON::PP::false }, 'nor is there anything to schedule';

done_testing;
