#!/usr/bin/perl
# The runner logs where NGINX does, and as much.  The error log is rotated while
# it runs: it writes into the new one, and neither of its processes keeps the
# old one open.

use Cwd ();
use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf('tool run { exec echo $tool_arg_n; }')->start;
my $client = $tg->connect;
is text_of($client->call_tool(run => { n => 1 })), "1\n", 'the runner runs';

my $runner = slurp($tg->state_dir . '/runner-3.lock') + 0;
my @pids = ($runner, parent_of($runner));
my $log = Cwd::realpath($tg->dir) . '/error.log';
my $old = "$log.1";
like slurp($log), qr/toolgate-runner: pid $runner serves/, 'it logs there';
like slurp("/proc/$runner/cmdline"), qr/\0--log-level\0info\0/,
    'as much as error_log says';

# What their stderr is; not everybody may look into the runner.
@pids = grep { defined readlink "/proc/$_/fd/2" } @pids;

# As logrotate does: away with the old one, then NGINX is told.
sub rotate {
    rename $log, $old or die "$log: $!";
    kill USR1 => $tg->master_pid;
    wait_for { -e $log } 'NGINX to open its log anew';
    for my $pid (@pids) {
        wait_for { (readlink "/proc/$pid/fd/2" // '') eq $log }
            "process $pid to follow the log";
    }
}

for my $turn (1, 2) {
    rotate();
    pass "rotation $turn: NGINX has the new log";

    # Something that it logs; it looks at the log before it looks there.
    unlink $tg->state_dir . '/runner-3.sock';
    $tg->wait_log(qr/toolgate-runner: somebody removed the socket/);
    pass "rotation $turn: it writes there";
    unlike slurp($old), qr/somebody removed the socket/,
        "rotation $turn: and not into the old one"
        if $turn == 1;
    wait_for { -S $tg->state_dir . '/runner-3.sock' }
        'the socket to be there again';
}

# The log is away for a while: the old one serves.
rename $log, $old or die "$log: $!";
unlink $tg->state_dir . '/runner-3.sock';
wait_for { my $n = () = slurp($old) =~ /somebody removed/g; $n == 2 }
    'a line in the old log';
pass 'without a new log it writes into the old one';
rename $old, $log or die "$log: $!";

is text_of($client->call_tool(run => { n => 2 })), "2\n",
    'the same runner runs on';
is slurp($tg->state_dir . '/runner-3.lock') + 0, $runner, 'it is the same';
done_testing;
