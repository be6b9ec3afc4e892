#!/usr/bin/perl
# How long the runner stays, and that nothing is left, however it ends.

use Toolgate::Test qw(Runner);
use Time::HiRes qw(time);

my $tg = Toolgate::Test->new;
my $state = $tg->state_dir;

sub all_gone {
    my ($name, @pids) = @_;
    ok eval {
        wait_for { !grep { is_alive($_) } @pids } 'the end';
    }, "$name: no process is left"
        or diag $@;
}

# It exits some time after the last connection ends.
{
    my $runner = Toolgate::Runner->start($tg, linger => 3, foreground => 1);
    my ($one, $two) = map { $runner->connect } 1, 2;
    $_->rpc('status') for $one, $two;
    $one->close;
    wait_for { $two->rpc('status')->{result}{connections} == 1 }
        'one connection to be gone';
    $two->close;
    my $three = $runner->connect;
    $three->rpc('status');
    my $from = time;
    $three->close;
    $runner->wait_gone;
    cmp_ok time - $from, '>', 2.9, 'it stays for the configured time';
    ok !-e $runner->socket_path, 'and takes its socket along';
    is $runner->{process}->wait_exit, 0, 'its exit status says that it is well';
    like $runner->log, qr/no worker needs it any more/, 'and the log why';
}

# A program that runs, or is being ended, keeps the runner.
{
    my $runner = Toolgate::Runner->start($tg, linger => 0, foreground => 1);
    my $c = $runner->connect;
    my ($params, $pids) = Toolgate::Runner::stubborn($tg->dir);
    $c->request('exec', $params);
    my @pids = $pids->();
    ok !(grep { !is_alive($_) } @pids), 'the programs run';
    my $from = time;
    $c->close;
    $runner->wait_gone;
    all_gone('disconnect', @pids);
    cmp_ok time - $from, '>', 1.5, 'SIGTERM was given its time';
}

# Signals end the runner and its programs.
for my $case ([ TERM => 'supervisor' ], [ INT => 'supervisor' ],
    [ TERM => 'pid' ])
{
    my ($signal, $who) = @$case;
    my $name = "SIG$signal to the " . ($who eq 'pid' ? 'runner' : $who);
    my $runner = Toolgate::Runner->start($tg);
    my $c = $runner->connect;
    my ($params, $pids) = Toolgate::Runner::stubborn($tg->dir);
    $c->request('exec', $params);
    my @pids = $pids->();
    kill $signal => $runner->{$who};
    ok $c->at_eof, "$name: the connection is closed at once";
    ok !-e $runner->socket_path, "$name: no new client can connect";
    $runner->wait_gone;
    all_gone($name, @pids);
}

# If the runner or the supervisor is killed, the other one cleans up.
for my $who ('pid', 'supervisor') {
    my $name = 'kill -9 of the ' . ($who eq 'pid' ? 'runner' : $who);
    my $runner = Toolgate::Runner->start($tg);
    my $c = $runner->connect;
    my ($params, $pids) = Toolgate::Runner::stubborn($tg->dir);
    $c->request('exec', $params);
    my $daemon = "$state/daemon";
    my $result = $c->rpc('exec', Toolgate::Runner::sh(<<"END"));
setsid sh -c 'echo \$\$ >$daemon; exec sleep 1000' >/dev/null 2>&1 &
while ! [ -s $daemon ]; do sleep 0.01; done
END
    is $result->{result}{text}, '', "$name: a daemon was left";
    my @pids = ($pids->(), slurp($daemon) + 0);
    unlink $daemon;
    is scalar(grep { is_alive($_) } @pids), 4, "$name: all run before";
    kill KILL => $runner->{$who};
    ok $c->at_eof, "$name: the connection is closed";
    all_gone($name, @pids);
    $runner->wait_gone;
    is -e $runner->socket_path ? 1 : 0, $who eq 'pid' ? 1 : 0,
        "$name: the socket is " . ($who eq 'pid' ? 'stale' : 'gone');

    my $next = Toolgate::Runner->start($tg);
    isnt $next->pid, $runner->pid, "$name: the next one starts";
    is $next->connect->rpc('status')->{result}{pid}, $next->pid,
        "$name: and serves";
    kill TERM => $next->supervisor;
    $next->wait_gone;
}

# Many start at once: one serves, the others exit.
{
    my @pids;
    for (1 .. 8) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my ($status) = run_command({ env => $tg->san_env },
                $tg->runner_path, '--state-dir', $state, '--linger', 1000);
            POSIX::_exit($status);
        }
        push @pids, $pid;
    }
    my $failed = grep { waitpid $_, 0; $? } @pids;
    is $failed, 0, 'eight starts at once all succeed';
    my $runners = wait_for {
        my @runners = $tg->runner_pids;
        return @runners == 2 && \@runners;
    } 'the others to leave';
    my $c = Toolgate::Client->connect("$state/runner-3.sock");
    my $pid = $c->rpc('status')->{result}{pid};
    ok scalar(grep { $_ == $pid } @$runners), 'one of them serves';
    $c->close;
    kill TERM => $pid;
    all_gone('many starts', @$runners);
}

# Its folder is replaced: connected clients are served, the next runner is new.
{
    my $tg2 = Toolgate::Test->new;
    my $state2 = $tg2->state_dir;
    my $old = Toolgate::Runner->start($tg2, linger => 0);
    my $c = $old->connect;
    rename $state2, "$state2.old" or die "rename: $!";
    mkdir $state2, 0700 or die "mkdir: $!";
    my $new = Toolgate::Runner->start($tg2, linger => 0);
    isnt $new->pid, $old->pid, 'a new folder has a runner of its own';
    is $c->rpc('status')->{result}{pid}, $old->pid, 'the old one serves on';
    my $c2 = $new->connect;
    $c->close;
    $old->wait_gone;
    is $c2->rpc('status')->{result}{pid}, $new->pid,
        'that the old one left does not touch the new one';
    ok -S $new->socket_path, 'nor its socket';
    $c2->close;
    $new->wait_gone;
}

done_testing;
