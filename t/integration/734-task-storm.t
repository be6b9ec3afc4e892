#!/usr/bin/perl
# A storm with tasks: while they are submitted and run, NGINX is reloaded and
# its workers, the runner, its supervisor and all of them at once are killed. In
# the end each submitted task exists, ran in order, alone for its agent, and
# ended once; its processes are gone, and ended tasks do not change.

use Toolgate::Test timeout => 900 + 10 * ($ENV{TOOLGATE_STORM_ROUNDS} // 0);

use Time::HiRes qw(usleep);

my $rounds = $ENV{TOOLGATE_STORM_ROUNDS} // 12;
my $seed = $ENV{TOOLGATE_STORM_SEED} // int rand 1e9;
srand $seed;
diag "TOOLGATE_STORM_SEED=$seed";

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<"END";
task_agent one {
    exec flock --nonblock -E 99 $dir/lock sh -c \$task_prompt;
    concurrency 1;
    env ID \$task_id;
    default;
}
task_agent many { exec sh -c \$task_prompt; env ID \$task_id; }
task_methods on;
task_concurrency 5;
task_queue 100000;
END
$tg->conf($conf)->start;
$tg->allow_log(qr/exited on signal 9/);

# Other failures are retried.
sub call {
    my ($method, %params) = @_;
    return wait_for {
        my $reply = eval { $tg->connect->rpc($method, \%params) } // {};
        $reply->{result};
    } "$method to be answered";
}

# Each records its begin, has a child in its own session, and may ignore
# SIGTERM. In one round of three they run long.
sub prompt {
    my ($lasts) = @_;
    my $wait = $lasts ? '0.3' : '0';
    my $deaf = rand() < 0.3 ? "trap '' TERM; " : '';
    return "$deaf echo \$ID >>$dir/ran.\$1; echo \$ID; "
        . 'setsid sleep 3613 >/dev/null 2>&1 & c=$!; '
        . "sleep $wait; kill -9 \$c; wait \$c; echo end";
}

# --- disturbances

sub kill_all {
    my (@pids) = @_;
    kill KILL => @pids;
    wait_for { !grep { is_alive($_) } @pids } 'them to be gone';
}
my $n = 0;
my %deeds = (
    reload        => sub { $tg->reload($conf . "# $n\n") },
    'kill worker' => sub { kill_all(($tg->worker_pids)[0]) },
    'kill runner' => sub { kill_all($tg->runner_pid) },
    'kill supervisor' => sub { kill_all(parent_of($tg->runner_pid)) },
    'kill runner and supervisor' => sub {
        kill_all($tg->runner_pid, parent_of($tg->runner_pid));
    },
    'reload and kill runner' => sub {
        my $runner = $tg->runner_pid;
        $tg->signal_reload;
        kill_all($runner);
        $tg->reload($conf . "# $n\n");
    },
    'kill all' => sub {
        my @pids = ($tg->runner_pid, parent_of($tg->runner_pid));
        kill KILL => $tg->master_pid, $tg->worker_pids, @pids;
        $tg->kill_master;
        wait_for { !grep { is_alive($_) } @pids } 'all to be gone';
        $tg->start;
    },
);

# --- submits

my (%taken, $lost, $refused);
($lost, $refused) = (0, 0);

# Submits some on each of three connections, and reads the results after the
# disturbance.
sub round {
    my ($deed) = @_;
    my $lasts = rand() < 0.4;
    my @c = map { $tg->connect } 1 .. 3;
    my %of;
    for my $c (@c) {
        for my $i (1 .. 5) {
            my $agent = rand() < 0.5 ? 'one' : 'many';
            push @{ $of{$c} }, [ $c->request('task.submit', {
                        prompt => "set -- $agent; " . prompt($lasts),
                        agent  => $agent }), $agent ];
        }
    }
    usleep(rand 60_000);
    $deeds{$deed}->();
    for my $c (@c) {
        for my $asked (@{ $of{$c} }) {
            my ($id, $agent) = @$asked;
            my $reply = eval { $c->reply($id) };
            if (!$reply) {
                die $@ if $@ !~ /end of file|closed here|reset/;
                $lost++;
            } elsif ($reply->{error}) {
                $refused++;
            } else {
                $taken{ $reply->{result}{taskId} } = $agent;
            }
        }
    }
}

my %ended;

# Tasks that have ended do not change.
sub look {
    my ($when) = @_;
    my @changed;
    for my $id (sort keys %taken) {
        next if $ended{$id} && rand() < 0.8 && $when ne 'in the end';
        my $task = call('task.get', taskId => $id);
        next if !$task->{completedAt};
        my $text = Toolgate::Client->encode($task);
        push @changed, "$ended{$id} => $text"
            if ($ended{$id} //= $text) ne $text;
    }
    is_deeply \@changed, [], "$when: what had ended is as it was";
}

my @order = sort keys %deeds;
for ($n = 1; $n <= $rounds; $n++) {
    my $deed = $n <= @order ? $order[ $n - 1 ] : $order[ rand @order ];
    round($deed);
    wait_for { call('task.stats')->{queued} < 40 } "$deed: they go on";
    look("round $n, $deed");
}
wait_for {
    my $stats = call('task.stats');
    $stats->{queued} + $stats->{running} == 0;
} 'all to end', 240;
look('in the end');

# --- what became of them

my $stats = call('task.stats');
diag sprintf '%d tasks, %d answered, %d refused, %d without an answer, '
    . '%d interrupted', $stats->{total}, scalar keys %taken, $refused, $lost,
    $stats->{failed};
is_deeply [ grep { !$ended{$_} } sort keys %taken ], [],
    'each that was answered is there, and has ended';
cmp_ok $stats->{total} - keys %taken, '<=', $lost + $refused,
    'none was doubled';
is $stats->{completed} + $stats->{failed}, $stats->{total},
    'each has ended once';
my (%ran, @one);
for my $agent (qw(one many)) {
    my @ran = split /\n/, slurp("$dir/ran.$agent") // '';
    $ran{$_}++ for @ran;
    @one = @ran if $agent eq 'one';
}
is_deeply [ grep { $ran{$_} > 1 } sort keys %ran ], [], 'none ran twice';
is_deeply \@one, [ sort @one ], 'they ran in their turn';
my @wrong;
for my $id (sort keys %taken) {
    my $task = Toolgate::Client->decode($ended{$id});
    my $is_well = $task->{state} eq 'completed'
        ? $task->{result} eq "$id\nend" && $task->{output} =~ /^$id$/m
            && $ran{$id}
        : $task->{error} =~ /^interrupted/;
    push @wrong, $task if !$is_well;
}
is_deeply \@wrong, [], 'each did its work, or was interrupted, and says so'
    or diag explain [ @wrong[ 0 .. 2 ] ];
cmp_ok $stats->{completed}, '>=', $stats->{failed}, 'most did their work';
wait_for {
    !grep {/^sleep 3613/} values %{ $tg->processes }
} 'what they left to be gone';

done_testing;
