#!/usr/bin/perl
# After a reload the sessions of old workers go to all new ones, not to the
# first one that wakes.

use Toolgate::Test qw(Move Way);

my $tg = Toolgate::Test->new(workers => 2);
my $body = 'tool pid { description "P."; return $pid; }';
$tg->conf($body)->start;
my @ways = map { Toolgate::Way->new('legacy', $tg->connect) } 1 .. 120;

for my $round (1 .. 10) {
    my (%of, $least);
    # By design, a worker gets none if it starts a second after the other one,
    # as on a busy machine: then another reload is tried.
    for my $try (1 .. 5) {
        move($tg, $body);
        %of = map { $_ => 0 } $tg->worker_pids;
        $of{ $_->call('pid')->{text} }++ for @ways;
        ($least) = sort { $a <=> $b } values %of;
        last if $least >= 40;
    }
    is scalar(keys %of), 2, "reload $round: the new workers have them";
    cmp_ok $least, '>=', 40, "reload $round: each of them has its part"
        or diag explain \%of;
}

done_testing;
