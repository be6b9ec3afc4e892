#!/usr/bin/perl
# More sessions than the new workers have connections for: they wait, and move
# when there is room. None is lost.

use Toolgate::Test qw(Move);

use IO::Select;
use Time::HiRes qw(time);

use constant CLIENTS => 60;

my $tg = Toolgate::Test->new;

sub conf {
    my ($n, $connections, $workers) = @_;
    return $tg->conf("tool n { description \"N.\"; return $n; }\n"
            . "method n { return $n; }",
        events => "worker_connections $connections;", workers => $workers);
}

conf(0, 200, 2)->start;
my @clients = map { $tg->connect } 1 .. CLIENTS;
is $_->rpc('n')->{result}, 0, 'before' for @clients;

# The only new worker has room for half of them.
my @old = $tg->worker_pids;
conf(1, 40, 1);
$tg->allow_log(qr/worker_connections are not enough/);
$tg->reload;

# Each sends a request; an answered client closes to make room.
my %open = map {
    my $client = $_;
    fileno($client->{in}) => [ $client, $client->request('n') ];
} @clients;
my ($right, $lost) = (0, 0);
my $deadline = time + $Toolgate::Util::PATIENCE;
while (%open && time < $deadline) {
    my $select = IO::Select->new(map { $_->[0]{in} } values %open);
    for my $handle ($select->can_read(1)) {
        my ($client, $id) = @{ delete $open{ fileno $handle } };
        my $result = eval { $client->reply($id)->{result} };
        if (defined $result && $result == 1) {
            $right++;
        } else {
            diag $@ || "another answer: $result";
            $lost++;
        }
        $client->close;
    }
}
is $right, CLIENTS, 'all were answered by the new worker';
is $lost, 0, 'none was lost';
old_gone($tg, @old);
is $tg->connect->rpc('n')->{result}, 1, 'and there is room again';

done_testing;
