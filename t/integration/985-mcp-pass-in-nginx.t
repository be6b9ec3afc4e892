#!/usr/bin/perl
# NGINX's own modules in front of mcp_pass: passwords, subrequests, limits,
# logs, error pages, TLS and HTTP/2; bodies that are large, slow or cut, and
# requests that smuggle.

use Toolgate::Test qw(Tls);
use Toolgate::HttpClient;
use Toolgate::McpHttp;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
certify($dir, 'tls', alt => 'DNS:localhost');
my $body = <<'END';
tool_max_frame 1m;
tool size { return "$tool_arg_text"; }
tool hang { exec sleep 3600; timeout 2h; }
END
my (%port, $http);

sub conf {
    %port = map { $_ => free_port() } qw(tls h2);
    my $pass = 'mcp_pass unix:' . $tg->socket_path;
    my $locations = <<"END";
client_body_timeout 1s;
location = /mcp { $pass; client_max_body_size 3m; }
location = /small { $pass; client_max_body_size 1k; }
location = /basic {
    $pass;
    auth_basic tools;
    auth_basic_user_file $dir/passwords;
}
location = /yes { return 204; }
location = /no { return 403; }
location = /good { auth_request /yes; $pass; }
location = /bad { auth_request /no; $pass; }
location = /mirror { mirror /yes; $pass; }
location = /denied { deny all; $pass; }
location = /rate { limit_req zone=r; $pass; }
location = /one { limit_conn c 1; $pass; }
location = /log { access_log $dir/access.log mcp; $pass; }
location = /page { $pass; deny all; error_page 403 /error.html; }
location = /error.html { internal; return 200 page; }
location = /if { if (\$http_x_a) { set \$x 1; } $pass; }
END
    my $level = <<'END';
limit_req_zone $http_mcp_method zone=r:1m rate=1r/m;
limit_conn_zone $http_mcp_method zone=c:1m;
log_format mcp '$status $http_mcp_method $http_mcp_name $request_length';
END
    my $listen = <<"END";
listen 127.0.0.1:$port{tls} ssl http2;
listen 127.0.0.1:$port{h2} http2;
ssl_certificate $dir/tls.pem;
ssl_certificate_key $dir/tls.key;
END
    return ($body, main => http_block($tg, $locations, http => $level,
        listen => $listen));
}
$tg->file('passwords', "jo:{PLAIN}secret\n", 0644);
$tg->allow_log(qr/request rejected|message rejected|forbidden by rule/);
$tg->allow_log(qr/no user\/password|limiting (?:requests|connections)/);
$tg->allow_log(qr/too large body|client (?:timed out|sent)|temporary file/);
start_on_ports($tg, \&conf);

sub client { return Toolgate::HttpClient->new($tg) }
$http = client();

sub call {
    my ($text, %option) = @_;
    return modern_request('tools/call',
        { name => 'size', arguments => { text => $text } }, %option);
}

sub is_ok {
    my ($answer, $text, $name) = @_;
    is $answer->{status}, 200, $name or diag $answer->{body};
    ok $answer->{json}{result}{content}[0]{text} eq $text, "$name: the answer";
}

sub is_refused {
    my ($answer, $status, $name) = @_;
    is $answer->{status}, $status, $name;
    is $answer->{json}{error}{code}, $status < 500 ? -32600 : -32603,
        "$name: a JSON-RPC error" or diag $answer->{body};
}

# --- access, limits, logs ---------------------------------------------------

is_refused($http->ask(call('a', path => '/basic')), 401, 'no password');
is_ok($http->ask(call('a', path => '/basic',
    headers => { Authorization => 'Basic am86c2VjcmV0' })), 'a', 'a password');
is_ok($http->ask(call('a', path => '/good')), 'a', 'auth_request');
is_refused($http->ask(call('a', path => '/bad')), 403, 'auth_request refuses');
is_refused($http->ask(call('a', path => '/denied')), 403, 'deny');
is_ok($http->ask(call('a', path => '/rate')), 'a', 'limit_req');
is_refused($http->ask(call('a', path => '/rate')), 503, 'limit_req refuses');
my $busy = client();
$busy->send_request(modern_request('tools/call', { name => 'hang' },
    path => '/one'));
wait_for { client()->ask(call('a', path => '/one'))->{status} == 503 }
    'limit_conn refuses';
undef $busy;
wait_for { client()->ask(call('a', path => '/one'))->{status} == 200 }
    'the end of the other request';
is_ok($http->ask(call('a', path => '/log')), 'a', 'access_log');
wait_for { -s "$dir/access.log" } 'a log line';
like slurp("$dir/access.log"), qr{^200 tools/call size \d+$}, 'access_log';
my $answer = $http->ask(call('a', path => '/page'));
is $answer->{body}, 'page', 'error_page';
is_ok($http->ask(call('a', path => '/if', headers => { 'X-A' => 1 })), 'a',
    'in a block if');

# --- bodies -----------------------------------------------------------------

for my $size (0, 1, 900, 5_000, 20_000, 200_000, 900_000) {
    my $text = 'x' x $size;
    is_ok($http->ask(call($text)), $text, "$size bytes");
}
is_refused(client()->ask(call('x' x 1_100_000)), 413, 'tool_max_frame');
is_ok($http->ask(call('m', path => '/mirror')), 'm', 'mirror');
is_refused(client()->ask(call('x' x 100_000, path => '/mirror')), 413,
    'mirror, which writes a large body to a file');
is_refused(client()->ask(call('x' x 2_000, path => '/small')), 413,
    'client_max_body_size');

sub chunked {
    my (@request) = @_;
    my %option = @request[ 2 .. $#request ];
    my $text = delete $option{body};
    return ($request[0], $request[1],
        headers => [ @{ $option{headers} }, 'Transfer-Encoding' => 'chunked' ],
        body => undef), $text;
}
for my $size (10, 50_000, 900_000) {
    my $text = 'y' x $size;
    my @request = chunked(call($text));
    my $message = pop @request;
    $http->send_request(@request);
    $http->send_raw(sprintf "%x\r\n%s\r\n", length, $_)
        for $message =~ /(.{1,30000})/gs;
    $http->send_raw("0\r\n\r\n");
    is_ok($http->recv_response, $text, "$size bytes in chunks");
}
{
    my @request = chunked(call('z' x 1_500_000));
    my $message = pop @request;
    my $client = client();
    $client->send_request(@request);
    $client->send_raw(sprintf "%x\r\n%s\r\n0\r\n\r\n", length $message,
        $message);
    is_refused($client->recv_response, 413, 'too much in chunks');
}

# In pieces, with pauses that let NGINX read each.
{
    my @request = call('slow');
    my $text = delete { @request[ 2 .. 5 ] }->{body};
    $http->send_request(@request[ 0 .. 3 ], body => undef,
        headers => [ @{ $request[3] }, 'Content-Length' => length $text ]);
    $http->send_raw($_) for split //, $text;
    is_ok($http->recv_response, 'slow', 'byte by byte');
}
{
    my $client = client();
    my @request = call('cut');
    $client->send_request(@request[ 0 .. 3 ], body => undef,
        headers => [ @{ $request[3] }, 'Content-Length' => 1000 ]);
    $client->send_raw('{"jsonrpc"');
    is $client->recv_response->{status}, 408, 'a body that never ends';
    $client = client();
    $client->send_request(@request[ 0 .. 3 ], body => undef,
        headers => [ @{ $request[3] }, 'Content-Length' => 1000 ]);
    $client->send_raw('{"jsonrpc"');
    undef $client;
    is_ok($http->ask(call('a')), 'a', 'a body that is cut');
}

# --- smuggling --------------------------------------------------------------

my @common = ('Content-Type' => 'application/json');
for (
    [ 'two lengths', 'Content-Length' => 5, 'Content-Length' => 50 ],
    [ 'chunks with a length', 'Content-Length' => 5,
        'Transfer-Encoding' => 'chunked' ],
    [ 'an unknown coding', 'Transfer-Encoding' => 'x, chunked' ],
    [ 'a negative length', 'Content-Length' => -1 ],
    [ 'bad chunks', 'Transfer-Encoding' => 'chunked' ],
    )
{
    my ($name, @headers) = @$_;
    my $client = client();
    $client->send_request(POST => '/mcp', headers => [ @common, @headers ]);
    # The answer may close the connection first.
    eval { $client->send_raw("zz\r\nGET /yes HTTP/1.1\r\n\r\n") };
    my $first = $client->recv_response;
    like $first->{status}, qr/^(?:400|501)$/, $name;
    ok !eval { local $SIG{__WARN__}; $client->recv_response; 1 },
        "$name: one answer only";
}

# --- TLS and HTTP/2 ---------------------------------------------------------

sub curl {
    my ($url, @options) = @_;
    my (undef, undef, %request) = call('by curl');
    my @headers = @{ $request{headers} };
    my @arguments;
    while (my ($name, $value) = splice @headers, 0, 2) {
        push @arguments, '-H', "$name: $value" if defined $value;
    }
    my ($rc, $out, $err) = run_command({ timeout => 60 }, 'curl', '-sS', '-w',
        '\n%{http_version} %{http_code}', @options, @arguments, '-d',
        $request{body}, $url);
    is $rc, 0, 'curl' or diag $err;
    return $out;
}
like curl("https://localhost:$port{tls}/mcp", '--cacert', "$dir/tls.pem",
    '--resolve', "localhost:$port{tls}:127.0.0.1", '--http1.1'),
    qr/"text":"by curl".*\n1\.1 200$/s, 'TLS';
like curl("https://localhost:$port{tls}/mcp", '--cacert', "$dir/tls.pem",
    '--resolve', "localhost:$port{tls}:127.0.0.1", '--http2'),
    qr/"text":"by curl".*\n2 200$/s, 'TLS with HTTP/2';
like curl("http://127.0.0.1:$port{h2}/mcp", '--http2-prior-knowledge'),
    qr/"text":"by curl".*\n2 200$/s, 'HTTP/2';

done_testing;
