#!/usr/bin/perl
# A parent that starts after the agent: the agent, which reads capabilities
# once, uses whatever the parent turns out to have.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $tool = Toolgate::Parent::tool('one');
my $hello = { protocolVersion => '2025-11-25' };
my %assumed = (
    tools       => { listChanged => JSON::PP::true },
    prompts     => { listChanged => JSON::PP::true },
    resources   => { listChanged => JSON::PP::true,
        subscribe => JSON::PP::true },
    completions => {},
);
my ($bridge, $conn);

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }
sub refuse { return Toolgate::Parent::refuse($conn, @_) }

sub begin {
    $parent->close;
    $bridge = $tg->bridge([ '--grace', 1, $tg->socket_path ]);
    return $bridge->rpc('initialize', $hello)->{result}{capabilities};
}

# --- with everything ---

is_deeply begin(), \%assumed, 'declared without a parent';
my $id = $bridge->request('prompts/list');
like $bridge->rpc('resources/list')->{error}{message}, qr/not running/,
    'a list, meanwhile';
ok $bridge->reply($id)->{error}, 'and another one';
my %subscribe = (uri => 'a:1');
ok $bridge->rpc('resources/subscribe', \%subscribe)->{error},
    'and a subscription';
$parent->listen;
$conn = $parent->serve_as({
    capabilities => {
        prompts   => { listChanged => \1 },
        resources => { listChanged => \1, subscribe => \1 },
    } });
ok $bridge->notification("notifications/$_/list_changed"),
    "the $_ are here now"
    for qw(prompts resources);
$id = $bridge->request('prompts/list');
answer(request('prompts/list'), { prompts => [ { name => 'p' } ] });
is $bridge->reply($id)->{result}{prompts}[0]{name}, 'p', 'a prompt';
ok Toolgate::Parent::is_idle($conn), 'a failed subscription is not restored';
$bridge->stop;

# --- with tools only, as before there was anything else ---

begin();
$parent->listen;
$conn = $parent->serve($tool);
is $bridge->tool_names, 'one', 'tools';
my %empty = (
    'prompts/list'             => { prompts => [] },
    'resources/list'           => { resources => [] },
    'resources/templates/list' => { resourceTemplates => [] },
    'completion/complete'      => { completion => { values => [] } },
);
for my $method (sort keys %empty) {
    $id = $bridge->request($method);
    refuse(request($method), -32601, 'no such method');
    is_deeply $bridge->reply($id)->{result}, $empty{$method},
        "$method: empty, as the bridge has declared it";
    $id = $bridge->request($method, { _meta => modern_meta() });
    refuse(request($method), -32601, 'no such method');
    my %cached = $method =~ /list/
        ? (ttlMs => 0, cacheScope => 'private') : ();
    is_deeply $bridge->reply($id)->{result},
        { %{ $empty{$method} }, resultType => 'complete', %cached },
        "$method: to a modern agent";
}
$id = $bridge->request('prompts/get', { name => 'x' });
refuse(request('prompts/get'), -32601, 'no such method');
is_deeply $bridge->reply($id)->{error},
    { code => -32601, message => 'no such method' },
    'what is not there is refused by the parent';
$id = $bridge->request('prompts/list');
refuse(request('prompts/list'), -32603, 'broken');
is $bridge->reply($id)->{error}{code}, -32603, 'other errors stay errors';
$id = $bridge->request('tools/call', { name => 'one' });
answer(request('tools/call'), Toolgate::Parent::text_result('ok'));
is text_of($bridge->reply($id)), 'ok', 'a call';
is_deeply [ sort keys
        %{ $bridge->rpc('initialize', $hello)->{result}{capabilities} } ],
    ['tools'], 'who asks now hears what there is';
$bridge->stop;

done_testing;
