#!/usr/bin/perl
# An exiting runner may have the store for a while: calls wait until the next
# one has it, and fail with the reason if that takes too long.

use Toolgate::Test;

use Fcntl;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf('task_methods on; task_agent a { exec true; default; }')->start;
$tg->allow_log(qr/store cannot be opened.*locked/);
my $file = $tg->state_dir . '/tasks.db';
my $c = $tg->connect;
$c->rpc('task.submit', { prompt => 'first' });
$c->notification('task.completed');

# Locks all bytes that SQLite locks, as another process would.
sub lock_store {
    my ($type) = @_;
    return fcntl $_[1], F_SETLK,
        pack 's s x4 q q l x4', $type, 0, 0x40000000, 512, 0;
}

my $runner = $tg->runner_pid;
open my $store, '+<', $file or die "$file: $!";

# Kills the runner, and locks the store before a worker can start the next one.
sub lock_without_runner {
    stopped(
        sub {
            kill KILL => $runner;
            wait_for { !is_alive($runner) } 'the runner to be gone';
            wait_for { lock_store(F_WRLCK, $store) } 'the lock';
        },
        $tg->worker_pids);
}
lock_without_runner();
my @ids = map { $c->request('task.submit', { prompt => "p$_" }) } 1 .. 20;
push @ids, $c->request('task.list');
wait_for { $tg->runner_pid } 'another runner';
my $other = $tg->connect;
$other->request('task.stats');
ok $other->is_silent(1.5), 'calls wait for the store';
lock_store(F_UNLCK, $store);
my @errors = grep { $_->{error} } map { $c->reply($_) } @ids;
is_deeply \@errors, [], 'and all are answered when it is free';
is $c->rpc('task.stats')->{result}{total}, 21, 'no task is lost or twice';

# For ever.
$runner = $tg->runner_pid;
lock_without_runner();
my $error = $c->rpc('task.submit', { prompt => 'last' })->{error};
is $error->{code}, -32003, 'one that is not given up is an error';
like $error->{message}, qr/cannot be opened: .*database is locked/,
    'that says why';
lock_store(F_UNLCK, $store);
wait_for { $c->rpc('task.submit', { prompt => 'last' })->{result} }
    'tasks to be taken again';
done_testing;
