#!/usr/bin/perl
# Users and scopes of HTTP clients decide what they see and call; challenges and
# metadata tell OAuth's clients where to get a token with which scopes.

use Toolgate::Test;
use Toolgate::HttpClient;
use Toolgate::McpHttp;

my $tg = Toolgate::Test->new;
my $body = <<'END';
tool open { return "$tool_user|$tool_scopes|$tool_client_uid"; }
tool ann { return hi; allow user=ann; deny all; }
tool not_bob { return hi; deny user=bob; }
tool write { return ok; allow "scope=t:read t:write" scope=admin; deny all; }
tool local { return hi; allow uid=0 gid=0; deny all; }
tool sure {
    ask go form { message Sure?; field why string required; }
    return "$tool_user: $tool_answer_go_why";
}
prompt secret { message user hi; allow scope=p; deny all; }
END
my $locations = sprintf <<'END', $tg->socket_path;
location = /mcp {
    auth_request /check;
    auth_request_set $user $http_x_test;
    auth_request_set $scopes $http_x_words;
    mcp_pass unix:%1$s;
    mcp_user $user;
    mcp_scopes $scopes;
    mcp_resource https://mcp.example.com/mcp;
    mcp_authorization_server https://login.example.com;
    mcp_scopes_supported t:read t:write;
}
location = /plain { mcp_pass unix:%1$s; mcp_user $http_x_test; }
location = /check {
    internal;
    if ($http_authorization = "") { return 401; }
    if ($http_authorization = "Bearer no") { return 403; }
    if ($http_authorization = "Bearer bad") { return 401; }
    return 204;
}
location ^~ /.well-known/oauth-protected-resource { mcp_metadata; }
END
$tg->allow_log(qr/auth request|rejected|access forbidden/);
$tg->conf($body, main => http_block($tg, $locations))->start;
my $http = Toolgate::HttpClient->new($tg);

sub ask {
    my ($method, $params, %header) = @_;
    my $path = delete $header{path} // '/mcp';
    return $http->ask(modern_request($method, $params, path => $path,
        headers => { Authorization => 'Bearer secret', %header }));
}
sub tools {
    return join ' ', map { $_->{name} }
        @{ ask('tools/list', {}, @_)->{json}{result}{tools} };
}

# --- lists and calls --------------------------------------------------------

is tools(), 'open not_bob sure', 'a client without a name';
is tools('X-Test' => 'ann'), 'open ann not_bob sure', 'ann';
is tools('X-Test' => 'bob'), 'open sure', 'bob';
is tools('X-Words' => 't:read'), 'open not_bob sure', 'one scope of two';
is tools('X-Words' => ' t:write  x t:read'), 'open not_bob write sure',
    'both scopes';
is tools('X-Words' => 'admin'), 'open not_bob write sure', 'the other rule';
is tools('X-Test' => 'ann', path => '/plain'), 'open ann not_bob sure',
    'without OAuth';
is ask('tools/call', { name => 'open' }, 'X-Test' => 'ann',
    'X-Words' => 'a b')->{json}{result}{content}[0]{text}, 'ann|a b|',
    'variables';
isnt ask('tools/call', { name => 'ann' }, 'X-Test' => 'eve')->{status}, 403,
    'a hidden tool is unknown';

# --- questions --------------------------------------------------------------

sub ask_sure {
    my ($user, $params) = @_;
    my $answer = $http->ask(modern_request('tools/call',
        { name => 'sure', %$params },
        meta => {
            %MODERN_META,
            'io.modelcontextprotocol/clientCapabilities' =>
                { elicitation => {} },
        },
        headers => { Authorization => 'Bearer secret', 'X-Test' => $user }));
    return $answer->{json};
}
my $asked = ask_sure('ann', {})->{result};
is $asked->{resultType}, 'input_required', 'a question';
my $answers = {
    requestState   => $asked->{requestState},
    inputResponses =>
        { go => { action => 'accept', content => { why => 'now' } } },
};
is ask_sure('bob', $answers)->{error}{code}, -32602,
    "a user with another one's state";
is ask_sure('ann', $answers)->{result}{content}[0]{text}, 'ann: now',
    'the user who was asked';

# --- challenges -------------------------------------------------------------

my $at = 'resource_metadata="https://mcp.example.com'
    . '/.well-known/oauth-protected-resource/mcp"';

sub is_challenge {
    my ($answer, $status, $challenge, $name) = @_;
    is $answer->{status}, $status, "$name: status";
    is $answer->{headers}{'www-authenticate'}, $challenge, "$name: challenge";
    is $answer->{headers}{'content-type'}, 'application/json', "$name: JSON";
    is $answer->{json}{error}{code}, -32600, "$name: error"
        or diag $answer->{body};
}
is_challenge(ask('tools/list', {}, Authorization => undef), 401,
    "Bearer $at", 'no token');
is_challenge(ask('tools/list', {}, Authorization => 'Bearer bad'), 401,
    qq(Bearer error="invalid_token", $at), 'a bad token');
is_challenge(ask('tools/list', {}, Authorization => 'Bearer no'), 403,
    "Bearer $at", 'refused by auth_request');
my $answer = ask('tools/call', { name => 'write' }, 'X-Words' => 't:read');
is_challenge($answer, 403, 'Bearer error="insufficient_scope", '
        . qq(scope="t:read t:write", $at), 'a scope is missing');
is $answer->{json}{id}, 7, 'with the id of the request';
is_challenge(ask('prompts/get', { name => 'secret' }), 403,
    qq(Bearer error="insufficient_scope", scope="p", $at), 'of a prompt');
is_challenge(ask('tools/call', { name => 'write' }, path => '/plain'), 403,
    'Bearer error="insufficient_scope", scope="t:read t:write"',
    'without metadata');

# --- metadata ---------------------------------------------------------------

my $known = '/.well-known/oauth-protected-resource';
for my $path ("$known/mcp", $known) {
    $answer = $http->ask(GET => $path);
    is $answer->{status}, 200, $path;
    is_deeply $answer->{json}, {
        resource                 => 'https://mcp.example.com/mcp',
        authorization_servers    => ['https://login.example.com'],
        scopes_supported         => [ 't:read', 't:write' ],
        bearer_methods_supported => ['header'],
    }, 'its document';
}
is $http->ask(GET => "$known/other")->{status}, 404, 'of no resource';

# --- tokens -----------------------------------------------------------------

unlike $tg->log, qr/secret/, 'no token in the log';

# --- mistakes ---------------------------------------------------------------

for my $case (
    [ 'mcp_user $http_authorization;', qr/must not be the token/ ],
    [ 'mcp_resource https://a/b;', qr/needs "mcp_pass" and/ ],
    map { [ "mcp_resource $_;", qr/"mcp_resource \S+": write the URI/ ] }
    qw(mcp ftp://a/b https:///x https://a/ https://a/b?c https://a/b/),
    'https://a/b#c')
{
    my ($rc, $out) = $tg->test_conf($body,
        main => http_block($tg, "location = /x { $case->[0] }"));
    isnt $rc, 0, "$case->[0] is refused";
    like $out, $case->[1], 'and why';
}

done_testing;
