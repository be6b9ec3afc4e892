#!/usr/bin/perl
# Clients that use all connections, or all descriptors: existing clients and
# their programs are served, and the worker keeps some for itself.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my @ways = (
    [ connections => 'worker_connections 128;', '' ],
    [ descriptors => 'worker_connections 512;', 'worker_rlimit_nofile 96;' ],
);
for my $way (@ways) {
    my ($what, $events, $main) = @$way;
    my $hostile = Toolgate::Hostile->new(
        events => $events,
        main   => $main,
        # No call yet: the runner is not connected when all are used.
        calls => 3,
    );
    my $tg = $hostile->tg;
    my $attacker = $hostile->attack('exhaust');
    my ($count) = $attacker->line =~ /^full (\d+)$/;
    cmp_ok $count, '>', 32, "$what: many are served";
    $hostile->call for 1 .. 60;
    pass "$what: those who were there are served on, the runner is reached";
    like $tg->log, qr/needs its last $what \(\w+\) for itself/,
        "$what: the log says it";
    unlike $tg->log, qr/ are not enough| \(2[34]: /,
        "$what: NGINX never had none";
    $attacker->go;
    $hostile->serve;
    is $attacker->ended, 'done', "$what: no more was asked";
    # A runner's connection has been added.
    $hostile->{fds}++;
    $hostile->look;
    $tg->stop;
}

done_testing;
