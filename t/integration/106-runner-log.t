#!/usr/bin/perl
# The runner writes to NGINX's logs, also to syslog, at their level. After the
# error log is rotated, neither of its processes keeps the old file open. After
# a reload it uses the new config's logs.

use feature 'state';

use Cwd ();
use Socket qw(SOCK_DGRAM);
use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $syslog = IO::Socket::UNIX->new(
    Type  => SOCK_DGRAM,
    Local => $tg->dir . '/syslog',
) or die "syslog: $!";
chmod 0666, $tg->dir . '/syslog';
my $heard = $tg->file('heard', '');

# The socket's queue is short, so the listener is its own process.
my $listener = fork // die "fork: $!";
if ($listener == 0) {
    Toolgate::Guard::die_with_parent();
    open my $to, '>>', $heard or POSIX::_exit(1);
    syswrite $to, "$_\n" while defined $syslog->recv($_, 65536);
    POSIX::_exit(0);
}

# Returns the messages to syslog so far, one per line.
sub heard {
    state $n = 0;
    my $mark = 'mark ' . ++$n;
    IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => $tg->dir . '/syslog')
        ->send($mark);
    wait_for { slurp($heard) =~ /^$mark$/m } 'the listener';
    return slurp($heard) =~ s/^mark \d+\n//gmr;
}

$tg->conf(
    'tool run { exec echo $tool_arg_n; }',
    main => 'error_log syslog:server=unix:%%DIR%%/syslog,nohostname notice;',
)->start;
my $client = $tg->connect;
is text_of($client->call_tool(run => { n => 1 })), "1\n", 'the runner runs';

my $runner = $tg->runner_pid;
my @pids = ($runner, parent_of($runner));
my $log = Cwd::realpath($tg->dir) . '/error.log';
my $old = "$log.1";
$tg->wait_log(qr/\[notice\] \d+#\d+: toolgate-runner: pid $runner serves/);
pass 'it logs there';
wait_for { heard() =~ /^<189>.* toolgate-runner: pid $runner serves/m }
    'syslog to receive it';
is scalar(() = heard() =~ /toolgate-runner: pid/g), 1,
    'syslog receives it once';
unlike heard(), qr/\[info\]/, 'and no more than it wants to hear';
like slurp("/proc/$runner/cmdline"), qr/\0--log-level\0info\0/,
    'as much as error_log says';

# Its stderr, which not every user may see.
@pids = grep { defined readlink "/proc/$_/fd/2" } @pids;

# Rotates as logrotate does: moves the file, then signals NGINX.
sub rotate {
    rename $log, $old or die "$log: $!";
    kill USR1 => $tg->master_pid;
    wait_for { -e $log } 'NGINX to reopen its log';
    for my $pid (@pids) {
        wait_for { (readlink "/proc/$pid/fd/2" // '') eq $log }
            "process $pid to follow the log";
    }
}

for my $turn (1, 2) {
    rotate();
    pass "rotation $turn: NGINX has the new log";

    # Makes the runner log something; it checks the log first.
    unlink $tg->state_dir . '/runner-3.sock';
    $tg->wait_log(qr/toolgate-runner: the socket was removed/);
    pass "rotation $turn: it writes there";
    unlike slurp($old), qr/the socket was removed/,
        "rotation $turn: and not into the old one"
        if $turn == 1;
    wait_for { -S $tg->state_dir . '/runner-3.sock' }
        'the socket to be there again';
}

# The log is missing for a while: the old file is used.
rename $log, $old or die "$log: $!";
unlink $tg->state_dir . '/runner-3.sock';
wait_for { my $n = () = slurp($old) =~ /the socket was removed/g; $n == 2 }
    'a line in the old log';
pass 'without a new log it writes into the old one';
rename $old, $log or die "$log: $!";

is text_of($client->call_tool(run => { n => 2 })), "2\n",
    'the same runner runs on';
is $tg->runner_pid, $runner, 'it is the same';

# Another config has other logs.
my ($old_worker) = $tg->worker_pids;
my $text = slurp($tg->dir . '/nginx.conf');
$text =~ s/^error_log error.*$/error_log other.log warn;/m or die $text;
$text =~ s/nohostname notice/nohostname crit/ or die $text;
$tg->file('nginx.conf', $text);
$tg->signal_reload;
wait_for { !is_alive($old_worker) } 'the old worker to leave';
is text_of($client->call_tool(run => { n => 3 })), "3\n", 'a call after that';
my $before = heard();
my $size = -s $log;
unlink $tg->state_dir . '/runner-3.sock';
wait_for {
    (slurp($tg->dir . '/other.log') // '') =~
        /\[warn\] \d+#\d+: toolgate-runner: the socket was removed/
} 'its line in the new log';
is heard(), $before, 'syslog wants nothing of it any more';
unlike substr(slurp($log), $size), qr/toolgate-runner:/,
    'nor is it in the log of the old config';

kill TERM => $listener;
waitpid $listener, 0;
done_testing;
