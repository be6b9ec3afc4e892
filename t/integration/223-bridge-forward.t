#!/usr/bin/perl
# The bridge forwards requests of any method, in the agent's era, and returns
# results and errors as they are. It declares what its parent declares.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $tool = Toolgate::Parent::tool('one');
my %capabilities = (
    tools     => { listChanged => JSON::PP::true },
    prompts   => { listChanged => JSON::PP::true },
    resources =>
        { listChanged => JSON::PP::true, subscribe => JSON::PP::true },
    completions    => {},
    logging        => {},
    extensions     => { 'a.b/c' => { d => 1 } },
    'x-unknown'    => { y => [1] },
    experimental   => { 'claude/channel' => {} },
);
my %about = (
    capabilities => \%capabilities,
    serverInfo   => {
        name        => 'p',
        version     => '1',
        title       => "The \x{201c}P\x{201d}",
        description => 'It serves.',
        websiteUrl  => 'https://example.com/',
        icons       => [ { src => 'data:,x', mimeType => 'image/png' } ],
    },
    instructions => 'Ask.',
);
my $key = 'io.modelcontextprotocol';
my ($bridge, $conn);

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }
sub refuse { return Toolgate::Parent::refuse($conn, @_) }

sub begin {
    my ($about, @args) = @_;
    $bridge = $tg->bridge([ @args, $tg->socket_path ]);
    $conn = $parent->serve_as($about, $tool);
    return;
}

# --- what the parent declares ---

begin(\%about);
my $known = $bridge->rpc('initialize', { protocolVersion => '2025-11-25' })
    ->{result};
is_deeply $known->{capabilities}, \%capabilities, 'capabilities, as they are';
is_deeply $known->{serverInfo}, $about{serverInfo}, 'serverInfo too';
is $known->{instructions}, 'Ask.', 'and the instructions';

# --- requests of a legacy agent ---

for my $case (
    [ 'prompts/list', { cursor => '' } ],
    [ 'prompts/get', { name => 'p', arguments => { a => "\x{2603}" } } ],
    ['resources/list'],
    [ 'resources/templates/list', {} ],
    [ 'resources/read', { uri => 'a:b', other => [ 1, { c => undef } ] } ],
    [
        'completion/complete',
        {
            ref      => { type => 'ref/prompt', name => 'p' },
            argument => { name => 'a', value => '' }
        }
    ],
    [ 'skills/list', { cursor => 'x' } ],
    [ 'resources/directory/read', { uri => 'a:/' } ],
    [ 'anything else', { _meta => { 'a/b' => 1 } } ])
{
    my ($method, $params) = @$case;
    my $id = $bridge->request($method, $params);
    my $asked = request($method);
    is_deeply $asked->{params}, $params // {}, "$method: its params";
    my $result = { $method => [ 1, "\x{1f600}" ], _meta => { k => 'v' } };
    answer($asked, $result);
    is_deeply $bridge->reply($id)->{result}, $result, "$method: its result";
}

# Byte for byte, as far as JSON allows.
my $uri = '"uri":"a:\u0062","n":1.0E+2';
$bridge->send_line('{"jsonrpc":"2.0","id":"r","method":"resources\/read",'
    . qq("params":{$uri}}));
my $line = $conn->recv_line;
like $line, qr{"method":"resources/read","params":\{\Q$uri\E\}\}$},
    'params byte for byte';
my $asked = Toolgate::Json::decode($line);
my $text = '"contents":[{"uri":"a:b","blob":"\/w=="}],"z":1.50';
$conn->send_line(qq({"jsonrpc":"2.0","id":$asked->{id},"result":{$text}}));
is $bridge->recv_line, qq({"jsonrpc":"2.0","id":"r","result":{$text}}),
    'a result byte for byte';

# Errors.
for my $error (
    { code => -32002, message => 'none', data => { uri => 'a:b' } },
    { code => -32601, message => 'not that' },
    { code => -32042, message => "say \"x\"", data => [ { y => 1.5 } ] },
    { code => 7, message => 'x', data => undef })
{
    my $id = $bridge->request('resources/read', { uri => 'a:b' });
    $conn->send_line({ jsonrpc => '2.0',
        id => request('resources/read')->{id}, error => $error });
    is_deeply $bridge->reply($id)->{error}, $error,
        "an error of code $error->{code}";
}

# --- progress, cancellation ---

my $id = $bridge->request('resources/read',
    { uri => 'a:b', _meta => { progressToken => 'mine', 'a/b' => 1 } });
$asked = request('resources/read');
my $token = delete $asked->{params}{_meta}{progressToken};
ok defined $token && $token ne 'mine', 'a token of its own';
is_deeply $asked->{params}, { uri => 'a:b', _meta => { 'a/b' => 1 } },
    'other members of _meta stay';
$conn->notify('notifications/progress',
    { progressToken => $token, progress => 1, total => 2, message => 'm' });
is_deeply $bridge->notification('notifications/progress')->{params},
    { progressToken => 'mine', progress => 1, total => 2, message => 'm' },
    'progress';
$bridge->notify('notifications/cancelled', { requestId => $id });
is $conn->notification('notifications/cancelled')->{params}{requestId},
    $asked->{id}, 'a cancellation';
answer($asked, {});
is_deeply $bridge->rpc('ping')->{result}, {}, 'which nothing follows';
ok $bridge->is_silent(0), 'indeed';

# --- notifications ---

for my $note (
    ['notifications/prompts/list_changed'],
    ['notifications/resources/list_changed'],
    [ 'notifications/message', { level => 'info', data => { a => 1 } } ],
    [ 'notifications/other', { x => 1 } ])
{
    my ($method, $params) = @$note;
    $conn->notify($method, $params);
    is_deeply $bridge->notification($method)->{params}, $params, $method;
}
$bridge->stop;

# --- a modern agent ---

begin(\%about);
my $meta = {
    %{ modern_meta() },
    "$key/clientCapabilities" =>
        { sampling => {}, extensions => { "$key/ui" => { a => [] } } },
    "$key/clientInfo" => { name => 'agent', version => '3' },
    "$key/logLevel"   => 'debug',
    progressToken     => 7,
    'a/b'             => 1,
};
$id = $bridge->request('resources/read', { uri => 'a:b', _meta => $meta });
$asked = request('resources/read');
isnt delete $asked->{params}{_meta}{progressToken}, 7, 'a token of its own';
is_deeply $asked->{params},
    { uri => 'a:b',
        _meta => { map { $_ => $meta->{$_} }
            grep { $_ ne 'progressToken' } keys %$meta } },
    'modern: the params, with all of _meta';
$conn->notify('notifications/message', { level => 'info', data => 'x' });
is_deeply $bridge->notification('notifications/message')->{params},
    { level => 'info', data => 'x' }, 'logs, as the request wants them';
my $result = {
    resultType => 'input_required',
    _meta      => { "$key/serverInfo" => { name => 'other' } },
    ttlMs      => 5,
};
answer($asked, $result);
is_deeply $bridge->reply($id)->{result}, $result, 'its result as it is';
delete $meta->{$_} for "$key/logLevel", 'progressToken';
for my $case ([ 'prompts/list', 1 ], [ 'resources/read', 1 ], ['prompts/get'])
{
    my ($method, $is_cached) = @$case;
    $id = $bridge->request($method, { _meta => $meta });
    answer(request($method), { x => 1 });
    is_deeply $bridge->reply($id)->{result}, {
        resultType => 'complete',
        $is_cached ? (ttlMs => 0, cacheScope => 'private') : (),
        x => 1,
    }, "$method: a legacy result gets what modern agents require";
}
$conn->notify('notifications/message', { level => 'info', data => 'x' });
# A tool call of an agent with an extension.
$id = $bridge->request('tools/call', { name => 'one', _meta => $meta });
$asked = request('tools/call');
is_deeply $asked->{params}{_meta}, $meta, 'the agent declares its extensions';
$result = {
    resultType => 'task',
    taskId     => 't',
    _meta      => { "$key/serverInfo" => { name => 'other' } },
};
answer($asked, $result);
is_deeply $bridge->reply($id)->{result}, $result,
    'the result of an extension, as it is';

$id = $bridge->request('server/discover', { _meta => $meta });
$asked = request('server/discover');
is_deeply $asked->{params}{_meta}{"$key/clientInfo"},
    $meta->{"$key/clientInfo"}, 'server/discover is forwarded';
my %found = (
    supportedVersions => ['2026-07-28'],
    capabilities      => { %capabilities, extensions => { "$key/x" => {} } },
    instructions      => 'Other.',
    ttlMs             => 60000,
    cacheScope        => 'public',
);
answer($asked, { %found, resultType => 'complete', _meta => {} });
my $discovered = $bridge->reply($id)->{result};
is_deeply delete $discovered->{_meta},
    { "$key/serverInfo" => $about{serverInfo} }, 'its server';
is_deeply $discovered, { %found, resultType => 'complete' }, 'and its result';
ok $bridge->is_silent(0), 'no logs without a request that wants them';

# A parent that does not know server/discover, and one that does not answer.
$id = $bridge->request('server/discover', { _meta => $meta });
refuse(request('server/discover'), -32601, 'no');
$discovered = $bridge->reply($id)->{result};
is_deeply $discovered->{supportedVersions}, ['2026-07-28'],
    'an older parent: the bridge answers';
is_deeply $discovered->{capabilities}, \%capabilities,
    'with the capabilities of its handshake';
$id = $bridge->request('server/discover', { _meta => $meta });
$asked = request('server/discover');
is_deeply $bridge->reply($id)->{result}, $discovered, 'a silent one: likewise';
is $conn->notification('notifications/cancelled')->{params}{requestId},
    $asked->{id}, 'which need not answer any more';
$bridge->stop;

# --- --name ---

begin(\%about, '--name', 'mine');
$known = $bridge->rpc('initialize', { protocolVersion => '2025-11-25' })
    ->{result}{serverInfo};
is_deeply $known, { %{ $about{serverInfo} }, name => 'mine' },
    '--name changes only the name';
$bridge->stop;

# --- a parent that offers only tools ---

begin({});
$known = $bridge->rpc('initialize', { protocolVersion => '2025-11-25' })
    ->{result};
is_deeply [ sort keys %{ $known->{capabilities} } ], ['tools'], 'only tools';
$id = $bridge->request('prompts/list');
refuse(request('prompts/list'), -32601, 'Method not found', { a => 1 });
is_deeply $bridge->reply($id)->{error},
    { code => -32601, message => 'Method not found', data => { a => 1 } },
    'all else is refused as the parent refuses it';
is $bridge->tool_names, 'one', 'tools';
$id = $bridge->request('tools/call', { name => 'one' });
answer(request('tools/call'), Toolgate::Parent::text_result('ok'));
is text_of($bridge->reply($id)), 'ok', 'and calls';
$bridge->stop;

done_testing;
