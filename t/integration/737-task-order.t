#!/usr/bin/perl
# Many tasks: their order, the list, newest first, and long prompts in
# daemon.status.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->conf(<<"CONF")->start;
task_methods on;
task_concurrency 1;
task_queue 2000;
task_agent note { exec tee -a $dir/order; stdin "\$task_id\\n"; default; }
task_agent wait {
    exec sh -c 'while [ -e $dir/run ]; do sleep 0.01; done';
}
CONF
my $c = $tg->connect;
$c->rpc('ping');

sub submit { return $c->result_of('task.submit', @_)->{taskId} }
sub supervisor {
    return $c->result_of('daemon.status')->{subsystems}{supervisor};
}
sub running {
    my ($id) = @_;
    wait_for {
        grep { $_->{id} eq $id && $_->{pid} }
            @{ supervisor()->{tasks}{running} };
    } "$id to run";
}

# --- a higher priority first, then who came first

$tg->file('run', '');
running(submit(agent => 'wait', prompt => '-'));
my @priorities = (0, 5, -1, 5, 0, 2147483647, -2147483648, 5, 0, -1);
my %of = map { submit(prompt => '-', priority => $_) => $_ } @priorities;
my @next = sort { $of{$b} <=> $of{$a} || $a cmp $b } keys %of;
my $status = supervisor();
is_deeply [ map { $_->{id} } @{ $status->{tasks}{queued} } ], \@next,
    'in which order they wait';
unlink "$dir/run";
wait_for { $c->result_of('task.stats')->{completed} == 1 + @next }
    'all to be done';
is slurp("$dir/order"), join('', map {"$_\n"} @next), 'and run';

# --- 80 characters of a prompt

$tg->file('run', '');
my $euros = "\x{20ac}" x 81;
my $first = submit(agent => 'wait', prompt => $euros);
running($first);
submit(agent => 'wait', prompt => $euros);
$status = supervisor()->{tasks};
is $status->{$_}[0]{prompt}, substr($euros, 0, 80), "$_: 80 characters"
    for 'running', 'queued';
is $c->result_of('task.get', taskId => $first)->{prompt}, $euros,
    'the task has all of it';

# --- lists

my $n = 1005;
my @ids = map { $c->request('task.submit',
        { agent => 'wait', prompt => '-', priority => $_ }) } 1 .. $n;
my $last = $c->reply($ids[-1])->{result}{taskId};
is $last, sprintf('task-%04d', 2 + @next + $n), 'their ids count on';
my @newest = reverse map { sprintf 'task-%04d', $_ } 0 .. 2 + @next + $n;
sub ids { return [ map { $_->{id} } @{ $c->result_of('task.list', @_) } ] }
is_deeply ids(), [ @newest[ 0 .. 19 ] ], 'the newest 20 by default';
is_deeply ids(limit => 1000), [ @newest[ 0 .. 999 ] ], '1,000 at most';
is $c->rpc('task.list', { limit => 1001 })->{error}{code}, -32602, 'no more';
$status = supervisor();
is $status->{queued}, 1 + $n, 'so many wait';
is scalar @{ $status->{tasks}{queued} }, 100, 'of which 100 are shown';
is $status->{tasks}{queued}[0]{id}, $last, 'beginning with the next one';

done_testing;
