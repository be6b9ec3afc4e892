#!/usr/bin/perl
# kill -9 of the master: its workers finish their calls and exit, and at the
# same moment a new NGINX can take the path.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $socket = $tg->socket_path;
my $dir = $tg->dir;
# Runs until the test ends it.
$tg->file('wait', <<'END', 0755);
#!/bin/sh
touch "$1/runs$2"
while ! [ -e "$1/go$2" ]; do sleep 0.02; done
END
$tg->conf(<<'END');
tool who { return $pid; }
tool wait { exec %%DIR%%/wait %%DIR%% $tool_arg_n; timeout 1h; }
END

my %seen;
for my $round (1 .. 4) {
    $tg->start;
    my @workers = $tg->worker_pids;
    my $idle = $tg->connect;
    ok grep({ $_ == text_of($idle->call_tool('who')) } @workers),
        "round $round: a worker serves";
    my $half = $tg->connect;
    $half->send_raw('{"jsonrpc":"2.0",');
    my $busy = $tg->connect;
    my $id = $busy->request('tools/call',
        { name => 'wait', arguments => { n => $round } });
    wait_for { -e "$dir/runs$round" } 'the program';
    # The process that started it exists for a moment, too.
    wait_for { $tg->runner_pids == 2 } 'its starter to leave';
    my ($runner) = $tg->runner_pids;

    $tg->kill_master;
    $tg->start;
    my $new = $tg->connect;
    my $pid = text_of($new->call_tool('who'));
    ok !grep({ $_ eq $pid } @workers), "round $round: the new one serves";
    $seen{$pid}++;

    $tg->file("go$round", '');
    is text_of($busy->reply($id)), '', "round $round: the call ends well";
    ok $busy->at_eof, "round $round: then the client is closed";
    ok $idle->at_eof, "round $round: so is an idle one";
    ok $half->at_eof, "round $round: and one that said half a word";
    wait_for { !grep { is_alive($_) } @workers } 'the old workers to leave';
    is text_of($new->call_tool('who')), $pid, "round $round: the new one stays";
    is +($tg->runner_pids)[0], $runner, "round $round: the runner too";

    # Every second time the file at the path is left.
    if ($round % 2) {
        $tg->stop;
    } else {
        my @orphans = $tg->worker_pids;
        $tg->kill_master;
        wait_for { !grep { is_alive($_) } @orphans } 'orphans to leave';
        ok -S $socket, "round $round: the socket is left behind";
    }
}
is keys %seen, 4, 'each time it was another worker';

# The start waits for workers that have not noticed yet.
unlink $socket;
$tg->start;
my $master = $tg->master_pid;
my @workers = $tg->worker_pids;
kill STOP => @workers;
$tg->kill_master;
$tg->{master} = $tg->launch;
wait_for { -e "$socket~lock" } 'the new one to look at the socket';
kill CONT => @workers;
wait_for { !grep { is_alive($_) } @workers } 'the workers to leave';
wait_for {
    die "the new one gave up\n" if !$tg->is_running;
    $tg->worker_pids == 2;
} 'the new workers';
isnt $tg->master_pid, $master, 'another master';
ok $tg->connect->call_tool('who')->{result}, 'the new one serves';
$tg->stop;
ok !-e $socket, 'and takes its socket along';

# Only the runner is left, which waits for the next worker.
my $left = $tg->processes;
delete @$left{ $tg->runner_pids };
is_deeply $left, {}, 'no other process is left';

done_testing;
