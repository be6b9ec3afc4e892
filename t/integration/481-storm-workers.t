#!/usr/bin/perl
# A storm of reloads with changing numbers of workers and invalid configs.

use Toolgate::Test qw(Storm);

use constant CLIENTS => 20;

my $reloads = 25;
# Each pair of numbers comes once in 17 reloads.
my @workers = (1, 1, 2, 1, 3, 1, 4, 2, 2, 3, 2, 4, 3, 3, 4, 4);
my $tg = Toolgate::Test->new;
my $storm = Toolgate::Storm->new($tg)->start(CLIENTS);

my $refused = 0;
while ($storm->generation < $reloads) {
    if (rand() < 0.25) {
        $storm->refused;
        $refused++;
    }
    $storm->reload(workers => $workers[$storm->generation % @workers]);
}
$storm->refused;
$storm->reload(workers => 1)->calm;
diag $storm->story . ", $refused refused";
is_deeply [ $storm->faults ], [], 'all answered, once, by the right ones';
is scalar($storm->clients), CLIENTS, 'no client was disconnected';
is scalar($tg->worker_pids(all => 1)), 1, 'one worker is left';
$storm->leave;

done_testing;
