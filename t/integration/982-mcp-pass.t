#!/usr/bin/perl
# mcp_pass: the order of checks of MCP over HTTP, with the status and the
# JSON-RPC error of each, in both eras.

use Toolgate::Test;
use Toolgate::HttpClient;
use Toolgate::McpHttp;

my $tg = Toolgate::Test->new;
my $body = <<'END';
tool_server_name front;
tool hi { return "hi $tool_client_name"; }
tool wait { exec sleep 0.2; }
tool region {
    input_schema '{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "more":{"type":"object","properties":{
            "count":{"type":"integer","x-mcp-header":"Count"}}}}}';
    return "in $tool_arg_region";
}
tool mine { return mine; allow uid=0; deny all; }
method build.status { return '{"ok":true}'; }
prompt greet { message user "Hello."; }
resource note:///today { return "buy milk"; }
END
my $locations = sprintf <<'END', $tg->socket_path;
location = /mcp { mcp_pass unix:%1$s; }
location = /modern { mcp_pass unix:%1$s; mcp_legacy off; }
END
$tg->allow_log(qr/request rejected|message rejected/);
$tg->conf($body, main => http_block($tg, $locations))->start;
my $http = Toolgate::HttpClient->new($tg);

my %meta = %MODERN_META;

sub modern {
    return $http->ask(modern_request(@_));
}

sub is_error {
    my ($answer, $status, $code, $name, $id) = @_;
    is $answer->{status}, $status, "$name: status";
    is $answer->{headers}{'content-type'}, 'application/json', "$name: JSON";
    is $answer->{json}{error}{code}, $code, "$name: code"
        or diag $answer->{body};
    is $answer->{json}{id}, $id, "$name: id";
}

# --- the modern era ---------------------------------------------------------

my $answer = modern('server/discover');
is $answer->{status}, 200, 'server/discover';
is $answer->{json}{id}, 7, 'with its id';
is_deeply $answer->{json}{result}{supportedVersions}, ['2026-07-28'],
    'and the versions';

$answer = modern('tools/call', { name => 'hi' });
is $answer->{json}{result}{content}[0]{text}, 'hi test', 'a call at once';
$answer = modern('tools/call', { name => 'wait' });
is $answer->{json}{result}{isError}, JSON::PP::false(), 'a call of the runner';
is $answer->{headers}{'content-length'}, length $answer->{body},
    'in one body';
is_deeply [ map { $_->{name} }
        @{ modern('tools/list')->{json}{result}{tools} } ],
    [qw(hi wait region)], 'no tool for a user of this machine';
is modern('build.status')->{json}{result}{ok}, JSON::PP::true(), 'a method';
is modern('prompts/get', { name => 'greet' })->{json}{result}{messages}[0]
    {content}{text}, 'Hello.', 'a prompt';
is modern('resources/read', { uri => 'note:///today' })->{json}{result}
    {contents}[0]{text}, 'buy milk', 'a resource';

for my $method (qw(GET DELETE PUT HEAD OPTIONS)) {
    $answer = $http->ask($method => '/mcp');
    is $answer->{status}, 405, $method;
    is $answer->{headers}{allow}, 'POST', 'what is allowed';
}
is_error(modern('ping', {}, headers => { 'Content-Type' => 'text/plain' }),
    415, -32600, 'type of the body');
is modern('server/discover', {}, headers => {
    'Content-Type' => 'Application/JSON; charset=utf-8' })->{status}, 200,
    'with parameters';
is_error(modern('server/discover', {}, headers => { Accept => 'text/html' }),
    406, -32600, 'Accept');
is modern('server/discover', {}, headers => { Accept => $_ })->{status}, 200,
    'Accept: ' . ($_ // 'none')
    for undef, '*/*', 'application/json', 'text/event-stream;q=0.5,text/html';

is_error(modern('x', {}, raw => '{"id":1,'), 400, -32700, 'no JSON');
is_error(modern('x', {}, raw => ''), 400, -32700, 'no body');
is_error(modern('x', {}, raw => '[' x 200), 400, -32600, 'too deep');
is_error(modern('x', {}, raw => '[]'), 400, -32600, 'a batch');
is_error(modern('x', {}, raw => '7'), 400, -32600, 'a number');
is_error(modern('x', {}, raw => '{"id":7,"method":"x"}'), 400, -32600,
    'no JSON-RPC', 7);
is_error(modern('x', {}, raw => '{"jsonrpc":"2.0","id":7,"method":1}'), 400,
    -32600, 'a method that is a number', 7);
is_error(modern('x', {}, id => 7.5), 400, -32600, 'a broken id');

my $version = 'io.modelcontextprotocol/protocolVersion';
my $capabilities = 'io.modelcontextprotocol/clientCapabilities';
for my $method (qw(server/discover tools/list)) {
    is_error(modern($method, {}, meta => 0), 400, -32602, "$method: no _meta",
        7);
    is_error(modern($method, {}, meta => { %meta, $capabilities => undef }),
        400, -32602, "$method: no capabilities", 7);
}
is_error(modern('tools/list', {}, meta => { %meta, $version => 1 }), 400,
    -32602, 'a version that is a number', 7);
is_error(modern('tools/list', {}, headers => { 'MCP-Protocol-Version' => $_ }),
    400, -32020, 'version in the header: ' . ($_ // 'none'), 7)
    for undef, '2025-11-25', '', '2026-07-28, 2026-07-28';
is_error(modern('tools/list', {}, meta => { %meta, $version => 'v9' }), 400,
    -32020, 'version only in _meta', 7);
$answer = modern('tools/list', {}, meta => { %meta, $version => 'v9' },
    headers => { 'MCP-Protocol-Version' => 'v9' });
is_error($answer, 400, -32022, 'an unknown version', 7);
is_deeply $answer->{json}{error}{data},
    { supported => ['2026-07-28'], requested => 'v9' }, 'what is known';

is_error(modern('tools/list', {}, headers => { 'Mcp-Method' => $_ }), 400,
    -32020, 'Mcp-Method: ' . ($_ // 'none'), 7)
    for undef, 'TOOLS/LIST', 'tools/call', '';
is_error(modern('tools/call', { name => 'hi' }, headers =>
            { 'Mcp-Name' => $_ }), 400, -32020,
    'Mcp-Name: ' . ($_ // 'none'), 7)
    for undef, 'HI', 'wait', '', '=?base64?aGk?=', '=?base64?aGl=?=',
    '=?base64?/w==?=';
is modern('tools/call', { name => 'hi' }, headers => { 'Mcp-Name' => $_ })
    ->{status}, 200, "Mcp-Name: $_"
    for "  hi \t", '=?base64?aGk=?=';
is modern('tools/list', {}, headers => {
    'Mcp-Method' => undef, 'mcp-METHOD' => 'tools/list' })->{status}, 200,
    'names of headers in any case';
is_error(modern('tools/list', {}, headers => {
    'Mcp-Method' => 'tools/list', 'mcp-method' => 'tools/list' }), 400, -32020,
    'a header twice', 7);

is_error(modern($_), 404, -32601, "$_", 7)
    for qw(initialize ping logging/setLevel resources/subscribe
    resources/unsubscribe unknown/method);

my $region = sub {
    my ($arguments, %headers) = @_;
    return modern('tools/call', { name => 'region', arguments => $arguments },
        headers => \%headers);
};
is $region->({})->{json}{result}{content}[0]{text}, 'in ', 'no argument';
is $region->({ region => 'eu', more => { count => 3 } },
    'Mcp-Param-Region' => 'eu', 'mcp-param-count' => '3')->{json}{result}
    {content}[0]{text}, 'in eu', 'arguments with headers';
is $region->({ region => "\x{e9}" }, 'Mcp-Param-Region' => '=?base64?w6k=?=')
    ->{status}, 200, 'in base64';
is $region->({ region => '' }, 'Mcp-Param-Region' => '')->{status}, 200,
    'an empty one';
is $region->({ more => { count => 3 } }, 'Mcp-Param-Count' => '3.0')->{status},
    200, 'integers by value';
is $region->({}, 'Mcp-Param-Other' => 'x')->{status}, 200, 'an unknown one';
is_error($region->({ region => 'eu' }, %$_), 400, -32020,
    'headers: ' . join(' ', %$_), 7)
    for {}, { 'Mcp-Param-Region' => 'us' }, { 'Mcp-Param-Region' => '' },
    { 'Mcp-Param-Region' => 'eu', 'Mcp-Param-Count' => 3 };
is_error($region->({ region => undef }, 'Mcp-Param-Region' => 'eu'), 400,
    -32020, 'a header without an argument', 7);

is_error(modern('tools/call', { name => 'none' }), 200, -32602,
    'an unknown tool', 7);
is_error(modern('tools/call', { name => 'mine' }), 200, -32602,
    'a tool that is not for this client', 7);
is_error(modern('tools/list', { cursor => 'x' }), 200, -32602, 'a bad cursor',
    7);
is_error(modern('resources/read', { uri => 'note:///none' }), 200, -32602,
    'no such resource', 7);

$answer = modern('notifications/cancelled', { requestId => 1 }, id => undef,
    meta => 0);
is $answer->{status}, 202, 'a notification';
is $answer->{body}, '', 'has no body';
is_error(modern('notifications/cancelled', {}, id => undef, meta => 0,
    headers => { 'Mcp-Method' => 'x' }), 400, -32020,
    'a notification with another header');
is_error(modern('x', {}, raw => '{"jsonrpc":"2.0","id":1,"result":{}}'), 400,
    -32600, 'a response');

# --- the legacy era, without sessions ---------------------------------------

sub legacy {
    my ($method, $params, %option) = @_;
    return modern($method, $params, meta => 0, headers => {
        'MCP-Protocol-Version' => $option{version}, 'Mcp-Method' => undef,
        'Mcp-Name' => undef,
    }, map { $_ => $option{$_} } grep { exists $option{$_} } qw(id raw path));
}
$answer = legacy('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 'old', version => '1' } });
is $answer->{status}, 200, 'initialize';
is $answer->{json}{result}{protocolVersion}, '2025-06-18', 'the version';
is $answer->{headers}{'mcp-session-id'}, undef, 'no session';
is_deeply $answer->{json}{result}{capabilities}{tools}, {},
    'no notification that would need a stream';
is legacy('notifications/initialized', undef, id => undef)->{status}, 202,
    'a notification';
is_deeply legacy('ping', undef, version => '2025-06-18')->{json}{result}, {},
    'ping';
is legacy('tools/call', { name => 'hi' }, version => '2025-11-25')->{json}
    {result}{content}[0]{text}, 'hi ', 'a call';
is legacy('tools/list')->{status}, 200, 'a request without a version';
is_error(legacy('tools/list', {}, version => $_), 400, -32600,
    "version $_", 7) for '2020-01-01', '', 'x';
is_error(legacy('resources/subscribe', { uri => 'note:///today' }), 200,
    -32601, 'no subscriptions', 7);
is_error(legacy('resources/read', { uri => 'note:///none' }), 200, -32002,
    'codes of the era', 7);
is legacy('x', {}, raw => '{"jsonrpc":"2.0","id":1,"result":{}}')->{status},
    202, 'a response';

$answer = legacy('initialize', { protocolVersion => '2025-06-18' },
    path => '/modern');
is_error($answer, 400, -32022, 'modern only', 7);
is_deeply $answer->{json}{error}{data},
    { supported => ['2026-07-28'], requested => '2025-06-18' }, 'says so';
is_error(legacy('tools/list', {}, path => '/modern'), 400, -32602,
    'modern only: other requests', 7);

# --- mistakes ---------------------------------------------------------------

sub refused {
    my ($location, $error, $stream) = @_;
    my ($rc, $out) = $tg->test_conf($stream // $body,
        main => http_block($tg, "location = /x { $location }"));
    isnt $rc, 0, "$location is refused";
    like $out, $error, 'and why';
}
my $socket = $tg->socket_path;
refused("mcp_pass unix:$socket.no;",
    qr/"mcp_pass unix:\S+" in \S+:\d+: no server with tools listens there/);
refused("mcp_pass unix:$socket;", qr/no server with tools listens/,
    'return hi;');
refused('mcp_pass :::;', qr/"mcp_pass :::": .*write it as in "listen"/);
refused("mcp_pass unix:$socket;", qr/that server does not speak MCP/,
    'tool_protocol ipc; tool x { return x; }');
refused("mcp_pass unix:$socket; toolgate_status;",
    qr/this location already has a handler/);
refused("mcp_pass unix:$socket; mcp_pass unix:$socket;", qr/is duplicate/);
refused("mcp_pass unix:$socket;",
    qr/invalid "input_schema": "x-mcp-header" must be the name of a header/,
    qq(tool x { input_schema '{"type":"object","properties":{$_}}'; return x; })
    )
    for '"a":{"type":"number","x-mcp-header":"A"}',
    '"a":{"type":"string","x-mcp-header":"A_B"}',
    '"a":{"type":"string","x-mcp-header":""}',
    '"a":{"type":"string","x-mcp-header":"A"},'
    . '"b":{"type":"boolean","x-mcp-header":"a"}';
refused("mcp_pass unix:$socket; mcp_heartbeat 10ms;", qr/at least 1s/);

done_testing;
