#!/usr/bin/perl
# The life of a runner: started by the first call that needs it, one for all
# workers and those after a reload; it exits after the last of them.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $state = "$dir/made/";
my $ids = "$> " . ($) + 0);
my $number = 0;
$tg->file('parent', "#!/bin/sh\necho \$PPID\n", 0755);

# Each config has another name of its tool.
sub body {
    $number++;
    return <<"END";
tool_state_dir $state;
tool pid { return \$pid; }
tool run$number { exec $dir/parent; }
END
}

# Returns the runner that runs this client's program.
sub runner_of { return text_of($_[0]->call_tool("run$number")) + 0 }

$tg->conf(body())->start;
is mode_of("$dir/made"), "0700 $ids", 'the state directory is made';
is_deeply [ glob "$dir/made/*" ], [], 'nothing is in it';
is text_of($tg->connect->call_tool('pid')) > 0, 1, 'a call without exec';
is_deeply [ $tg->runner_pids ], [], 'no runner is there before it is needed';

# Both workers at the same moment.
my @clients = map { client_of($tg, $_) } $tg->worker_pids;
my @ids = map { $_->request('tools/call', { name => "run$number" }) } @clients;
my @runners = map { text_of($clients[$_]->reply($ids[$_])) + 0 } 0 .. 1;
is $runners[0], $runners[1], 'two workers share a runner';
my $runner = $runners[0];
is mode_of("$dir/made/runner-3.sock"), "0600 $ids", 'its socket';
is mode_of("$dir/made/runner-3.lock"), "0600 $ids", 'its lock';
is runner_in("$dir/made"), $runner, 'its pid is in the lock';
wait_for { $tg->runner_pids == 2 } 'a second runner to leave';
my $supervisor = parent_of($runner);
is_deeply [ $tg->runner_pids ], [ sort { $a <=> $b } $runner, $supervisor ],
    'there are a runner and its supervisor, no more';
isnt parent_of($supervisor), $_, 'it is no child of a worker'
    for $tg->worker_pids;
is slurp("/proc/$runner/cmdline") =~ tr/\0/ /r,
    $tg->runner_path . " --state-dir $dir/made --log-level info --report ",
    'how it was started';
SKIP: {
    skip 'its descriptors are not for others of its user', 4 if $> != 0;
    is readlink "/proc/$runner/cwd", '/', 'it stands nowhere';
    my %open = map { s{.*/}{}r => readlink } glob "/proc/$runner/fd/*";
    is delete $open{2}, "$dir/error.log", 'it logs where NGINX does';
    my $own = qr{^(?:/dev/null|anon_inode:|pipe:|socket:|\Q$dir\E/made(?:/|$)
        |/proc/$runner/task/$runner/children$|/.*/toolgate\.\w+\.$runner$)}x;
    is_deeply [ grep { $_ !~ $own } values %open ], [], 'it has no other file';
    my %theirs = map { (readlink // '') => 1 }
        map { glob "/proc/$_/fd/*" } $tg->master_pid, $tg->worker_pids;
    is_deeply [ grep { /^(?:socket|pipe):/ && $theirs{$_} } values %open ], [],
        'and no socket of theirs';
}

# --- reloads --------------------------------------------------------------

# The runner exits after some seconds without a connection, which must not
# happen during a reload on a busy machine.
sub hold { return Toolgate::Client->connect("$dir/made/runner-3.sock") }
my $hold = hold();
for my $round (1 .. 5) {
    $tg->reload(body());
    is runner_of($tg->connect), $runner, "reload $round: the same runner";
    cmp_ok $hold->rpc('status')->{result}{connections}, '>', 1,
        "reload $round: a worker is connected, too";
}
$tg->reload("tool_state_dir $state;\ntool none { return 1; }");
is text_of($tg->connect->call_tool('none')), 1, 'a config without programs';
$tg->reload(body());
is runner_of($tg->connect), $runner, 'and one with them: the same runner';

# --- the end --------------------------------------------------------------

# A remaining worker keeps it.
my ($one, $two) = $tg->worker_pids;
is runner_of(client_of($tg, $_)), $runner, 'both workers know it' for $one,
    $two;
$hold->close;
$tg->stop(signal => 'QUIT');
ok is_alive($runner), 'it stays when NGINX stops';
$hold = hold();
$tg->conf(body())->start;
is runner_of($tg->connect), $runner, 'and serves the next NGINX';
$hold->close;
$tg->stop;
wait_for { !$tg->runner_pids } 'it to leave';
is_deeply [ map { s{.*/}{}r } glob "$dir/made/*" ], ['runner-3.lock'],
    'after a while it leaves';
like $tg->log, qr/no worker needs it any more, exiting/, 'and says so';

done_testing;
