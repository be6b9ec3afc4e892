#!/usr/bin/perl
# kill -9 of a worker: its clients notice at once, its programs are ended, other
# clients do not notice, and a new worker serves.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
$tg->allow_log(qr/exited on signal 9/);
$tg->conf(<<'END')->start;
tool who { return $pid; }
tool nap { exec sleep 3600; timeout 2h; }
END

sub programs_are {
    my ($count) = @_;
    wait_for { $count == grep {/^\S*sleep 3600$/} values %{ $tg->processes }; }
        "$count programs to run";
}

my ($dies, $lives) = $tg->worker_pids;
my %clients;
for my $pid ($dies, $lives) {
    $clients{$pid} = [ map { client_of($tg, $pid) } 1 .. 3 ];
    is text_of($_->call_tool('who')), $pid, 'a client of a worker'
        for @{ $clients{$pid} };
}

my @busy = map { $clients{$_}[0] } $dies, $lives;
my @ids = map { $_->request('tools/call', { name => 'nap' }) } @busy;
programs_are(2);

kill KILL => $dies;
ok $_->at_eof, 'a client of the killed worker is closed'
    for @{ $clients{$dies} };
programs_are(1);

is text_of($_->call_tool('who')), $lives, 'a client of the other one stays'
    for @{ $clients{$lives} }[ 1, 2 ];
wait_for { 2 == grep { $_ != $dies } $tg->worker_pids } 'a new worker';
my ($new) = grep { $_ != $lives } $tg->worker_pids;
isnt $new, $dies, 'it is another one';
is text_of(client_of($tg, $new)->call_tool('who')), $new, 'it serves';
$busy[1]->close;
programs_are(0);

done_testing;
