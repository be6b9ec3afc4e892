#!/usr/bin/perl
# A worker releases its programs and exits; another one adopts them. The runner
# stays as long as it holds a program.

use Toolgate::Test qw(Runner);

my $tg = Toolgate::Test->new;
my $go = $tg->dir . '/go';
my $wait = "until [ -e $go ]; do sleep 0.02; done";

sub release {
    my ($client, $id, $key) = @_;
    my $reply = $client->rpc('release', { id => $id, key => $key });
    return $reply->{result};
}

sub status_of {
    my ($client) = @_;
    return $client->rpc('status')->{result};
}

my $runner = Toolgate::Runner->start($tg, linger => 0, foreground => 1);
my $old = $runner->connect;
my $one = $old->request('exec',
    Toolgate::Runner::sh("echo \$\$ >$go.pid; $wait; echo one"));
my $two = $old->request('exec', Toolgate::Runner::sh("$wait; echo two"));
wait_for { (slurp("$go.pid") // '') =~ /\n/ } 'the program to run';
my $pid = slurp("$go.pid") + 0;

ok release($old, $one, 'k' x 32), 'the first is released';
ok release($old, $two, 'l' x 32), 'and so is the second';
is status_of($old)->{held}, 2, 'both are held';
is status_of($old)->{running}, 2, 'and run';
$old->close;

# Nobody is connected: the runner stays because it holds a program.
my $new = $runner->connect;
is status_of($new)->{running}, 2, 'they outlive their connection';
my $first = $new->request('adopt', { key => 'k' x 32 });
is status_of($new)->{held}, 1, 'one is adopted';
ok is_alive($pid), 'its program runs on';

open my $fh, '>', $go or die "$go: $!";
close $fh;
is $new->reply($first)->{result}{text}, "one\n", 'it is answered';
wait_for { status_of($new)->{running} == 0 } 'the second to end';
is status_of($new)->{held}, 1, 'the result of the second is kept';
$new->close;

my $newer = $runner->connect;
is $newer->rpc('adopt', { key => 'l' x 32 })->{result}{text}, "two\n",
    'and answered at once';
is $newer->rpc('adopt', { key => 'l' x 32 })->{error}{code}, -32602,
    'but only once';
is status_of($newer)->{held}, 0, 'nothing is held';

# The adopter disconnects: nobody wants the program any more.
unlink $go;
my $three = $newer->request('exec', Toolgate::Runner::sh($wait));
ok release($newer, $three, 'm' x 32), 'a third is released';
$newer->request('adopt', { key => 'm' x 32 });
is status_of($newer)->{held}, 0, 'and adopted';
$newer->close;
$runner->wait_gone;
pass 'with the last program, the runner has gone';
like $runner->log, qr/no worker needs it any more/, 'of its own will';
unlink "$go.pid";

# The runner is stopped, and ends its held programs.
$runner = Toolgate::Runner->start($tg);
my $client = $runner->connect;
my $four = $client->request('exec',
    Toolgate::Runner::sh("echo \$\$ >$go.pid; $wait"));
wait_for { (slurp("$go.pid") // '') =~ /\n/ } 'the program to run';
$pid = slurp("$go.pid") + 0;
ok release($client, $four, 'n' x 32), 'a fourth is released';
kill TERM => $runner->supervisor;
$runner->wait_gone;
ok !is_alive($pid), 'its program has gone with the runner';
done_testing;
