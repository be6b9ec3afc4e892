#!/usr/bin/perl
# Workers are killed while sessions move, as senders and as receivers. A session
# is either moved or closed: its client gets each response once, or sees the end
# of the connection. Nobody waits for ever, and new connections are served.

use Toolgate::Test qw(Storm);

use Time::HiRes qw(usleep);

use constant CLIENTS => 20;

my $rounds = 30;
my $tg = Toolgate::Test->new;
$tg->allow_log(qr/exited on signal 9/);

# In each round one is killed, when the first old worker was told to exit or a
# moment later: while it sends and a new one receives.
my $armed = 0;
my %killed = (old => 0, new => 0);
my $storm = Toolgate::Storm->new(
    $tg,
    lossy => 1,
    told  => sub {
        my ($storm, $pid) = @_;
        return if !$armed;
        $armed = 0;
        usleep(rand 3000) if rand() < 0.7;
        my $which = rand() < 0.7 ? 'new' : 'old';
        my ($victim) = $which eq 'old' ? $pid
            : (sort { rand() <=> 0.5 } $storm->newest_pids)[0];
        # An old one may have exited by now.
        $killed{$which} += kill KILL => $victim if $victim;
    });
$storm->start(CLIENTS);
# Until a kill has had an effect, at least some rounds.
for my $round (1 .. $rounds * 5) {
    last if $round > $rounds && $killed{new} && $storm->joined > CLIENTS;
    $armed = 1;
    $storm->reload;
    $storm->pass(0.05);
}
$storm->reload->calm;
diag $storm->story . ", killed: $killed{new} new, $killed{old} old";
is_deeply [ $storm->faults ], [], 'no answer is lost without its connection';
cmp_ok $killed{new}, '>', 0, 'new workers were killed';
cmp_ok $storm->joined, '>', CLIENTS, 'which took sessions along';
is scalar($tg->worker_pids(all => 1)), 2, 'two workers';
$storm->leave;

done_testing;
