#!/usr/bin/perl
# What an agent has set in its session outlives the bridge's connection:
# subscriptions to resources, and the level of logs. Nothing is missed, and a
# request that may have been started is not sent again.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $tool = Toolgate::Parent::tool('one');
my $key = 'io.modelcontextprotocol';
my %capabilities = (
    tools     => {},
    prompts   => { listChanged => \1 },
    resources => { listChanged => \1, subscribe => \1 },
    logging   => {},
);
my $updated = 'notifications/resources/updated';
my ($bridge, $conn);

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }
sub refuse { return Toolgate::Parent::refuse($conn, @_) }

sub serve {
    $conn = $parent->serve_as({ capabilities => \%capabilities }, $tool);
    return;
}

# Passes a request on, and returns the answer.
sub relay {
    my ($method, $params, $result) = @_;
    my $id = $bridge->request($method, $params);
    answer(request($method), $result // {});
    return $bridge->reply($id)->{result};
}

sub updates {
    my ($n) = @_;
    return sort map { $bridge->notification($updated)->{params}{uri} } 1 .. $n;
}

sub is_quiet {
    my ($name) = @_;
    is_deeply $bridge->rpc('ping')->{result}, {}, $name;
    return ok $bridge->is_silent(0), "$name, and nothing else came";
}

$bridge = $tg->bridge;
serve();
$bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
relay('resources/subscribe', { uri => $_ }) for qw(a:1 a:2 a:3);
relay('resources/unsubscribe', { uri => 'a:2' });
relay('logging/setLevel', { level => 'notice' });
my $id = $bridge->request('resources/subscribe', { uri => 'a:none' });
refuse(request('resources/subscribe'), -32002, 'none', { uri => 'a:none' });
is $bridge->reply($id)->{error}{code}, -32002, 'a subscription is refused';
$conn->notify($updated, { uri => 'a:1', _meta => { k => 1 } });
is_deeply $bridge->notification($updated)->{params},
    { uri => 'a:1', _meta => { k => 1 } }, 'an update, as it is';
relay('prompts/list', {}, { prompts => [] });
is_quiet('before');

$conn->close;
serve();
is_deeply request('logging/setLevel')->{params}, { level => 'notice' },
    'a new connection: the level of logs';
my @asked = map { request('resources/subscribe') } 1, 2;
is join(' ', sort map { $_->{params}{uri} } @asked), 'a:1 a:3',
    'and the subscriptions';
ok $bridge->notification('notifications/prompts/list_changed'),
    'the agent may have missed a change of the prompts that it has listed';
is_quiet('of no resources');
answer($_, {}) for @asked;
is_deeply [ updates(2) ], [qw(a:1 a:3)], 'and changes of resources';
is_quiet('then');

# A request in flight: it may have been started.
$id = $bridge->request('prompts/get', { name => 'p' });
request('prompts/get');
my $sub = $bridge->request('resources/subscribe', { uri => 'a:4' });
request('resources/subscribe');
$conn->close;
my $error = $bridge->reply($id)->{error};
is $error->{code}, -32603, 'a request in flight fails';
like $error->{message}, qr{lost while prompts/get was running.*may or may not},
    'and is not sent again';
ok $bridge->reply($sub)->{error}, 'a subscription too';
serve();
@asked = map { request('resources/subscribe') } 1, 2;
is join(' ', sort map { $_->{params}{uri} } @asked), 'a:1 a:3',
    'which is no subscription then';

# The parent says that nothing was started; and closes while the subscriptions
# are being restored.
$id = $bridge->request('prompts/get', { name => 'p' });
request('prompts/get');
answer($asked[0], {});
$conn->notify('notifications/toolgate/closing', { reason => 'x' });
ok Toolgate::Parent::is_left($conn), 'a shutdown notice';
serve();
@asked = map { request('resources/subscribe') } 1, 2;
refuse($asked[0], -32002, 'gone');
answer($asked[1], {});
answer(request('prompts/get'), { messages => [] });
is_deeply $bridge->reply($id)->{result}, { messages => [] },
    'a request that was not started is sent again';
is join(' ', updates(3)), 'a:1 a:1 a:3',
    'updates of all, also of one that has gone';
$bridge->stop;

# --- many ---

$bridge = $tg->bridge;
serve();
$bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
my @ids = map { $bridge->request('resources/subscribe', { uri => "c:$_" }) }
    1 .. 1024;
answer(request('resources/subscribe'), {}) for @ids;
$bridge->reply($_) for @ids;
like $bridge->rpc('resources/subscribe', { uri => 'c:more' })
    ->{error}{message}, qr/1024/, 'no more than 1,024';
relay('resources/subscribe', { uri => 'c:7' });
$conn->close;
serve();
my %again;
while (keys %again < 1024) {
    my @part = map { request('resources/subscribe') }
        1 .. (1024 - keys %again < 16 ? 1024 - keys %again : 16);
    $again{ $_->{params}{uri} }++ for @part;
    if (keys %again == 16) {
        ok Toolgate::Parent::is_idle($conn), 'sixteen at once';
    }
    answer($_, {}) for @part;
}
is_deeply [ updates(1024) ], [ sort keys %again ], 'all are restored, once';
$bridge->stop;

done_testing;
