#!/usr/bin/perl
# A client that closes ends exactly the calls of its connection, in every
# dialect, however it closes; one that only shuts down writing gets its
# responses.

use Toolgate::Test qw(Hang Way);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
$tg->conf("tool hang { $handler }\ntool now { return ok; }")->start;

my $n = 0;
my $stays = Toolgate::Way->new(legacy => $tg->connect);
my $stays_id = $stays->start('hang', { key => 'stays' });
$hang->started('stays');

for my $name (@Toolgate::Way::ALL) {
    my $way = Toolgate::Way->new($name, $tg->connect);
    my @keys = map { 'k' . ++$n } 1 .. ($name eq 'ipc' ? 1 : 3);
    $way->start('hang', { key => $_ }) for @keys;
    $hang->started($_) for @keys;
    $way->client->close;
    $hang->wait_gone($_) for @keys;
    ok $hang->is_whole('stays'), "$name: another client's call continues";

    # Waiting calls of ipc are not started.
    next if $name ne 'ipc';
    $way = Toolgate::Way->new($name, $tg->connect);
    $way->start('hang', { key => $_ }) for 'first', 'second';
    $hang->started('first');
    $way->client->close;
    $hang->wait_gone('first');
    is $stays->call('now')->{text}, 'ok', 'served';
    ok !$hang->has_started('second'), 'ipc: the one behind it never starts';
}

# The end of a relay session, and of a killed bridge.
my $way = Toolgate::Way->new(relay => $tg->connect);
$way->start('hang', { key => 'shutdown' });
$hang->started('shutdown');
$way->client->send_line({ kind => 'shutdown' });
ok $way->client->at_eof, 'relay: closed at its shutdown';
$hang->wait_gone('shutdown');

for my $how (qw(KILL TERM stdin)) {
    my $bridge = $tg->bridge;
    $bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
    $bridge->request('tools/call',
        { name => 'hang', arguments => { key => "bridge$how" } });
    $hang->started("bridge$how");
    $how eq 'stdin' ? $bridge->shutdown_write : $bridge->signal($how);
    $hang->wait_gone("bridge$how");
    $bridge->wait_exit;
    ok $hang->is_whole('stays'), "a bridge ends ($how)";
}

# A bridge passes on cancellations.
my $bridge = $tg->bridge;
$bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
my @ids = map {
    $bridge->request('tools/call',
        { name => 'hang', arguments => { key => "agent$_" } })
} 1 .. 2;
$hang->started("agent$_") for 1 .. 2;
$bridge->notify('notifications/cancelled', { requestId => $ids[0] });
$hang->wait_gone('agent1');
ok $hang->is_whole('agent2'), 'an agent cancels one';
$hang->finish('agent2');
is text_of($bridge->reply($ids[1])), "done agent2\n",
    'and has the answer of the other';
ok $bridge->is_silent(0.05), 'and no other';

# Half closed: requests are answered, then the connection ends.
for my $name (@Toolgate::Way::ALL) {
    my $half = Toolgate::Way->new($name, $tg->connect);
    my $id = $half->start('hang', { key => "half$name" });
    $hang->started("half$name");
    $half->client->shutdown_write;
    is $stays->call('now')->{text}, 'ok', 'served';
    ok $hang->is_whole("half$name"), "$name: half closed, the call continues";
    $hang->finish("half$name");
    is $half->finish($id)->{text}, "done half$name\n", "$name: is answered";
    ok $half->client->at_eof, "$name: then closed";
}

$hang->finish('stays');
is $stays->finish($stays_id)->{text}, "done stays\n", 'through all of that';

done_testing;
