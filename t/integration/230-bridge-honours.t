#!/usr/bin/perl
# What the bridge acknowledges to a modern agent is what its parent reports: not
# unknown resources, those without `watch`, those that the parent refuses.

use Toolgate::Test qw(Parent Way);

my $tg = Toolgate::Test->new;
my $file = $tg->file('text', '1');
my $acknowledged = 'notifications/subscriptions/acknowledged';

sub listen_to {
    my ($way, $id, @uris) = @_;
    $way->client->send_line($way->client->encode({ jsonrpc => '2.0', id => $id,
        method => 'subscriptions/listen', params => $way->params({
            notifications => { toolsListChanged => JSON::PP::true,
                resourceSubscriptions => \@uris } }) }));
}

sub honoured {
    my ($way) = @_;
    my $got = $way->client->notification($acknowledged)->{params}
        ->{notifications};
    ok $got->{toolsListChanged}, 'the list of tools is acknowledged';
    return join ' ', sort @{ $got->{resourceSubscriptions} // ['(none)'] };
}

# --- Toolgate ---------------------------------------------------------------

my $body = <<"END";
tool hi { description "Says hi."; return hi; }
resource n:watched { file $file; }
resource n:still { return 1; }
resource n:secret { deny all; file $file; }
END
$tg->conf($body)->start;
my $agent = Toolgate::Way->new('modern', $tg->bridge);
my $direct = Toolgate::Way->new('modern', $tg->connect);
my @uris = qw(n:nosuch n:watched n:still n:secret n:watched);
for my $way ($agent, $direct) {
    listen_to($way, 'a', @uris);
    is honoured($way), 'n:watched', 'only what is watched';
    listen_to($way, 'b', 'n:still');
    is honoured($way), '', 'nothing';
    listen_to($way, 'c', 'n:watched', 'n:still');
    is honoured($way), 'n:watched', 'a second time';
}
# An agent of the legacy era is answered as by the parent.
my $legacy = Toolgate::Way->new('legacy', $tg->bridge)->client;
is_deeply $legacy->rpc('resources/subscribe', { uri => 'n:still' })->{result},
    {}, 'legacy: a resource that is not watched';
is $legacy->rpc('resources/subscribe', { uri => 'n:nosuch' })->{error}{code},
    -32002, 'legacy: an unknown one';
$_->stop for $legacy, $agent->client;
$tg->stop;

# --- another parent ---------------------------------------------------------

my $parent = Toolgate::Parent->new($tg->socket_path);
my %capabilities = (capabilities => { tools => {},
    resources => { subscribe => \1 } });
$agent = Toolgate::Way->new('modern', $tg->bridge([
    '--grace', '1', $tg->socket_path ]));
my $conn = $parent->serve_as(\%capabilities, Toolgate::Parent::tool('one'));
listen_to($agent, 'a', 'x:1', 'x:2');
my %asked = map { $_->{params}{uri} => $_ }
    map { Toolgate::Parent::request($conn, 'resources/subscribe') } 1, 2;
Toolgate::Parent::answer($conn, $asked{'x:1'}, {});
ok $agent->client->is_silent(0), 'the bridge waits for the second answer';
$conn->close;
$conn = $parent->serve_as(\%capabilities, Toolgate::Parent::tool('one'));
%asked = map { $_->{params}{uri} => $_ }
    map { Toolgate::Parent::request($conn, 'resources/subscribe') } 1, 2;
$conn->send_line($conn->encode({ jsonrpc => '2.0', id => $asked{'x:2'}{id},
    error => { code => -32002, message => 'no' } }));
Toolgate::Parent::answer($conn, $asked{'x:1'}, {});
is honoured($agent), 'x:1', 'what the second parent has accepted';

# One that is cancelled while it waits; its resource is not kept.
listen_to($agent, 'b', 'x:3');
my $request = Toolgate::Parent::request($conn, 'resources/subscribe');
$agent->client->notify('notifications/cancelled', { requestId => 'b' });
ok $agent->client->rpc('ping')->{result}, 'cancelled';
Toolgate::Parent::answer($conn, $request, {});
is Toolgate::Parent::request($conn, 'resources/unsubscribe')->{params}{uri},
    'x:3', 'and unsubscribed';

# Without a parent the lists alone are acknowledged, after the grace period.
$parent->close;
$conn->close;
listen_to($agent, 'd', 'x:4', 'x:1');
is honoured($agent), 'x:1', 'what was accepted before is restored later';
$agent->client->stop;

done_testing;
