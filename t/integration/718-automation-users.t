#!/usr/bin/perl
# Rules and users: what a rule makes of a user's task is that user's; clients
# that see all tasks disable rules and approve executions.

use Toolgate::Test qw(User);

plan(skip_all => 'only root can be other users')
    if !Toolgate::User::is_possible();

my ($ann, $bob) = (54321, 54322);
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
tool_socket_mode 0666;
task_agent sh { exec sh -c $task_prompt; default; }
task_agent echo { exec echo $task_prompt; }
task_methods on;
automation ask {
    trigger  event type=task.completed;
    when     metadata.ask exists;
    agent    echo "asked {{metadata.ask}}";
    approval required;
}
automation tell {
    trigger event type=task.completed;
    when    metadata.tell exists;
    notify  "{{metadata.tell}}";
}
automation files {
    trigger file %DIR%/watched debounce=0;
    notify  "{{path}}";
}
END
$conf =~ s/%DIR%/$dir/;
mkdir "$dir/watched" or die;
chmod 0755, "$dir/watched";
$tg->conf($conf)->start;

sub as {
    my ($uid) = @_;
    my $c = Toolgate::User::as($uid, [$uid], sub { $tg->connect });
    $c->rpc('ping');
    return $c;
}
my ($one, $two, $root) = (as($ann), as($bob), $tg->connect);
$root->rpc('ping');

sub call { return shift->result_of(@_) }
sub told {
    my ($c, $method) = @_;
    return $c->recv_where(sub { ($_[0]{method} // '') eq $method },
        undef, $method)->{params};
}
sub statuses {
    return join ' ', map {"$_->{ruleId}:$_->{status}"}
        @{ call($_[0], 'automation.status')->{recentExecutions} };
}

# --- a user's task

call($one, 'task.submit', prompt => 'true', metadata => { tell => 'hush' });
is told($one, 'automation.notify')->{message}, 'hush', 'its user is notified';
is told($root, 'automation.notify')->{message}, 'hush', 'and root';
call($one, 'task.submit', prompt => 'true', metadata => { ask => 'why' });
my $id = told($one, 'automation.notify')->{executionId};
is told($root, 'automation.notify')->{executionId}, $id, 'of approval, too';
is statuses($one), 'tell:notified ask:pending_approval', 'it sees its own';
is statuses($two), '', 'another user sees none';
is statuses($root), 'tell:notified ask:pending_approval', 'root sees all';

# --- who may change rules

for (map { ["automation.$_->[0]", $_->[1]] } [ enable => {} ],
    [ disable => { ruleId => 'ask' } ],
    [ approve => { executionId => $id, approve => \1 } ])
{
    my ($method, $params) = @$_;
    for my $c ($one, $two) {
        my $error = $c->rpc($method, $params)->{error};
        is $error->{code}, -32601, "$method: not for everybody";
        like $error->{message}, qr/clients that see all tasks/, 'it says so';
    }
}
my $done = call($root, 'automation.approve', executionId => $id,
    approve => \1);
is $done->{status}, 'submitted', 'root approves';
is told($one, 'automation.fired')->{ruleId}, 'tell',
    'the user is notified of the rule';
is told($one, 'automation.fired')->{taskId}, $done->{taskId},
    'the user is notified of the task';
is call($one, 'task.get', taskId => $done->{taskId})->{owner}, $ann,
    'it is the user\'s task';
is $two->rpc('task.get', { taskId => $done->{taskId} })->{error}{code}, -32000,
    'and nobody else\'s';

# --- events without an owner

wait_for { call($root, 'daemon.status')->{subsystems}{file_watcher}{ready} }
    'files to be watched';
$tg->file('watched/new', '');
is told($_, 'automation.notify')->{message}, "$dir/watched/new",
    'a message about files is for all'
    for $one, $two, $root;

done_testing;
