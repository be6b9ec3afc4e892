#!/usr/bin/perl
# Owners of tasks: only their user sees them and is notified, besides root, the
# socket's owner and task_admin; or everybody.

use Toolgate::Test qw(User);

plan(skip_all => 'only root can be other users')
    if !Toolgate::User::is_possible();

my ($ann, $bob) = (54321, 54322);
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
tool_socket_mode 0666;
task_agent sh { exec sh -c $task_prompt; default; concurrency 1; }
task_methods on;
END
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
sub code { return shift->rpc(@_)->{error}{code} // 'none' }
sub ids {
    return join ' ', map { $_->{id} =~ /(\d)$/ }
        @{ call(shift, 'task.list', @_) };
}
# Returns its next notification about tasks, with the last digit of the id.
sub told {
    my ($c) = @_;
    my $m = $c->recv_where(sub { ($_[0]{method} // '') =~ /^task\.(?!output)/ },
        undef, 'to be told');
    return join ' ', $m->{method} =~ /(\w+)$/, $m->{params}{taskId} =~ /(\d)$/;
}

my $go = "until [ -e $dir/go ]; do sleep 0.01; done";
my $of_a = call($one, 'task.submit', prompt => "echo secret; $go")->{taskId};
is told($one), "$_ 0", "its user is told: $_" for qw(queued started);
my $of_b = call($two, 'task.submit', prompt => 'true')->{taskId};
is told($two), 'queued 1', 'another user, of another task alone';
is call($one, 'chat.send', message => 'true')->{taskId}, 'task-0002', 'a chat';
is told($one), 'queued 2', 'and not of that one';
is told($root), $_, "root is notified: $_"
    for 'queued 0', 'started 0', 'queued 1', 'queued 2';

# --- visibility

is call($one, 'task.get', taskId => $of_a)->{owner}, $ann, 'whose it is';
for my $method (qw(task.get task.output task.cancel)) {
    is code($two, $method, { taskId => $of_a }), -32000,
        "$method: to others there is none";
}
is ids($one), '2 0', 'its own';
is ids($two), '1', 'the other ones';
is ids($root), '2 1 0', 'root: all';
is ids($two, agent => 'sh', state => 'running'), '', 'nor by its state';
is_deeply call($two, 'task.stats'), { total => 1, queued => 1, running => 0,
    completed => 0, failed => 0, cancelled => 0 }, 'numbers of its own';
my $status = call($two, 'daemon.status')->{subsystems}{supervisor};
is "$status->{running} $status->{queued}", '1 2', 'how much there is to do';
is_deeply [ map { $_->{id} } map { @{ $status->{tasks}{$_} } }
        qw(running queued) ], [$of_b], 'and which of that is its own';
$status = call($root, 'daemon.status')->{subsystems}{supervisor};
is scalar(map { @{ $status->{tasks}{$_} } } qw(running queued)), 3,
    'root: all of it';
is_deeply call($root, 'task.get', taskId => 'task-0002')->{metadata},
    { source => 'ipc-chat' }, 'what a chat is';
is call($one, 'task.get', taskId => 'task-0002')->{priority}, 5,
    'its priority';

# --- visibility after moves, and after cancellations

$tg->reload($conf);
$tg->file('go', '');
is told($one), $_, "after a reload: $_" for 'completed 0', 'started 2',
    'completed 2';
is told($two), $_, "another user, after it: $_" for 'started 1', 'completed 1';
unlink "$dir/go";
$tg->reload($conf);
$of_a = call($one, 'task.submit', prompt => $go)->{taskId};
call($two, 'task.submit', prompt => 'true', agent => 'sh');
is told($one), $_, "again: $_" for 'queued 3', 'started 3';
is told($two), 'queued 4', 'one that waits';
call($root, 'task.cancel', taskId => 'task-0004');
is told($two), 'cancelled 4', 'root ends it, its user is notified';
is code($two, 'task.cancel', { taskId => $of_a }), -32000, 'others may not';
call($root, 'task.cancel', taskId => $of_a);
is told($one), 'cancelled 3', 'root may';

# --- admins, and everybody

$tg->reload("$conf task_admin uid=$bob;");
is ids($two), '4 3 2 1 0', 'an admin sees all';
is ids($one), '3 2 0', 'no other user does';
call($one, 'task.submit', prompt => 'true');
is told($two), 'queued 5', 'an admin is notified of all';
$tg->reload("$conf task_visibility all;");
is ids($one), '5 4 3 2 1 0', 'tasks that are everybody\'s';
call($two, 'task.submit', prompt => 'true');
is $one->recv_where(sub { ($_[0]{params}{taskId} // '') eq 'task-0006' })
    ->{method}, 'task.queued', 'as are their news';
$tg->reload("$conf tool_socket_owner $ann:$ann;");
is ids($one), '6 5 4 3 2 1 0', 'the socket\'s owner sees all';
is ids($two), '6 4 1', 'which others do not';

done_testing;
