#!/usr/bin/perl
# Two NGINX instances for one socket: the first one keeps it without noticing,
# the second one names the process to stop. Also as a daemon, and when both
# start at once.

use Toolgate::Test;

my $one = Toolgate::Test->new;
my $two = Toolgate::Test->new(workers => 1);
my $socket = $one->socket_path;
my $listen = "listen unix:$socket;";
$_->allow_log(qr/\[emerg\]/) for $one, $two;

sub serves {
    my ($name, $expected, $path) = @_;
    is text_of($one->connect($path)->call_tool('who')), $expected, $name;
}

sub is_refused {
    my ($name, $pid) = @_;
    my $before = mode_of($socket) . ' ' . (lstat $socket)[1];
    my ($status, $out) = $two->start_fails;
    is $status, 1, "$name: the second one does not start";
    like $out,
        qr/\Q$socket\E is already served by process $pid \(nginx\); stop/,
        "$name: whom to stop";
    is mode_of($socket) . ' ' . (lstat $socket)[1], $before,
        "$name: the socket is the same";
    is_deeply [ glob "$socket*" ], [$socket], "$name: there is no other";
}

# --- one after the other --------------------------------------------------

$one->conf("$listen\ntool who { return one; }")->start;
my $client = $one->connect;
is text_of($client->call_tool('who')), 'one', 'the first one serves';
$two->conf("$listen\ntool_socket_mode 0666;\ntool who { return two; }");
is_refused('a second one', $one->master_pid);

# After a reload and a worker's end the pid is still the master's.
$one->reload("$listen\ntool who { return one; }");
is_refused('after a reload', $one->master_pid);
$one->kill_workers(($one->worker_pids)[0]);
is_refused('after a worker was killed', $one->master_pid);
serves('the first one goes on', 'one');

# A second one that already runs elsewhere must keep its config.
my $away = $two->dir . '/two.sock';
$two->conf("listen unix:$away;\ntool who { return two; }")
    ->start(socket => $away);
like $two->reload_fails(
    "listen unix:$away;\n$listen\ntool who { return new; }"),
    qr/is already served by process @{[$one->master_pid]} \(nginx\)/,
    'a reload does not take it either';
serves('the second one goes on', 'two', $away);
serves('so does the first one', 'one');
is_deeply [ glob $two->dir . '/two.sock*' ], [$away], 'with nothing beside it';

$one->stop;
ok !-e $socket, 'the first one has gone';
$two->reload("listen unix:$away;\n$listen\ntool who { return new; }");
serves('now the second one gets it', 'new');
$two->stop;
ok !-e $socket, 'and takes it along';

# --- as a daemon ----------------------------------------------------------

{
    $one->conf("$listen\ntool who { return daemon; }");
    $one->file('nginx.conf',
        slurp($one->dir . '/nginx.conf') =~ s/daemon off;/daemon on;/r);
    my ($status) = run_command({ env => $one->nginx_env },
        $one->nginx_command);
    is $status, 0, 'a daemon starts';
    serves('it serves', 'daemon');
    # The pid file is written after the first process has exited.
    my $pid = wait_for(sub { slurp($one->dir . '/nginx.pid') }) + 0;
    $two->conf("$listen\ntool who { return two; }");
    is_refused('a daemon', $pid);
    kill TERM => $pid;
    wait_for { !is_alive($pid) } 'the daemon to end';
    ok !-e $socket, 'it takes its socket along';
}

# --- at the same moment ---------------------------------------------------

my %won;
for my $round (1 .. 20) {
    my @both = $round % 2 ? ($one, $two) : ($two, $one);
    $_->conf("$listen\ntool who { return @{[$_->dir]}; }") for @both;
    $_->{master} = $_->launch for @both;
    my $lost = wait_for { (grep { !$_->is_running } @both)[0] }
        'one of them to give up';
    my ($winner) = grep { $_ != $lost } @both;
    # It may have failed before the other one had renamed its socket.
    my $said = wait_for {
        return 0 if !-S $socket;
        die "both gave up\n" if !$winner->is_running;
        my $probe = eval { $one->connect } or return 0;
        return text_of($probe->call_tool('who'));
    } 'the other one to serve';
    is $said, $winner->dir, "round $round: the other one serves";
    is $lost->{status} >> 8, 1, "round $round: and the loser says so";
    $won{ $winner == $both[0] ? 'first' : 'second' }++;
    $lost->{master} = undef;
    $winner->stop;
    is_deeply [ glob "$socket*" ], [], "round $round: nothing is left";
}
# The worst moment: the first one has its socket ready, but not renamed.
my $caught;
for my $try (1 .. 50) {
    $one->conf("$listen\ntool who { return one; }");
    my $pid = $one->{master} = $one->launch;
    until (-e "$socket~" || -e $socket || !$one->is_running) { }
    kill STOP => $pid;
    wait_for { slurp("/proc/$pid/stat") =~ /\) T / } 'it to stop';
    $caught = (stat "$socket~")[1];
    last if $caught;
    kill CONT => $pid;
    # A master that has its socket has not installed its SIGTERM handler yet.
    wait_for {
        my $probe = eval { $one->connect } or return 0;
        return text_of($probe->call_tool('who'));
    } 'it to serve';
    $one->stop;
}
SKIP: {
    skip 'the moment was always missed', 4 if !$caught;
    is sprintf('%04o', (stat "$socket~lock")[2] & 07777), '0600',
        'the lock of a start is for its user alone';
    $two->conf("$listen\ntool who { return two; }");
    my $pid = $two->{master} = $two->launch;
    wait_for {
        # It waits for the lock, or has stopped waiting.
        my @open = map { readlink // '' } glob "/proc/$pid/fd/*";
        return 1 if grep { $_ eq "$socket~lock" } @open;
        return !$two->is_running;
    } 'the second one to come to the lock';
    kill CONT => $one->master_pid;
    wait_for { !$two->is_running } 'the second one to give up';
    $two->{master} = undef;
    is $two->{status} >> 8, 1, 'the second one waits, and gives up';
    wait_for { -S $socket } 'the socket';
    serves('the first one serves', 'one');
    is_deeply [ glob "$socket*" ], [$socket], 'and there is no other socket';
    $one->stop;
}

diag join ', ', map {"the $_ won $won{$_} times"} sort keys %won
    if $ENV{TEST_VERBOSE};

done_testing;
