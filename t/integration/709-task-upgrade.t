#!/usr/bin/perl
# A new binary takes over the tasks: running and waiting ones notice neither the
# end of the old one nor the return to it; the last NGINX ends them.

use Toolgate::Test plain_only => 'LeakSanitizer reports starts of a daemon';

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $pid_file = "$dir/nginx.pid";

# NGINX ignores USR2 unless it is a daemon. The concurrency shows whose config
# the runner has.
sub conf {
    my ($n) = @_;
    $tg->conf("task_agent sh { exec sh -c \$task_prompt; default; "
            . "concurrency 1; } task_methods on; task_concurrency $n;");
    $tg->file('nginx.conf',
        slurp("$dir/nginx.conf") =~ s/daemon off/daemon on/r);
}

# Exiting workers may accept a connection.
sub call {
    my ($method, %params) = @_;
    my $reply = eval { $tg->connect->rpc($method, \%params) } // {};
    return $reply->{result} // {};
}
sub supervisor { return call('daemon.status')->{subsystems}{supervisor} // {} }

conf(1);
my ($status) = run_command({}, $tg->nginx_command);
is $status, 0, 'a daemon starts';
my $first = wait_for(sub { slurp($pid_file) }) + 0;
my $run = call('task.submit',
    prompt => "echo begun; until [ -e $dir/go ]; do sleep 0.01; done")
    ->{taskId};
wait_for { (supervisor()->{running} // 0) == 1 } 'it to run';
my $wait = call('task.submit', prompt => 'echo waited')->{taskId};
my $pid = call('task.get', taskId => $run)->{pid};
my $runner = $tg->runner_pid;

sub undisturbed {
    my ($when) = @_;
    wait_for { (call('daemon.status')->{health} // '') eq 'healthy' }
        "$when: it can be asked";
    my $supervisor = supervisor();
    is "$supervisor->{running} $supervisor->{queued}", '1 1',
        "$when: one runs, one waits";
    is call('task.get', taskId => $run)->{pid}, $pid, "$when: as before";
    is $tg->runner_pid, $runner, "$when: in the same runner";
}

conf(2);
my $second = upgrade_nginx($pid_file, $first);
wait_for { (supervisor()->{maxConcurrency} // 0) == 2 } 'the new config';
undisturbed('both are there');
end_process($first, 'QUIT');
undisturbed('the old one has quit');

conf(3);
my $third = upgrade_nginx($pid_file, $second);
wait_for { (supervisor()->{maxConcurrency} // 0) == 3 } 'the next config';
end_process($third, 'TERM');
undisturbed('the new one is given up');

conf(4);
kill HUP => $second;
wait_for { (supervisor()->{maxConcurrency} // 0) == 4 } 'a reload';
undisturbed('reloaded');
end_process($second, 'TERM');
wait_for { !is_alive($pid) } 'what ran to be ended with the last NGINX';

conf(1);
($status) = run_command({}, $tg->nginx_command);
is $status, 0, 'it starts again';
wait_for { (call('task.get', taskId => $wait)->{state} // '') eq 'completed' }
    'what waited';
like call('task.get', taskId => $run)->{error},
    qr/^interrupted: .*tasks were stopped/, 'what ran has failed';
end_process(slurp($pid_file) + 0, 'QUIT');

done_testing;
