#!/usr/bin/perl
# daemon.stop without force: what has not ended 30 s later is ended, with all
# its processes; waiting tasks stay, and NGINX continues.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'CONF';
task_methods on;
task_admin all;
task_concurrency 1;
task_agent sh { exec sh -c $task_prompt; default; }
tool hi { description "Says hi."; return hi; }
CONF
$tg->conf($conf)->start;
my $c = $tg->connect;
$c->rpc('initialize', { protocolVersion => '2025-06-18' });
sub submit { return $c->result_of('task.submit', prompt => $_[0])->{taskId} }
sub task { return $c->result_of('task.get', taskId => $_[0]) }

my $deaf = submit("trap '' TERM; sleep 3611 & echo \$! >$dir/child; "
        . "echo \$\$ >$dir/pid; while :; do sleep 1; done");
my $waits = submit('echo waited');
wait_for { -s "$dir/pid" } 'it to run';
my @pids = map { slurp("$dir/$_") + 0 } 'pid', 'child';
is_deeply $c->result_of('daemon.stop'), { stopping => JSON::PP::true },
    'stopping';
is $c->result_of('daemon.status')->{health}, 'stopping', 'as can be seen';
is task($deaf)->{state}, 'running', 'what runs may end';
wait_for { task($deaf)->{state} ne 'running' } 'its time to be over';
is_deeply [ @{ task($deaf) }{qw(state error)} ], [ 'failed',
    'interrupted: the tasks were stopped' ], 'it was interrupted';
wait_for { !grep { is_alive($_) } @pids } 'all of it to be gone';
is task($waits)->{state}, 'queued', 'what waits, waits';
is text_of($c->call_tool('hi')), 'hi', 'and NGINX continues';
$tg->reload($conf);
$c = $tg->connect;
$c->rpc('ping');
is $c->result_of('task.wait', taskId => $waits)->{result}, 'waited',
    'until the next start';

done_testing;
