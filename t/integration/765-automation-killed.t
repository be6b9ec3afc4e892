#!/usr/bin/perl
# The runner is killed during executions: a rule's running task, a pending
# approval, a webhook in transit, and many that fire at that moment. None fires
# twice, and waiting ones are not lost.

use Toolgate::Test qw(Web);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $web = Toolgate::Web->new($tg);
my $url = $web->url;
$tg->conf(<<"END")->start;
task_agent sh { exec sh -c \$task_prompt; default; }
task_agent echo { exec echo \$task_prompt; }
task_methods on;
automation run {
    trigger event type=task.completed;
    when    metadata.do eq run;
    agent   sh "echo >>$dir/ran; exec sleep 3607";
}
automation ask {
    trigger  event type=task.completed;
    when     metadata.do eq ask;
    agent    echo "asked {{id}}";
    approval required;
}
automation hook {
    trigger event type=task.completed;
    when    metadata.do eq hook;
    webhook $url/wait/hook;
}
automation many {
    trigger event type=task.completed;
    when    metadata.do eq many;
    agent   echo "{{id}}";
}
END

my $c = $tg->connect;
sub call { return $c->result_of(@_) }
sub submit {
    return call('task.submit', prompt => 'true',
        metadata => { do => $_[0] })->{taskId};
}

# Returns the executions of a rule, once one has this state.
sub executions {
    my ($rule, $status) = @_;
    my @found;
    wait_for {
        @found = grep { $_->{ruleId} eq $rule }
            @{ call('automation.status')->{recentExecutions} };
        return @found && (!$status || $found[-1]{status} eq $status);
    } "rule $rule: $status";
    return @found;
}

# Returns when another one serves.
sub kill_runner {
    my $runner = $tg->runner_pid;
    end_process($runner, 'KILL');
    $c = $tg->connect;
    wait_for { eval { call('automation.status'); 1 } } 'another runner';
    isnt $tg->runner_pid, $runner, 'the runner was killed';
}

# --- before

submit('run');
my ($run) = executions('run', 'submitted');
wait_for { -e "$dir/ran" } 'its task to run';
my $asking = submit('ask');
my ($ask) = executions('ask', 'pending_approval');
submit('hook');
my ($hook) = executions('hook', 'webhook_pending');
$web->wait_file('hang.hook');

kill_runner();

# --- after

is_deeply [ executions('run', 'submitted') ], [$run],
    'what ran: its record is as it was';
my $task = call('task.get', taskId => $run->{taskId});
is $task->{state}, 'failed', 'its task has failed';
like $task->{error}, qr/^interrupted/, 'it says why';
is slurp("$dir/ran"), "\n", 'it ran once';

is_deeply [ executions('ask', 'pending_approval') ], [$ask],
    'what waits for approval waits on';
my $yes = call('automation.approve', executionId => $ask->{executionId},
    approve => \1);
is $yes->{status}, 'submitted', 'and is approved';
is call('task.get', taskId => $yes->{taskId})->{prompt}, "asked $asking",
    'for what it was asked';
my $again = $c->rpc('automation.approve',
    { executionId => $ask->{executionId}, approve => \1 });
is $again->{error}{code}, -32602, 'once';

$web->touch('go.hook');
my ($sent) = executions('hook', 'webhook_sent');
is $sent->{executionId}, $hook->{executionId}, 'the webhook is sent after all';
my %ids = map { $_->{headers}{'webhook-id'} => 1 } $web->requests;
is_deeply [ keys %ids ], [ $hook->{executionId} ], 'each try had its id';
cmp_ok scalar $web->requests, '>=', 2, 'it was tried again';

# --- many, and killed while they fire

my @submitted;
for my $round (1 .. 4) {
    $c->request('task.submit', { prompt => 'true',
        metadata => { do => 'many' } }) for 1 .. 25;
    wait_for { grep { $_->{agent} eq 'echo' && $_->{prompt} =~ /^task/ }
            @{ call('task.list', agent => 'echo', limit => 1000) } }
        'the first to fire';
    kill_runner();
}
wait_for {
    my $stats = call('task.stats');
    return !$stats->{queued} && !$stats->{running};
} 'all to have ended';
my @tasks = @{ call('task.list', limit => 1000) };
my %ended = map { $_->{id} => $_->{state} }
    grep { ($_->{metadata}{do} // '') eq 'many' } @tasks;
my %made;
push @{ $made{ $_->{prompt} } }, $_->{id}
    for grep { ($_->{metadata}{ruleId} // '') eq 'many' } @tasks;
cmp_ok scalar keys %made, '>', 0, 'many have fired';
is_deeply [ grep { @{ $made{$_} } > 1 } keys %made ], [], 'none of them twice';
is_deeply [ grep { ($ended{$_} // '') ne 'completed' } keys %made ], [],
    'and none for a task that has not completed';
my %execution = map { $_->{metadata}{executionId} => 1 }
    grep { ($_->{metadata}{ruleId} // '') eq 'many' } @tasks;
is scalar keys %execution, scalar keys %made, 'each is an execution of its own';

done_testing;
