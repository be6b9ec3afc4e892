#!/usr/bin/perl
# A reload moves idle sessions of every dialect to the new workers, also those
# that have sent nothing. None is closed, or notified if the catalog is equal.

use Toolgate::Test qw(Move Way);

my $tg = Toolgate::Test->new;
my $tools = 'tool hi { description "Says hi."; return hi; } '
    . 'tool pid { description "Who serves."; return $pid; }';

sub body {
    my ($n) = @_;
    return "$tools tool n { description \"Which.\"; return $n; } "
        . "method n { return $n; } method pid { return \$pid; }";
}

$tg->conf(body(0))->start;
my @old = $tg->worker_pids;

# Three of each, so that every worker probably has some.
my @ways = map { Toolgate::Way->all($tg) } 1 .. 3;
my @modern = map { $tg->connect } 1 .. 2;
for my $client (@modern) {
    $client->request('subscriptions/listen', {
        notifications => { toolsListChanged => \1 },
        _meta => modern_meta(),
    });
    is $client->recv_json->{method},
        'notifications/subscriptions/acknowledged', 'a subscription';
}
my @rpc = map { $tg->connect } 1 .. 3;
my @hello = map { $tg->connect } 1 .. 2;
$_->notify('notifications/toolgate/hello') for @hello;
my @mute = map { $tg->connect } 1 .. 3;
for my $way (@ways) {
    $way->list if $way->name ne 'ipc';
    is $way->call('n')->{text}, 0, $way->name . ': before';
}
is $_->rpc('n')->{result}, 0, 'rpc: before' for @rpc, @hello;

for my $n (1 .. 3) {
    my %old = map { $_ => 1 } $tg->worker_pids;
    move($tg, body($n));
    for my $way (@ways) {
        my $name = $way->name . " after reload $n";
        is $way->call('n')->{text}, $n, "$name: the new handler";
        ok !$old{ $way->call('pid')->{text} }, "$name: in a new worker";
    }
    for my $client (@rpc, @hello) {
        is $client->rpc('n')->{result}, $n, "rpc after reload $n";
        ok !$old{ $client->rpc('pid')->{result} }, 'in a new worker';
    }
    ok $_->rpc('ping')->{result}, "modern after reload $n" for @modern;
    # The responses came after any notification at the arrival.
    ok $_->is_silent(0), 'and nothing else was said'
        for @rpc, @hello, @modern, @mute, map { $_->client } @ways;
}

# A client that has sent nothing can be of any dialect.
for my $way (qw(ipc relay legacy)) {
    my $client = Toolgate::Way->new($way, shift @mute);
    is $client->call('n')->{text}, 3, "the first word: $way";
}

is scalar($tg->worker_pids(all => 1)), 2, 'no old worker is left';
done_testing;
