#!/usr/bin/perl
# The end of `subscriptions/listen` by the server: its result, then
# notifications/cancelled. A reload is no end, and behind a bridge the stop of
# NGINX is none either.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $key = 'io.modelcontextprotocol/subscriptionId';

sub body {
    my ($n) = @_;
    return "tool n$n { description N.; return $n; } "
        . 'resource r:1 { exec true; watch every=1h; }';
}
$tg->conf(body(0))->start;

# Returns a client with the subscriptions "a" and 7.
sub listener {
    my ($client) = @_;
    my $way = Toolgate::Way->new('modern', $client);
    for my $id ('a', 7) {
        $client->send_line($client->encode({ jsonrpc => '2.0', id => $id,
            method => 'subscriptions/listen', params => $way->params({
                notifications => { toolsListChanged => JSON::PP::true,
                    resourceSubscriptions => ['r:1'] } }) }));
        my $ack = $client->notification(
            'notifications/subscriptions/acknowledged')->{params};
        is_deeply [ $ack->{_meta}{$key},
            $ack->{notifications}{resourceSubscriptions} ],
            [ $id, ['r:1'] ], "$id is acknowledged";
    }
    return $client;
}

sub is_ended {
    my ($client, $name) = @_;
    for my $id (7, 'a') {
        my $result = $client->recv_json;
        is $result->{id}, $id, "$name: the result of $id";
        is_deeply [ @{ $result->{result} }{'resultType'},
            $result->{result}{_meta}{$key} ], [ 'complete', $id ],
            'with its members';
        my $cancelled = $client->recv_json;
        is $cancelled->{method}, 'notifications/cancelled', 'then this';
        is $cancelled->{params}{requestId}, $id, 'with the id';
        like $cancelled->{params}{reason}, qr/stopping|exits/, 'and a reason';
    }
    return ok $client->at_eof, "$name: then the end";
}

sub is_changed {
    my ($client, $name) = @_;
    my @ids = map {
        $client->notification('notifications/tools/list_changed')
            ->{params}{_meta}{$key}
    } 1, 2;
    return is_deeply [ sort @ids ], [ 7, 'a' ], "$name: both go on";
}

my $legacy = Toolgate::Way->new('legacy', $tg->connect)->client;
is_deeply $legacy->rpc('resources/subscribe', { uri => 'r:1' })->{result}, {},
    'a legacy client';
my $direct = listener($tg->connect);
my @agents = map { listener($tg->bridge) } 1 .. 2;
$tg->reload(body(1));
is_changed($_, 'a reload') for $direct, @agents;
ok $legacy->notification('notifications/tools/list_changed'), 'legacy, too';

$tg->stop;
is_ended($direct, 'a stop');
ok $legacy->at_eof, 'a legacy client gets no more than the end';
$tg->conf(body(2))->start;
is_changed($_, 'another NGINX') for @agents;

for my $agent (@agents) {
    wait_for {
        ($agent->rpc('tools/list')->{result}{tools}[0]{name} // '') eq 'n2'
    } 'the new tools';
    @{ $agent->{aside} } = ();
}
kill TERM => $agents[0]->{pid};
is_ended($agents[0], 'a bridge that is told to exit');
$agents[1]->shutdown_write;
ok $agents[1]->at_eof, 'an agent that ends its own side gets no more';

done_testing;
