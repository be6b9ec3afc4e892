#!/usr/bin/perl
# Cancellation affects exactly one call: its program and all of its group end,
# others continue, and nothing more is sent for it.

use Toolgate::Test qw(Hang Way);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
$tg->conf("tool hang { $handler } method hang { $handler output text; }"
        . 'tool fill { exec sleep 1000; timeout 600s; }'
        . 'method now { return 1; }')->start;

# Ways to call, and to cancel.
my %cancel = (
    'notifications/cancelled' => 'requestId',
    '$/cancelRequest'         => 'id',
);
my @ways = Toolgate::Way->all($tg);
my %start = (
    legacy => sub { $ways[0]->start('hang', { key => $_[0] }) },
    modern => sub { $ways[1]->start('hang', { key => $_[0] }) },
);
my $plain = $tg->connect;
$start{plain} = sub { $plain->request('hang', { key => $_[0] }) };
my %client = (
    legacy => $ways[0]->client,
    modern => $ways[1]->client,
    plain  => $plain,
);

sub text_of_hang {
    my ($reply) = @_;
    return $reply->{result}{content}[0]{text} if ref $reply->{result};
    return $reply->{result};
}

my $n = 0;
for my $way (qw(legacy modern plain)) {
    my $client = $client{$way};
    for my $method (sort keys %cancel) {
        my @keys = map { 'k' . ++$n } 1 .. 3;
        my @ids = map { $start{$way}->($_) } @keys;
        $hang->started($_) for @keys;
        $client->notify($method,
            $way eq 'modern'
            ? $ways[1]->params({ $cancel{$method} => $ids[1] })
            : { $cancel{$method} => $ids[1] });
        $hang->wait_gone($keys[1]);
        ok $hang->is_whole($_), "$way, $method: another call continues"
            for @keys[ 0, 2 ];

        # Its id is free for another call.
        $client->{id} = $ids[1] - 1;
        my $again = $start{$way}->('again' . ++$n);
        $client->{id} = $ids[2];
        is $again, $ids[1], 'the same id';
        $hang->started("again$n");
        $hang->finish($_) for "again$n", @keys[ 0, 2 ];
        is text_of_hang($client->reply($again)), "done again$n\n",
            "$way, $method: the id has the new call's answer";
        is text_of_hang($client->reply($ids[$_])), "done $keys[$_]\n",
            "$way, $method: the answer of another"
            for 0, 2;
        ok $client->is_silent(0.05), "$way, $method: nothing else came";
    }
}

# Ids without a call: unknown, of another type, answered, of another connection,
# absent.
my $id = $start{plain}->('stays');
$hang->started('stays');
$plain->rpc('now');
my $other = $tg->connect;
for my $client ($plain, $other) {
    for my $wrong ($client == $other ? ($id) : (),
        "$id ", $id + 1000, undef, 1.5, [], { id => $id }, -$id, '')
    {
        $client->notify($_, { $cancel{$_} => $wrong }) for sort keys %cancel;
    }
    for my $method (sort keys %cancel) {
        $client->notify($method);
        $client->notify($method, {});
        $client->notify($method, [$id]);
        $client->notify($method, { wrong => $id });
    }
    $client->send_line('{"jsonrpc":"2.0","method":"$/cancelRequest",'
            . qq("params":{"id":"$id"}}));
    $client->send_line('{"jsonrpc":"2.0","method":"notifications/cancelled",'
            . qq("params":{"requestId":"$id","reason":7}}));
    is $client->rpc('now')->{result}, 1, 'still served';
}
ok $hang->is_whole('stays'), 'none of them is the call that runs';
$hang->finish('stays');
is $plain->reply($id)->{result}, "done stays\n", 'which ends by itself';
ok $_->is_silent(0.05), 'and nothing else was sent' for $plain, $other;

# Behind a runner that does not read now.
my $runner = $tg->runner_pid;
stopped(
    sub {
        my @ids = map { $start{plain}->("late$_") } 1 .. 3;
        $plain->notify('$/cancelRequest', { id => $ids[$_] }) for 0, 2;
        is $plain->rpc('now')->{result}, 1, 'served while the runner stands';
        $id = $ids[1];
    },
    $runner);
ok $hang->is_whole('late2'), 'the one that was not cancelled runs'
    if $hang->started('late2');
$hang->finish('late2');
is $plain->reply($id)->{result}, "done late2\n", 'to its end';
for my $key (qw(late1 late3)) {
    $hang->wait_gone($key) if $hang->has_started($key);
    pass "$key does not run";
}

# Waiting for a slot in the runner: it never starts.
my $filler = $tg->connect;
my @fill = map { $filler->request('tools/call', { name => 'fill' }) } 1 .. 64;
wait_for { 64 == grep {/sleep 1000$/} values %{ Toolgate::Test->processes }; }
    '64 programs';
$id = $start{plain}->('waits');
my $next = $start{plain}->('next');
$plain->rpc('now');
$plain->notify('$/cancelRequest', { id => $id });
# The two may be in different workers, so their order at the runner is unknown.
my $asker = $tg->connect($tg->state_dir . '/runner-3.sock');
wait_for { $asker->rpc('status')->{result}{queued} == 1 }
    'only the next one to wait';
$filler->notify('notifications/cancelled', { requestId => pop @fill })
    for 1 .. 2;
ok $hang->started('next'), 'the next one has its place';
ok !$hang->has_started('waits'), 'and it did not start';
$hang->finish('next');
is $plain->reply($next)->{result}, "done next\n", 'the next one ends';
ok $plain->is_silent(0.05), 'and nothing is said of it';
$filler->close;
wait_for { !grep {/sleep/} values %{ Toolgate::Test->processes } }
    'all programs to end';

done_testing;
