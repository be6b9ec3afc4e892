#!/usr/bin/perl
# A storm of reloads with clients of both eras that read and list resources,
# templates and prompts all the time, complete an argument, subscribe to files
# and listen to changes of the lists: each request is answered once, never by an
# older config than the one before, each change of a file is notified, none
# twice, and each reload is announced once to each client.

use Toolgate::Test qw(ResourceStorm);

use constant CLIENTS => 8;

my $reloads = $ENV{TOOLGATE_STORM_RELOADS} // 20;
my $tg = Toolgate::Test->new;
my $storm = Toolgate::ResourceStorm->new($tg);
$tg->conf($storm->body)->start;
$storm->start(CLIENTS);

for my $n (1 .. $reloads) {
    $storm->change if $n % 3 == 0;
    $tg->conf($storm->next_body);
    $tg->signal_reload('HUP');
    $storm->change if $n % 3 == 1;
    $storm->serve_until("the notices of reload $n", sub {
        return !grep { $_->{told}{prompts} < $n || $_->{told}{resources} < $n }
            $storm->clients;
    });
    $storm->settle("reload $n");
}
$storm->finish;
is_deeply [ $storm->faults ], [], 'all answered and notified';
is_deeply [ map { $_->{told} } $storm->clients ],
    [ ({ tools => 0, prompts => $reloads, resources => $reloads }) x CLIENTS ],
    'each reload was announced once to each client';

done_testing;
