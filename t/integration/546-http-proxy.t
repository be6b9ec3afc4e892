#!/usr/bin/perl
# Calls of HTTP, and an MCP server, through a configured proxy: it resolves the
# hosts, and cannot read HTTPS. The timeout of connecting.

use Toolgate::Test qw(McpWeb Proxy Tls Web);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $secret = 'Qz7hidden-token-9xK';
my $web = Toolgate::Web->new($tg);
my $mcp = Toolgate::McpWeb->new($tg, "secret=$secret");
my $proxy = Toolgate::Proxy->new($tg);
my $strict = Toolgate::Proxy->new($tg, refuses => 403);
$tg->file('key', "Bearer $secret\n", 0600);
certify($dir, 'inside', alt => 'DNS:inside.test');

# Connects wait: nobody accepts, and the queue is full.
my $full = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
listen $full, 0 or die "listen: $!";
my @first = map {
    IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $full->sockport, Blocking => 0)
} 1 .. 4;

my %port;
start_on_ports($tg, sub {
    %port = (web => free_port(), mcp => free_port());
    my $via = "proxy @{[ $proxy->url ]};";
    my $auth = "header Authorization file=$dir/key;";
    my $ca = "ca_file $dir/inside.pem;";
    my $tls = "https://inside.test:$port{web}/echo";
    my $late = 'http://127.0.0.1:' . $full->sockport . '/';
    my %to = (web => $web->port, mcp => $mcp->port);
    return (join('', map { <<"END" } sort keys %to) . <<"END", server => 0);
server {
    listen              127.0.0.1:$port{$_} ssl;
    ssl_certificate     $dir/inside.pem;
    ssl_certificate_key $dir/inside.key;
    proxy_pass          127.0.0.1:$to{$_};
}
END
server {
    listen         unix:%%SOCKET%%;
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir %%STATE%%;
    tool plain { http GET http://web.test:@{[ $web->port ]}/echo; $via }
    tool tls { http GET $tls; $auth $ca $via }
    tool direct { http GET $tls; $ca }
    tool refused { http GET $tls; $ca proxy @{[ $strict->url ]}; }
    tool nobody { http GET $tls; $ca proxy http://127.0.0.1:1; }
    tool late { http GET $late; connect_timeout 50ms; }
    mcp_server far { url https://inside.test:$port{mcp}/mcp; $auth $ca $via }
    mcp_server open {
        url http://mcp.test:@{[ $mcp->port ]}/mcp;
        $auth
        $via
    }
    mcp_server shut {
        url   https://inside.test:$port{mcp}/mcp;
        proxy @{[ $strict->url ]};
        $auth
        $ca
    }
    mcp_server late { url $late; connect_timeout 50ms; }
}
END
});
# The streams go through this NGINX, too, until it ends.
$tg->allow_log(qr/could not be started/,
    qr/open socket #\d+ left in connection|aborting/);

my $c = $tg->connect;
sub call { return text_of($c->call_tool(@_)) }
like call('plain'), qr/"path":"\/echo"/, 'HTTP';
like call('tls'), qr/"authorization":"\*+/, 'HTTPS, with a secret';
is join(' ', map { $_->{headers}{authorization} // 'none' } $web->requests),
    "none Bearer $secret", 'which comes there';
like call('direct'), qr/no request was sent \(.*resolve/, 'not without it';
like call('refused'), qr/no request was sent \(.*403/, 'a proxy that does not';
like call('nobody'), qr/no request was sent \(.*connect/,
    'one that is not there';

wait_for {
    my $tools = $c->rpc('tools/list')->{result}{tools};
    2 == grep { $_->{name} =~ /^(?:far|open)_echo$/ } @$tools;
} 'the tools of both';
for my $name (qw(far open)) {
    is $c->call_tool("${name}_echo", { a => $name })
        ->{result}{structuredContent}{arguments}{a}, $name,
        "$name: an MCP server";
}
my $heads = $proxy->heads;
like $heads, qr/^CONNECT inside\.test:$port{$_} /m, "it connects to $_"
    for sort keys %port;
ok !(grep {/CONNECT.*\Q$secret/s} split /\r\n\r\n/, $heads),
    'and then receives no secret';
$tg->wait_log(qr/shut could not be started: it cannot be reached.*403/);

# Both ended before the default of ten seconds.
like call('late'), qr/no request was sent \(.* \d{1,4} ms/, 'a call in time';
$tg->wait_log(qr/late could not be started: .* \d{1,4} ms/);
$tg->stop;

done_testing;
