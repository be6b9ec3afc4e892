#!/usr/bin/perl
# Workers are killed while clients read, list and are subscribed to files and to
# a resource of an MCP server: clients of other workers lose nothing, those of
# killed ones connect again, and all learn of each change.

use Toolgate::Test qw(ResourceStorm);

use Time::HiRes qw(usleep);

use constant CLIENTS => 6;

my $rounds = $ENV{TOOLGATE_STORM_ROUNDS} // 8;
my $tg = Toolgate::Test->new;
$tg->allow_log(qr/exited on signal 9/);
my $storm = Toolgate::ResourceStorm->new($tg, imports => 1, lossy => 1);
$tg->conf($storm->body)->start;
wait_for { $tg->connect->call_tool('imp_subscribed')->{result} }
    'the MCP server';
$storm->start(CLIENTS);
$storm->change;
$storm->settle('the start');

for my $round (1 .. $rounds) {
    # Every other time while sessions move.
    if ($round % 2) {
        $tg->conf($storm->next_body);
        $tg->signal_reload('HUP');
        usleep(rand 20_000);
    }
    my @pids = $tg->worker_pids(all => 1);
    kill KILL => $pids[ int rand @pids ] if @pids;
    $storm->change;
    $storm->serve for 1 .. rand 10;
    $storm->change;
    $storm->settle("kill $round");
}
$storm->finish;
is_deeply [ $storm->faults ], [], 'all answered and notified';
cmp_ok $storm->joined, '>', CLIENTS, 'connections were lost';

done_testing;
