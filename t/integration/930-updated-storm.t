#!/usr/bin/perl
# A storm of reloads while files and a resource of an MCP server change: each
# change reaches each subscriber of both eras, whatever its session does.

use Toolgate::Test qw(ResourceStorm);

use Time::HiRes qw(usleep);

use constant CLIENTS => 6;

my $reloads = $ENV{TOOLGATE_STORM_RELOADS} // 15;
my $tg = Toolgate::Test->new;
my $storm = Toolgate::ResourceStorm->new($tg, imports => 1);
$tg->conf($storm->body)->start;
wait_for { $tg->connect->call_tool('imp_subscribed')->{result} }
    'the MCP server';
$storm->start(CLIENTS);
$storm->change;
$storm->settle('the start');

for my $n (1 .. $reloads) {
    $storm->change if rand() < 0.3;
    $tg->conf($storm->next_body);
    $tg->signal_reload('HUP');
    # While sessions leave, move or arrive.
    usleep(rand 30_000);
    $storm->change;
    $storm->serve for 1 .. rand 20;
    $storm->change;
    $storm->settle("reload $n") if $n % 2;
}
$storm->finish;
is_deeply [ $storm->faults ], [], 'all answered and notified';
is $storm->joined, CLIENTS, 'no connection is lost';
is scalar(grep { !$_->{told}{prompts} || !$_->{told}{resources} }
    $storm->clients), 0, 'the lists have changed for each client';

done_testing;
