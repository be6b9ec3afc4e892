#!/usr/bin/perl
# After a reload the sessions of old workers go to all new ones, not to the
# first one that wakes.

use Toolgate::Test;
use Toolgate::Move;
use Toolgate::Way;

my $tg = Toolgate::Test->new(workers => 2);
my $body = 'tool pid { description "P."; return $pid; }';
$tg->conf($body)->start;
my @ways = map { Toolgate::Way->new('legacy', $tg->connect) } 1 .. 120;

for my $round (1 .. 10) {
    move($tg, $body);
    my %of = map { $_ => 0 } $tg->worker_pids;
    $of{ $_->call('pid')->{text} }++ for @ways;
    is scalar(keys %of), 2, "reload $round: the new workers have them";
    my ($least) = sort { $a <=> $b } values %of;
    cmp_ok $least, '>=', 40, "reload $round: each of them has its part"
        or diag explain \%of;
}

done_testing;
