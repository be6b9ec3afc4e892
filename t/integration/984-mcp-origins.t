#!/usr/bin/perl
# mcp_origins: which web pages reach mcp_pass, before any authentication, and
# the headers that browsers ask for.

use Toolgate::Test qw(Tls);
use Toolgate::HttpClient;
use Toolgate::McpHttp;

use IO::Socket::INET;

my $tg = Toolgate::Test->new(workers => 1);
my $body = 'tool hi { return hi; }';
my $port;

sub conf {
    $port = free_port();
    my $pass = 'mcp_pass unix:' . $tg->socket_path;
    my $locations = <<"END";
location = /mcp { $pass; }
location = /list {
    $pass;
    mcp_origins http://localhost:6274 https://app.example.com;
}
location = /any { $pass; mcp_origins any; }
location = /locked {
    $pass;
    auth_basic tools;
    auth_basic_user_file @{[ $tg->dir ]}/passwords;
}
location = /other { return 200; }
END
    return ($body,
        main => http_block($tg, $locations, listen => "listen 127.0.0.1:$port;")
    );
}
$tg->file('passwords', "jo:{PLAIN}secret\n", 0644);
$tg->allow_log(qr/request rejected|no user\/password/);
start_on_ports($tg, \&conf);

# Requests over TCP on the loopback address, or over the Unix socket.
my %client;

sub ask {
    my ($where, $path, $headers, %option) = @_;
    my $http = $client{$where} //=
        $where eq 'unix'
        ? Toolgate::HttpClient->new($tg)
        : do {
        my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port")
            or die "connect: $!\n";
        Toolgate::HttpClient->over($socket, $socket, 'tcp');
        };
    my @request = modern_request('tools/list', {}, path => $path,
        headers => $headers);
    $request[0] = $option{method} if $option{method};
    pop @request, pop @request if $option{method};
    return $http->ask(@request);
}

sub is_allowed {
    my ($where, $path, $headers, $status) = @_;
    my $answer = ask($where, $path, $headers);
    is $answer->{status}, $status, join ' ', $where, $path,
        map {"$_: $headers->{$_}"} sort keys %$headers;
    if ($status == 403) {
        is $answer->{json}{error}{code}, -32600, 'a JSON-RPC error';
        ok !exists $answer->{json}{id}, 'without id';
        is $answer->{headers}{'access-control-allow-origin'}, undef,
            'that no page can read';
    } elsif ($headers->{Origin}) {
        is $answer->{headers}{'access-control-allow-origin'},
            $headers->{Origin}, 'which the page can read';
        is $answer->{headers}{vary}, 'Origin', 'and no other one';
    }
}

my $evil = 'http://evil.example.com';
for my $host ('localhost', "localhost:$port", "127.0.0.1:$port", '[::1]:80') {
    is_allowed(tcp => '/mcp', { Host => $host }, 200);
}
is_allowed(tcp => '/mcp', { Host => 'localhost', Origin => $_ }, 200)
    for 'http://localhost:6274', 'https://127.0.0.1:1', 'http://[::1]:1',
    "http://localhost:$port";
is_allowed(tcp => '/mcp', { Host => 'localhost', Origin => $_ }, 403)
    for $evil, 'null', 'http://localhost.evil.example.com',
    'http://evil.example.com/localhost', 'localhost', 'http://',
    'http://localhost@evil.example.com', 'http://127.0.0.1.nip.io', '';
is_allowed(tcp => '/mcp', { Host => $_ }, 403)
    for 'evil.example.com', 'localhost.evil.example.com';
is_allowed(tcp => '/mcp', { Host => 'evil.example.com', Origin => $evil }, 403);
is_allowed(tcp => '/mcp', { Host => 'localhost', Origin => 'http://localhost',
        origin => $evil }, 403);

# Behind a proxy, a page of the same host may call.
is_allowed(unix => '/mcp', { Host => 'tools.example.com' }, 200);
is_allowed(unix => '/mcp', { Host => 'tools.example.com',
        Origin => 'https://tools.example.com' }, 200);
is_allowed(unix => '/mcp', { Host => 'tools.example.com:444',
        Origin => "https://$_" }, 403)
    for 'tools.example.com', 'evil.example.com', 'localhost';

is_allowed(tcp => '/list', { Host => 'localhost', Origin => $_ }, 200)
    for 'http://localhost:6274', 'https://app.example.com';
is_allowed(tcp => '/list', { Host => 'app.example.com',
        Origin => 'https://app.example.com' }, 200);
is_allowed(tcp => '/list', { Host => 'localhost', Origin => $_ }, 403)
    for 'http://localhost:6275', 'http://app.example.com',
    'https://app.example.com:444', $evil;
is_allowed(tcp => '/any', { Host => 'evil.example.com', Origin => $evil }, 200);

# --- before authentication --------------------------------------------------

my %basic = (Authorization => 'Basic am86c2VjcmV0');
is_allowed(tcp => '/locked', { Host => 'localhost', Origin => $evil, %basic },
    403);
is_allowed(tcp => '/locked', { Host => 'localhost', Origin => $evil }, 403);
is_allowed(tcp => '/locked', { Host => 'localhost', %basic }, 200);
my $answer = ask(tcp => '/locked', { Host => 'localhost',
        Origin => 'http://localhost' });
is $answer->{status}, 401, 'without a password';
is $answer->{json}{error}{code}, -32600, 'a JSON-RPC error';
is $answer->{headers}{'access-control-allow-origin'}, 'http://localhost',
    'that the page can read';
like $answer->{headers}{'www-authenticate'}, qr/^Basic/, 'with the challenge';

# --- OPTIONS ----------------------------------------------------------------

my %preflight = (Host => 'localhost', Origin => 'http://localhost:6274',
    'Access-Control-Request-Method' => 'POST');
$answer = ask(tcp => '/locked', \%preflight, method => 'OPTIONS');
is $answer->{status}, 204, 'OPTIONS without a password';
like $answer->{headers}{'access-control-allow-headers'}, qr/Mcp-Method/,
    'allows headers';
like $answer->{headers}{'access-control-allow-methods'}, qr/POST/, 'and POST';
is ask(tcp => '/locked', { %preflight, Origin => $evil }, method => 'OPTIONS')
    ->{status}, 403, 'of a foreign page';
is ask(tcp => '/mcp', { Host => 'localhost' }, method => 'OPTIONS')->{status},
    405, 'OPTIONS without a page';
$answer = ask(tcp => '/other', { Origin => $evil, Host => 'evil.example.com' });
is $answer->{status}, 200, 'other locations';
is $answer->{headers}{vary}, undef, 'are as they were';

# --- mistakes ---------------------------------------------------------------

for (
    [ 'app.example.com', qr/an origin is a scheme, a host/ ],
    [ 'http://app.example.com/', qr/an origin is a scheme, a host/ ],
    [ 'http://', qr/an origin is a scheme, a host/ ],
    [ 'any http://localhost', qr/"mcp_origins any" takes no further/ ],
    [ 'any; mcp_origins any', qr/"mcp_origins" directive is duplicate/ ],
    [ '', qr/invalid number of arguments/ ],
    )
{
    my ($arguments, $error) = @$_;
    my ($rc, $out) = $tg->test_conf($body, main => http_block($tg,
        "location = /x { mcp_origins $arguments; }"));
    isnt $rc, 0, "mcp_origins $arguments";
    like $out, $error, 'is refused';
}

done_testing;
