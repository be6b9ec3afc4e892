#!/usr/bin/perl
# Clients that have each sent nine megabytes of an incomplete message: the
# worker's memory has a bound.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
my $attacker = $hostile->attack(hoard => connections => 48);
is $attacker->line, 'sent', 'all have sent';
$hostile->call for 1 .. 30;
pass 'who behaves is served';
$hostile->{peak} = rss_kb($hostile->worker);
like $hostile->tg->log,
    qr/client closed: the clients of this worker use more than 256/,
    'the log says it';
$attacker->go;
my ($closed, $open) =
    $attacker->line =~ /^closed (\d+) open (\d+)$/;
cmp_ok $closed, '>', 10, 'some of them were closed';
cmp_ok $open, '>', 5, 'the others are served';
$hostile->serve;
is $attacker->ended, 'done', 'and get their answers';
# Half of a doubled buffer was never touched.
$hostile->look(memory => 300 * 1024);

done_testing;
