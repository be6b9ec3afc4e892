#!/usr/bin/perl
# The runner is killed repeatedly when a rule is due: it fires once for each
# time.

use Toolgate::Test qw(Clock);
use POSIX ();

my $tg = Toolgate::Test->new;
my $clock = Toolgate::Clock->new($tg);
my $start = Toolgate::Clock::seconds('2026-06-01T00:00:00Z');

sub text { return POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $_[0]) }

$clock->set(text($start - 30));
$tg->conf(<<'END', main => $clock->main)->start;
task_agent echo { exec echo $task_prompt; default; }
task_methods on;
automation often {
    trigger cron "*/10 * * * *" zone=UTC;
    agent   echo "{{scheduled}}";
}
END
my $c = $tg->connect;
sub made {
    return map { $_->{prompt} =~ s/\.000Z$/Z/r }
        @{ $c->result_of('task.list', limit => 1000) };
}
sub due { return $c->result_of('automation.status')->{rules}[0]{nextRunAt} }
is due(), '2026-06-01T00:00:00.000Z', 'it is planned';

# The store works in order: the plan is stored when this is.
$c->result_of('task.submit', prompt => 'first');

# From before the tick that sees it to after it.
my %want;
for my $round (0 .. 7) {
    my $at = text($start + $round * 600);
    $want{$at} = 1;
    my $runner = $tg->runner_pid;
    $clock->set($at);
    select undef, undef, undef, $round * 0.15;
    kill KILL => $runner;
    wait_for { !is_alive($runner) } 'the runner to be gone';
    $c = $tg->connect;
    wait_for {
        eval { grep { $_ eq $at } made() };
    } "$at by another runner";
}
my %count;
$count{$_}++ for made();
is_deeply [ grep { $count{$_} > 1 } sort keys %count ], [], 'none twice';
is_deeply [ grep { !$count{$_} } sort keys %want ], [], 'and none lost';
wait_for { $c->result_of('task.stats')->{completed} >= keys %want }
    'all to have run';

done_testing;
