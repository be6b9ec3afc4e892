#!/usr/bin/perl
# Used limits of a client and a tool count on when the session moves: rates,
# concurrent programs, concurrent calls of a connection, and the bytes and calls
# of a connection.

use Toolgate::Test qw(Hang Move Way);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;

sub body {
    my ($n) = @_;
    return <<"END";
tool_max_inflight 3;
tool n { description "N."; return $n; }
tool few { description "F."; rate 1r/m burst=3; return few; }
tool hang { description "Hangs."; $handler }
tool one { description "One."; concurrency 1 queue=1; $handler }
END
}

$tg->conf(body(0))->start;

# --- rates ----------------------------------------------------------------

my @ways = Toolgate::Way->all($tg);
is $_->call('few')->{text}, 'few', $_->name . ': within the rate'
    for @ways[ 0, 1 ];
move($tg, body(1));
is $_->call('few')->{text}, 'few', $_->name . ': still within'
    for @ways[ 2, 3 ];
like $_->call('few')->{text}, qr/no more often/, $_->name . ': beyond'
    for @ways;
move($tg, body(2));
like $_->call('few')->{text}, qr/no more often/, $_->name . ': not forgotten'
    for @ways;

# --- concurrent programs --------------------------------------------------

# Waits until the runner has these numbers of programs and waiting calls.
sub runner_has {
    my ($running, $queued) = @_;
    my $runner = $tg->connect($tg->state_dir . '/runner-3.sock');
    wait_for {
        my $is = $runner->rpc('status')->{result};
        return $is->{running} == $running && $is->{queued} == $queued;
    } "$running programs and $queued that wait";
    $runner->close;
}

my $busy = qr/concurrency 1.*queue=1/;

# One runs, one waits; both move, and there is no room for a third.
my ($runs, $waits) =
    map { Toolgate::Way->new('legacy', $tg->connect) } 1 .. 2;
my $first = $runs->start('one', { key => 'first' });
$hang->started('first');
my $second = $waits->start('one', { key => 'second' });
runner_has(1, 1);
like $ways[0]->call('one', { key => 'third' })->{text}, $busy, 'no third';
move($tg, body(3));
like $_->call('one', { key => 'third' })->{text}, $busy,
    $_->name . ': nor after a reload'
    for @ways;
ok !$hang->has_started('second'), 'the second waits on';
$hang->finish('first');
is $runs->finish($first)->{text}, "done first\n", 'the first ends';
$hang->started('second');
my $third = $runs->start('one', { key => 'third' });
runner_has(1, 1);
move($tg, body(4));
$hang->finish($_) for qw(second third);
is $waits->finish($second)->{text}, "done second\n", 'the second';
is $runs->finish($third)->{text}, "done third\n", 'and the third';

# A waiting call is cancelled after it moved: it never runs.
$first = $runs->start('one', { key => 'fourth' });
$hang->started('fourth');
$second = $waits->start('one', { key => 'fifth' });
runner_has(1, 1);
move($tg, body(5));
$waits->client->notify('notifications/cancelled', { requestId => $second });
runner_has(1, 0);
$third = $ways[0]->start('one', { key => 'sixth' });
$hang->finish($_) for qw(fourth fifth sixth);
is $runs->finish($first)->{text}, "done fourth\n", 'what ran ends';
is $ways[0]->finish($third)->{text}, "done sixth\n", 'there was room';
ok !$hang->has_started('fifth'), 'what was cancelled never ran';
ok $waits->client->is_silent(0), 'nor is it answered';

# --- calls of one connection ----------------------------------------------

my $client = Toolgate::Way->new('legacy', $tg->connect);
my %id = map { $_ => $client->start('hang', { key => $_ }) } qw(a b c);
$hang->started($_) for sort keys %id;
like $client->call('hang', { key => 'd' })->{text}, qr/tool_max_inflight/,
    'a fourth is too many';
move($tg, body(6));
like $client->call('hang', { key => 'd' })->{text}, qr/tool_max_inflight/,
    'also after a reload';
$hang->finish('a');
is $client->finish(delete $id{a})->{text}, "done a\n", 'one ends';
$id{d} = $client->start('hang', { key => 'd' });
$hang->started('d');
for my $key (sort keys %id) {
    $hang->finish($key);
    is $client->finish($id{$key})->{text}, "done $key\n", "$key ends";
}
ok $client->client->is_silent(0), 'and nothing else is said';

done_testing;
