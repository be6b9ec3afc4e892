#!/usr/bin/perl
# A killed runner: unsent requests are sent to the next one, as are those that
# are safe to repeat: methods that read, and submissions, which the store
# recognizes. None of these is rejected; others without a response get the error
# that they may have been executed.

use Toolgate::Test qw(Postgres);

my ($tg, $c);

# A new server, with tasks in PostgreSQL, or in a file.
sub server {
    my ($has_postgres) = @_;
    $tg = Toolgate::Test->new(workers => 1);
    my $store = $has_postgres
        ? "task_store '" . Toolgate::Postgres->new($tg)->uri . "';"
        : '';
    # A runner may be killed before it has reported that it serves.
    $tg->allow_log(qr/unknown process \d+ exited with code 1/);
    $tg->conf(<<"CONF")->start;
$store
task_methods on;
task_concurrency 1;
task_agent a { exec true; default; }
tool run { description "It."; exec echo run; }
tool here { description "It."; return here; }
tool one { description "It."; pass unix:%%SOCKET%% name=here; concurrency 1; }
tool later { description "It."; exec true; task required; }
CONF
    $c = $tg->connect;
    wait_for { $c->rpc('task.stats')->{result} } 'the store';
}

sub kill_runner {
    my ($runner) = $tg->runner_pid;
    kill KILL => $runner;
    wait_for { !-e "/proc/$runner" } 'the runner and its threads to be gone';
}

# A regular response, no error.
sub is_answered {
    my ($reply, $name) = @_;
    my $result = $reply->{result};
    ok $result && !(ref $result eq 'HASH' && $result->{isError}),
        "$name: is answered"
        or diag explain $reply;
}

sub is_resent {
    my ($store) = @_;

    # The worker reads the calls, and then the end of the runner, before it has
    # written anything.
    my (%id, @tasks);
    stopped(sub {
        $id{"submit $_"} = $c->request('task.submit', { prompt => "p$_" })
            for 1 .. 20;
        $id{chat} = $c->request('chat.send', { message => 'm' });
        $id{list} = $c->request('task.list');
        $id{$_} = $c->request('tools/call', { name => $_, arguments => {} })
            for qw(run one later);
        kill_runner();
    }, ($tg->worker_pids)[0]);
    for my $name (sort keys %id) {
        my $reply = $c->reply($id{$name});
        is_answered($reply, "$store, not sent, $name");
        push @tasks, $reply->{result}{taskId} if $name =~ /submit|chat/;
    }
    is scalar(keys %{ { map { $_ => 1 } @tasks } }), 21, 'each is a task';
    is $c->rpc('task.stats')->{result}{total}, 22, 'and none is there twice';

    # The runner has read them, or will have, and does not respond.
    %id = ();
    my $runner = $tg->runner_pid;
    kill STOP => $runner;
    $id{$_} = $c->request($_, { taskId => $tasks[0] })
        for qw(task.get task.wait task.output);
    $id{$_} = $c->request($_) for qw(task.list task.stats daemon.status);
    $id{$_} = $c->request('tools/call', { name => $_, arguments => {} })
        for qw(one run later);
    $id{$_} = $c->request($_, { prompt => 'lost', message => 'lost' })
        for qw(task.submit chat.send);
    $id{cancel} = $c->request('task.cancel', { taskId => $tasks[0] });
    # The response to the first may be sent before, that to the second not.
    $c->rpc('ping') for 1 .. 2;
    kill KILL => $runner;
    wait_for { !-e "/proc/$runner" } 'the runner and its threads to be gone';
    my %reply = map { $_ => $c->reply($id{$_}) } sort keys %id;
    for my $name (grep { !/^(?:cancel|run)$/ } sort keys %id) {
        is_answered($reply{$name}, "$store, sent, $name");
    }
    like $reply{cancel}{error}{message},
        qr/not known whether this was done.*Check the tasks/,
        'sent, cancel: its caller gets the advice';
    like text_of($reply{run}), qr/may have done part of its work/,
        'sent, a program: its caller gets the warning';

    # Wherever it is killed, there is one task for each submission.
    my $total = $c->rpc('task.stats')->{result}{total};
    my @kept;
    for my $round (1 .. 10) {
        my @asked = map { $c->request('task.submit', { prompt => 'kept' }) }
            1 .. 5;
        select undef, undef, undef, rand 0.01;
        kill_runner();
        push @kept, map { $c->reply($_)->{result}{taskId} } @asked;
    }
    is scalar(grep { defined } @kept), 50, 'each is answered';
    is scalar(keys %{ { map { $_ => 1 } @kept } }), 50, 'with its own task';
    is $c->rpc('task.stats')->{result}{total}, $total + 50, 'and no other';
}

for my $store (qw(file postgres)) {
    server($store eq 'postgres');
    is_resent($store);
    $tg->stop;
}

done_testing;
