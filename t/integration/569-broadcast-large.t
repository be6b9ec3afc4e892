#!/usr/bin/perl
# Large broadcasts to many clients that do not read: the worker has one copy for
# all, serves others meanwhile, and each client gets all of them in order,
# between its own responses; also when sessions move before they were sent.

use strict;
use warnings;

use Toolgate::Test;

use constant CLIENTS => 60;
use constant SIZE    => 1_000_000;

my $tg = Toolgate::Test->new(workers => 1);
my $body = 'tool_send_timeout 1h; method tell { broadcast event; } '
    . 'method pid { return $pid; } tool echo { return $tool_arg_text; }';
$tg->conf($body)->start;

my $caller = $tg->connect;
is $caller->ipc_call('echo', { text => 'hi' })->{result}{content}[0]{text},
    'hi', 'a client that receives no broadcasts';
my $teller = $tg->connect;
$teller->rpc('pid');

# Half of them plain, some of relay, some with a subscription.
my @clients = map { $tg->connect } 1 .. CLIENTS;
for my $i (0 .. $#clients) {
    my $client = $clients[$i];
    if ($i % 4 == 1) {
        $client->send_line(
            { kind => 'mcp_request', id => 1, method => 'tools/list' });
        $client->recv_json;
    } elsif ($i % 4 == 3) {
        $client->request('subscriptions/listen', {
            notifications => { 'toolgate/broadcasts' => \1 },
            _meta         => modern_meta() });
        $client->recv_json;
    } else {
        $client->rpc('pid');
    }
}

sub worker { return ($tg->worker_pids)[0] }

# Returns the next line of a client, without the cost of decoding: its
# beginning, length and end.
sub line {
    my ($client) = @_;
    my $line = $client->recv_line;
    my ($n) = $line =~ /"n":(\d+)/;
    return ($n // substr($line, 0, 200), length $line, substr $line, -40);
}

my $n = 0;

sub broadcast {
    my ($size) = @_;
    # The caller is notified, too, and reads.
    my $id = $teller->request('tell', { n => ++$n, t => 'x' x $size });
    my %got;
    for (1 .. 2) {
        my $line = $teller->recv_line;
        $got{ $line =~ /"method"/ ? 'event' : 'reply' } = $line;
    }
    like $got{reply}, qr/"clients":@{[ CLIENTS + 1 ]}\D/, "$n: all are told";
    like $got{event}, qr/"n":$n\D.*x"\}\}$/, "$n: the teller, too";
    return;
}

sub serves {
    my ($what) = @_;
    is $caller->ipc_call('echo', { text => $what })->{result}{content}[0]{text},
        $what, "$what: others are served";
}

my $before = rss_kb(worker());
broadcast($_) for SIZE, 10, SIZE, SIZE;
serves('three large ones');

# A response after a broadcast is sent after it.
$clients[0]->request('pid');
$clients[0]->request('tools/call', { name => 'echo',
    arguments => { text => 'behind' } });
broadcast(20);
serves('and a small one');
my $grown = rss_kb(worker()) - $before;
# AddressSanitizer keeps freed memory for a while.
my $most = $ENV{ASAN_OPTIONS} ? 200_000 : 40_000;
cmp_ok $grown, '<', $most, "$grown KiB for three of them and @{[CLIENTS]}";

# By a reload, the first half has read, the other has not.
my @order;
for my $client (@clients[ 0 .. CLIENTS / 2 - 1 ]) {
    push @order, [ map { (line($client))[0] } 1 .. 5 ];
    push @{ $order[-1] }, map { (line($client))[0] } 1 .. 2
        if $client == $clients[0];
}
my $first = shift @order;
is_deeply [ grep {/^\d+$/} @$first ], [ 1 .. 5 ], 'in order';
is scalar(grep {/^\d+$/} @$first[ 0 .. 3 ]), 4, 'before the answers';
like "@$first", qr/"result":\d+.*behind/s, 'which come, too';
is_deeply $_, [ 1 .. 5 ], 'all, in order' for @order;

my $old = worker();
$tg->reload;
wait_for { !grep { $_ == $old } $tg->worker_pids(all => 1) } 'all to move';
serves('after a reload');
broadcast(30);
$grown = rss_kb(worker()) - $before;
cmp_ok $grown, '<', $most, "$grown KiB in the new worker";
for my $i (0 .. $#clients) {
    my $client = $clients[$i];
    my @from = $i < CLIENTS / 2 ? 6 : 1 .. 6;
    for my $n (@from) {
        my ($got, $len, $end) = line($client);
        is $got, $n, "client $i: $n";
        like $end, qr/x"\}\}$/, 'whole' if $i % 4 != 3 || $len < SIZE;
        cmp_ok $len, '>', SIZE, 'and large' if $n == 1 || $n == 3 || $n == 4;
    }
    ok $client->is_silent(0), 'and nothing twice';
}

done_testing;
