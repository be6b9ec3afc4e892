#!/usr/bin/perl
# allow and deny decide who may broadcast; the server's own rules decide who is
# notified. The capability is declared.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $listen = 'tool_runner ' . $tg->runner_path . '; tool_state_dir %%STATE%%;';
my $hi = 'tool hi { description "Says hi."; return hi; }';
$tg->conf(<<"END", server => 0)->start;
    tool_capability of.stream;
    server {
        listen unix:%%SOCKET%%; $listen $hi
        tool_capability claude/channel;
        tool_capability "a \\"b\\"" '{ "c" : [1, 2] }';
        method tell { broadcast event; }
        method denied { broadcast event; deny all; }
    }
    server {
        listen unix:%%DIR%%/kept.sock; $listen $hi
        tool_deny all;
        method tell { broadcast event; allow all; }
    }
END

my ($asks, $hears) = map { $tg->connect } 1 .. 2;
is_deeply $asks->rpc('initialize', { protocolVersion => '2025-06-18' })
    ->{result}{capabilities}{experimental},
    { 'claude/channel' => {}, 'a "b"' => { c => [ 1, 2 ] } },
    'the capabilities, legacy';
my %meta = (_meta => modern_meta());
is_deeply $tg->connect->rpc('server/discover', {%meta})
    ->{result}{capabilities}{experimental},
    { 'claude/channel' => {}, 'a "b"' => { c => [ 1, 2 ] } }, 'modern';
is_deeply $tg->connect($tg->dir . '/kept.sock')
    ->rpc('initialize', { protocolVersion => '2025-06-18' })
    ->{result}{capabilities}{experimental}, { 'of.stream' => {} },
    'inherited';

$hears->rpc('ping');
is $asks->rpc('denied', { n => 1 })->{error}{code}, -32601, 'it may not';
is_deeply $asks->rpc('tell', { n => 2 })->{result}, { clients => 2 },
    'it may';
is $_->notification('event')->{params}{n}, 2, 'and that is all'
    for $asks, $hears;
ok $hears->is_silent(0), 'no other broadcast is received';

# It may broadcast, but is not notified.
my $kept = $tg->connect($tg->dir . '/kept.sock');
is_deeply $kept->rpc('tell', {})->{result}, { clients => 0 },
    'no client receives it';
is $kept->rpc('hi')->{error}{code}, -32601, 'it is kept out';
ok $kept->is_silent(0), 'nor does it receive the broadcast';

# A config without broadcasts: nothing listens, nothing is shared.
$tg->reload("listen unix:%%SOCKET%%; $hi");
my $client = $tg->connect;
$client->request('subscriptions/listen',
    { notifications => { 'toolgate/broadcasts' => \1 }, %meta });
is_deeply $client->recv_json->{params}{notifications}, {},
    'no broadcasts are offered';
is $hears->rpc('ping')->{id}, 2, 'who was there stays';

# And back: existing clients are notified again.
$tg->reload("listen unix:%%SOCKET%%; $hi method tell { broadcast event; }");
wait_for { $asks->rpc('tell', { n => 3 })->{result}{clients} == 2 }
    'both to receive it';
is $_->notification('event')->{params}{n}, 3, 'one that moved' for $asks,
    $hears;

done_testing;
