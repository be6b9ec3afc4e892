#!/usr/bin/perl
# Requests hold even if their client closes before the response: rules are
# disabled, also while they fire; a removed and restored rule stays disabled;
# tasks of a store that cannot be opened are stopped. The runner is used as by a
# worker.

use Toolgate::Test qw(Runner);

my $tg = Toolgate::Test->new;
my $state = $tg->state_dir;
my $store = "sqlite:$state/tasks.db";
my ($runner, $c);

sub rule {
    return {
        id      => $_[0],
        trigger => { type => 'task.queued', source => 'tasks' },
        action  => { type => 'notify', message => 'x' },
    };
}
sub config {
    my ($generation, @rules) = @_;
    my $reply = $c->rpc('task_open', {
        store       => $store,
        generation  => $generation,
        concurrency => 1,
        queue       => 1000,
        keep_ms     => 1e9,
        default     => 'a',
        agents      => [ {
            name       => 'a',
            argv       => [ ['/bin/sh'], ['-c'], [ '', 'prompt', '' ] ],
            timeout_ms => 60000,
        } ],
        rules => [ map { rule($_) } @rules ],
    });
    ok $reply->{result}, "config $generation" or diag explain $reply;
}
sub params {
    my ($method, %params) = @_;
    return {
        tool     => 't',
        store    => $store,
        method   => $method,
        params   => \%params,
        clients  => 1,
        owner    => '0',
        sees_all => JSON::PP::true,
    };
}
sub call {
    my $reply = $c->rpc('task', params(@_));
    return $reply->{result}{json} // die explain($reply);
}
sub request {
    my ($id, @call) = @_;
    return $c->encode({ jsonrpc => '2.0', id => $id, method => 'task',
        params => params(@call) }) . "\n";
}
sub leave {
    return $c->encode({ jsonrpc => '2.0', method => 'notifications/cancelled',
        params => { requestId => $_[0] } }) . "\n";
}
sub enabled {
    my $status = call('automation.status');
    return { map { $_->{id} => $_->{enabled} ? 1 : 0 } @{ $status->{rules} } };
}
sub start {
    $runner = Toolgate::Runner->start($tg, foreground => 1);
    $c = $runner->connect;
}
sub restart {
    kill KILL => $runner->pid;
    undef $c;
    $runner->wait_gone(20);
    start();
}

# --- by clients that have closed

start();
config('one', 'a', 'b');
is_deeply enabled(), { a => 1, b => 1 }, 'rules';
my $hasty = $runner->connect;
$hasty->send_raw(request(1, 'automation.disable', ruleId => 'a') . leave(1)
    . request(2, 'automation.disable') . leave(2));
wait_for { !enabled()->{a} } 'one to be disabled';
wait_for { !call('automation.status')->{enabled} } 'all to be disabled';
call('automation.enable');
undef $hasty;

# --- a config without the rule, and one with it again

config('two', 'b');
is_deeply enabled(), { b => 1 }, 'it is gone';
config('three', 'a', 'b');
is_deeply enabled(), { a => 0, b => 1 }, 'and back, as it was';
restart();
config('four', 'a', 'b');
is_deeply enabled(), { a => 0, b => 1 }, 'the same after a restart';

# --- while they fire

my @ids = map { "r$_" } 1 .. 20;
# The second one is stored while the rules ask about the first one; their later
# changes come after it.
config('five', @ids);
enabled();
my $storm = $runner->connect;
sub replied {
    my ($id) = @_;
    return $storm->recv_where(sub { ($_[0]{id} // '') eq $id })->{result}{json};
}
for my $id (@ids) {
    call('task.stats') for 1 .. 5;
    $storm->send_raw(join '',
        map { request("$id $_", 'task.submit', prompt => '-') } 1, 2);
    replied("$id 1");
    $storm->send_raw(request("off $id", 'automation.disable', ruleId => $id));
    ok replied("off $id")->{success}, "$id is disabled";
}
undef $storm;
restart();
config('six', @ids);
is_deeply enabled(), { map { $_ => 0 } @ids }, 'all are, after a restart';

# --- rules get ends during the stop later

config('seven', 'new');
my $dir = $tg->dir;
my $task = call('task.submit',
    prompt => "echo >$dir/runs; until [ -e $dir/go ]; do sleep 0.01; done")
    ->{taskId};
wait_for { -e "$dir/runs" } 'a task to run';
{
    no warnings 'redefine';
    local *rule = sub {
        return {
            id      => $_[0],
            trigger => { type => 'task.completed', source => 'tasks' },
            action  => { type => 'notify', message => '{{payload.id}}' },
        };
    };
    config('eight', 'ends');
    call('daemon.stop');
    $tg->file('go', '');
    wait_for { call('task.get', taskId => $task)->{completedAt} } 'it to end';
    config('nine', 'ends');
}
wait_for {
    grep { $_->{ruleId} eq 'ends' }
        @{ call('automation.status')->{recentExecutions} };
} 'the rule to receive the event';

# --- a stop without tasks

kill TERM => $runner->pid;
undef $c;
$runner->wait_gone(20);
$store = "sqlite:$state/none.db";
$tg->file('state/none.db', 'This is no database. ' x 100);
start();
config('one');
wait_for { call('daemon.status')->{health} eq 'unhealthy' }
    'a store that is none';
ok call('daemon.stop')->{stopping}, 'it accepts the stop';
unlink "$state/none.db" or die;
wait_for { call('daemon.status')->{health} ne 'unhealthy' } 'it to be opened';
is call('daemon.status')->{health}, 'stopping', 'which holds';
like $c->rpc('task', params('task.submit', prompt => '-'))->{result}{message},
    qr/tasks were stopped/, 'nothing is taken';
config('two');
is call('daemon.status')->{health}, 'healthy', 'until the next config';

kill TERM => $runner->pid;
$runner->wait_gone(20);

done_testing;
