#!/usr/bin/perl
# Rules of machines whose tasks are in PostgreSQL: their state, which is each
# machine's own, survives a kill, a restart and an absent database, as in a
# file; a rule's task is stored together with its execution.

use Toolgate::Test qw(Postgres);

my @tg = map { Toolgate::Test->new(workers => 1) } 1 .. 2;
my $db = Toolgate::Postgres->new(Toolgate::Test->new);
# The machine that runs a task is notified of it.
my $conf = 'task_store ' . $db->uri . <<'END';
 lease=5m;
task_agent sh { exec sh -c $task_prompt; default; }
task_methods on;
END
my $rules = $conf . <<'END';
automation mend {
    trigger event type=task.failed;
    when    metadata.suite exists;
    agent   sh "echo mended {{id}}";
}
automation ask {
    trigger  event type=task.completed;
    when     metadata.ask exists;
    agent    sh "echo asked {{metadata.ask}}";
    approval required;
}
automation cool {
    trigger  event type=task.completed;
    when     metadata.cool exists;
    notify   "{{metadata.cool}} \"{{metadata.text}}\"";
    cooldown 1h;
}
automation off {
    trigger event type=task.completed;
    notify  off;
    enabled off;
}
END
# The other machine has the same rule, and its own state.
my $other = ($conf =~ s/task_agent sh/task_agent there/r) . <<'END';
automation cool {
    trigger  event type=task.completed;
    when     metadata.cool exists;
    notify   "{{metadata.cool}}";
    cooldown 1h;
}
END
my @c;
sub begin {
    my ($i, $body) = @_;
    $tg[$i]->conf($body)->start if $body;
    $c[$i] = $tg[$i]->connect;
    call($i, 'task.stats');
}
sub call {
    my ($i, $method, %params) = @_;
    return $c[$i]->result_of($method, %params);
}
sub runner { return $tg[ $_[0] ]->runner_pid }
sub submit { return call(shift, 'task.submit', @_)->{taskId} }
sub ended {
    my ($i, $id) = @_;
    my $task;
    wait_for {
        $task = call($i, 'task.get', taskId => $id);
        $task->{completedAt};
    } "$id to end";
    return $task;
}
# Returns the stored executions of a rule.
sub executions {
    my ($i, $rule) = @_;
    return grep { $_->{ruleId} eq $rule && $_->{status} ne 'new' }
        @{ call($i, 'automation.status')->{recentExecutions} };
}
sub execution {
    my ($i, $rule, $n) = @_;
    my @all;
    wait_for { @all = executions($i, $rule); @all >= ($n // 1) }
        "$rule to fire";
    return $all[0];
}
sub notes {
    return split /\n/, $db->sql('SELECT key FROM toolgate_note WHERE place '
        . "LIKE '%" . $tg[ $_[0] ]->state_dir . "' ORDER BY key");
}

begin(0, $rules);
begin(1, $other);

# --- what fires, and what is written of it

my $failed = submit(0, prompt => 'exit 1', metadata => { suite => 'unit' });
my $mend = execution(0, 'mend');
is $mend->{status}, 'submitted', 'a rule fires';
my $task = ended(0, $mend->{taskId});
is $task->{result}, "mended $failed", 'its task is done';
is $task->{metadata}{executionId}, $mend->{executionId}, 'which is known';
is_deeply [ grep { $_ eq "execution/$mend->{executionId}" } notes(0) ],
    [ "execution/$mend->{executionId}" ], 'it is in the database';
ended(0, submit(0, prompt => 'true',
        metadata => { ask => 'first', text => "\"'\\ \x{e4}\n" }));
my $first = execution(0, 'ask');
is $first->{status}, 'pending_approval', 'one waits for approval';
ended(0, submit(0, prompt => 'true',
        metadata => { cool => 'one', text => "'; \\ \"\x{20ac}" }));
is execution(0, 'cool')->{status}, 'notified', 'one has a cooldown';
is_deeply call(0, 'automation.enable', ruleId => 'off'),
    { success => JSON::PP::true }, 'one is enabled';
is_deeply call(0, 'automation.disable', ruleId => 'mend'),
    { success => JSON::PP::true }, 'one is disabled';

# --- each machine has its own

ended(1, submit(1, prompt => 'true', metadata => { cool => 'two' }));
is execution(1, 'cool')->{status}, 'notified',
    'what has cooled down there is not what has here';
is_deeply [ executions(1, 'ask'), executions(1, 'mend') ], [],
    'nor does it see the other one\'s';
ended(0, submit(0, prompt => 'true', agent => 'there',
        metadata => { ask => 'there' }));
is scalar executions(0, 'cool'), 1, 'and the other way round';
is scalar executions(0, 'ask'), 1,
    'rules of the other runner receive events of its tasks';
ok !(grep { $_ eq 'rule/mend' } notes(1)), 'as it is in the database';

# --- everything survives a restart

my $off = 0;
sub holds {
    my ($when) = @_;
    my $status = call(0, 'automation.status');
    is_deeply [ sort map { $_->{id} } grep { !$_->{enabled} }
            @{ $status->{rules} } ], ['mend'],
        "$when: rules are as clients have said";
    is_deeply [ map { $_->{status} } executions(0, 'ask') ],
        ['pending_approval'], "$when: what waits for approval waits on";
    my $id = submit(0, prompt => 'true', metadata => { cool => $when });
    ended(0, $id);
    # An event for each.
    wait_for { executions(0, 'off') > $off } "$when: another rule to fire";
    $off = executions(0, 'off');
    is scalar executions(0, 'cool'), 1, "$when: the cooldown continues";
}
holds('now');
my $runner = runner(0);
kill KILL => $runner, parent_of($runner);
wait_for { !is_alive($runner) } 'the runner to be gone';
$c[0] = $tg[0]->connect;
wait_for { eval { call(0, 'task.stats') } } 'the next one';
holds('killed');
$db->stop('QUIT');
my $asked = $c[0]->request('automation.approve',
    { executionId => $first->{executionId}, approve => \1 });
$db->start;
my $reply = $c[0]->reply($asked)->{result};
is $reply->{status}, 'submitted', 'approved while the database was away';
is ended(0, $reply->{taskId})->{result}, 'asked first', 'it is done';
is $db->sql("SELECT count(*) FROM toolgate_task WHERE metadata LIKE "
    . "'%$first->{executionId}%'"), 1, 'once';
$runner = runner(0);
undef $c[0];
$tg[0]->stop;
wait_for { !is_alive($runner) } 'its runner to leave';
begin(0, $rules);
is_deeply [ map { $_->{status} } executions(0, 'ask') ], ['submitted'],
    'after a restart it is known to be';
is execution(0, 'ask')->{taskId}, $reply->{taskId}, 'as which task';
is_deeply call(0, 'automation.enable', ruleId => 'mend'),
    { success => JSON::PP::true }, 'a rule is enabled again';
$failed = submit(0, prompt => 'exit 1', metadata => { suite => 'unit' });
my $again = wait_for {
    my ($last) = grep { $_->{executionId} ne $mend->{executionId} }
        executions(0, 'mend');
    $last;
} 'it to fire';
is ended(0, $again->{taskId})->{result}, "mended $failed", 'and does';

$_->stop for @tg;
wait_for { !$tg[0]->runner_pids } 'the runners to leave';

done_testing;
