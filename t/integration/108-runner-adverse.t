#!/usr/bin/perl
# The runner when a disk is full or it cannot listen for a while; and its
# messages and process titles.

use Toolgate::Test qw(Runner);

my $tg = Toolgate::Test->new;
my $state = $tg->state_dir;
my $now = qr{^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d };

# No byte can be written to any file.
{
    my ($status) = run_command({ env => $tg->san_env, timeout => 20 },
        '/bin/sh', '-c', "ulimit -f 0; exec \"\$@\" 2>>$state.full", 'sh',
        $tg->runner_path, '--state-dir', $state, '--linger', 1000);
    is $status, 0, 'a full disk: it starts';
    is slurp("$state/runner-3.lock"), '', 'a full disk: without its pid';
    my $c = Toolgate::Client->connect("$state/runner-3.sock");
    my $pid = $c->rpc('status')->{result}{pid};
    ok $pid, 'a full disk: it serves';
    kill TERM => $pid;
    wait_for { !is_alive($pid) } 'its end';
    unlink "$state.full";
}

# It cannot listen, and tries again: it has the lock, so that no other can.
{
    my $runner = Toolgate::Runner->start($tg);
    my $c = $runner->connect;
    my $socket = $runner->socket_path;
    unlink $socket or die "$socket: $!";
    mkdir $socket or die "$socket: $!";
    wait_for { $runner->log =~ /trying again every 2 s/ } 'it to say so';
    like $runner->log, qr/cannot listen on runner-3.sock.*: File exists/,
        'it says why it cannot listen';
    is $c->rpc('status')->{result}{pid}, $runner->pid,
        'who is connected is served';
    rmdir $socket or die "$socket: $!";
    wait_for { -S $socket } 'it to listen again';
    is $runner->connect->rpc('status')->{result}{pid}, $runner->pid,
        'who comes then, too';
    my $said = () = $runner->log =~ /cannot listen/g;
    is $said, 1, 'it was said once';
    like $runner->log, qr/listening again/, 'and that it is over';
    kill TERM => $runner->supervisor;
    $runner->wait_gone;
}

# Its messages have NGINX's form, and it shows nothing of its starter.
{
    my $runner =
        Toolgate::Runner->start($tg, setup => 'export SECRET=dont-tell');
    my $pid = $runner->pid;
    my $line = qr{$now\[notice\] $pid#$pid: toolgate-runner: pid $pid serves}m;
    wait_for { $runner->log =~ $line } 'a line with time, level and pid';

    for ([ runner => $pid ], [ guard => $runner->supervisor ]) {
        my ($name, $of) = @$_;
        is slurp("/proc/$of/comm"), "toolgate-$name\n",
            "the $name has its own name";
        my $environment = slurp("/proc/$of/environ");
        unlike $environment // '', qr/SECRET|dont-tell/,
            "the $name has nothing of the environment";
    }
    my $result = $runner->connect->rpc('exec',
        Toolgate::Runner::sh('echo $SECRET $HOME'))->{result};
    like $result->{text}, qr{^/\S*\n$}, 'programs have theirs';
    kill TERM => $pid;
    $runner->wait_gone;
}

# A higher log level gives fewer messages.
for my $case ([ warn => 0 ], [ info => 1 ]) {
    my ($level, $is_said) = @$case;
    my $log = "$state.$level";
    my ($status) = run_command({ env => $tg->san_env, timeout => 20 },
        '/bin/sh', '-c', "exec \"\$@\" 2>>$log", 'sh', $tg->runner_path,
        '--state-dir', $state, '--linger', 1000, '--log-level', $level);
    is $status, 0, "--log-level $level";
    my $pid = runner_in($state);
    unlink "$state/runner-3.sock";
    wait_for { slurp($log) =~ /\[warn\].*the socket was removed/ } 'a warning';
    is slurp($log) =~ /\[notice\]/ ? 1 : 0, $is_said,
        "--log-level $level: notices";
    kill TERM => $pid;
    wait_for { !is_alive($pid) } 'its end';
    unlink $log;
}
my ($status, undef, $err) = run_command({ env => $tg->san_env },
    $tg->runner_path, '--state-dir', $state, '--log-level', 'loud');
is $status, 2, 'no such level';
like $err, qr/--log-level loud: must be one of emerg/, 'it says which';

done_testing;
