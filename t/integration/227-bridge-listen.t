#!/usr/bin/perl
# subscriptions/listen of a modern agent behind the bridge: all kinds of changes
# reach each subscription, and it outlives the bridge's connection.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $tool = Toolgate::Parent::tool('one');
my $key = 'io.modelcontextprotocol';
my %capabilities = (
    tools     => {},
    prompts   => { listChanged => \1 },
    resources => { listChanged => \1, subscribe => \1 },
);
my $updated = 'notifications/resources/updated';
my ($bridge, $conn);

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }

sub serve {
    $conn = $parent->serve_as({ capabilities => \%capabilities }, $tool);
    return;
}

sub is_quiet {
    my ($name) = @_;
    is_deeply $bridge->rpc('ping')->{result}, {}, $name;
    return ok $bridge->is_silent(0), "$name, and nothing else came";
}

$bridge = $tg->bridge;
serve();
my $meta = modern_meta();
my %all = (
    toolsListChanged      => JSON::PP::true,
    promptsListChanged    => JSON::PP::true,
    resourcesListChanged  => JSON::PP::true,
    resourceSubscriptions => [ 'b:1', 'b:2' ],
);
my $first = $bridge->request('subscriptions/listen',
    { _meta => $meta, notifications => \%all });
my @asked = map { request('resources/subscribe') } 1, 2;
is join(' ', sort map { $_->{params}{uri} } @asked), 'b:1 b:2',
    'the bridge subscribes to each resource, once';
ok $_->{params}{_meta}{'toolgate/listen'}, 'for a listen' for @asked;
ok $bridge->is_silent(0), 'nothing is acknowledged yet';
answer($_, {}) for @asked;
my $note = $bridge->notification('notifications/subscriptions/acknowledged');
my $honoured = $note->{params}{notifications};
@$_ = sort @$_ for $honoured->{resourceSubscriptions};
is_deeply $honoured, \%all, 'all kinds are acknowledged';
my $second = $bridge->request('subscriptions/listen',
    { _meta => $meta, notifications => { resourceSubscriptions => ['b:2'] } });
$bridge->notification('notifications/subscriptions/acknowledged');
is_quiet('the parent has answered');

sub by_id {
    my ($method, $n) = @_;
    my @notes = map { $bridge->notification($method)->{params} } 1 .. $n;
    return [ sort map {
        join ' ', $_->{uri} // '', $_->{_meta}{"$key/subscriptionId"}
    } @notes ];
}
$conn->notify($updated, { uri => $_ }) for qw(b:1 b:2);
is_deeply by_id($updated, 3),
    [ "b:1 $first", "b:2 $first", "b:2 $second" ], 'updates, by subscription';
for my $kind (qw(prompts resources)) {
    $conn->notify("notifications/$kind/list_changed");
    is_deeply by_id("notifications/$kind/list_changed", 1), [" $first"],
        "changes of the $kind";
}
is_quiet('the other subscription did not ask for these');

$conn->close;
serve();
@asked = map { request('resources/subscribe') } 1, 2;
is join(' ', sort map { $_->{params}{uri} } @asked), 'b:1 b:2',
    'restored on a new connection';
answer($_, {}) for @asked;
is_deeply by_id($updated, 3),
    [ "b:1 $first", "b:2 $first", "b:2 $second" ],
    'changes that may have been missed';

$bridge->notify('notifications/cancelled', { requestId => $first });
is request('resources/unsubscribe')->{params}{uri}, 'b:1',
    'the end of a subscription';
$bridge->notify('notifications/cancelled', { requestId => $second });
is request('resources/unsubscribe')->{params}{uri}, 'b:2', 'and of the last';
$conn->close;
serve();
$conn->notify('notifications/mark');
ok $bridge->rpc('ping')->{result}, 'a new connection';
ok Toolgate::Parent::is_idle($conn), 'with nothing to restore';
$bridge->stop;

done_testing;
