#!/usr/bin/perl
# Servers that violate HTTP, its streams or MCP: each causes an error of that
# server, in one line.

use Toolgate::Test qw(Guard McpWeb);

use IO::Socket::INET;
use POSIX ();

my $tg = Toolgate::Test->new(workers => 1);

# Responses of a server to each request.
my $hello = '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18",'
    . '"capabilities":{},"serverInfo":{"name":"x","version":"1"}}}';
sub http {
    my ($type, $body, @more) = @_;
    return join "\r\n", 'HTTP/1.1 200 OK', 'Content-Length: ' . length $body,
        "Content-Type: $type", @more, '', $body;
}
my $events = 'text/event-stream';
my %says = (
    garbage => [ "\0\1\2\3" x 100, qr/cannot be|no complete response/ ],
    nothing => [ '', qr/no complete response/ ],
    headers => [ "HTTP/1.1 200 OK\r\n" . 'X: ' . 'y' x 70000 . "\r\n\r\n",
        qr/no complete response \(the headers .* 64 KiB/ ],
    short   => [ "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            . "Content-Length: 100\r\n\r\n{", qr/no complete response/ ],
    text    => [ http('text/plain', 'hello'), qr/is not an MCP message/ ],
    json    => [ http('application/json', '{"hello"'), qr/has no response/ ],
    array   => [ http('application/json', "[$hello]"), qr/has no response/ ],
    number  => [ http('application/json', '7'), qr/has no response/ ],
    empty   => [ http('application/json', ''), qr/has no response/ ],
    others  => [ http($events, "data: {\"jsonrpc\":\"2.0\",\"id\":77,"
            . "\"result\":{}}\n\n"), qr/has no response/ ],
    unended => [ http($events, "data: $hello"), qr/has no response/ ],
    typed   => [ http($events, "event: x\ndata: $hello\n\n"),
        qr/has no response/ ],
    fails   => [ http('text/plain', "no \e\n") =~ s/200/500/r,
        qr/refuses the handshake: it answered with status 500: no \\u001b/ ],
    coded   => [ http('application/json',
        '{"jsonrpc":"2.0","error":{"code":-1,"message":"nono"}}')
            =~ s/200/400/r, qr/refuses the handshake: nono/ ],
    moved   => [ "HTTP/1.1 301 No\r\nLocation: http://127.0.0.1:1/\r\n"
            . "Content-Length: 0\r\n\r\n", qr/status 301, a redirect, which/ ],
    spaces => [ http('application/json', $hello, 'Mcp-Session-Id: a b'),
        qr/its session id \(Mcp-Session-Id\) has characters other than vis/ ],
    sessions => [ http('application/json', $hello,
        'Mcp-Session-Id: ' . 'x' x 2000),
        qr/its session id \(Mcp-Session-Id\) has 2000 characters; / ],
    headed => [ http('application/json', $hello,
        'Mcp-Session-Id: ' . 'x' x 90_000),
        qr/headers [^:]* larger than 64 KiB: its session id .* may be too/ ],
    endless => [ http('application/json', $hello,
        'Mcp-Session-Id: ' . 'x' x 1_000_000),
        qr/headers [^:]* larger than 64 KiB: its session id .* may be too/ ],
);

# Starts a process for each, which answers any request.
sub serve {
    my ($says) = @_;
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64)
        or die "listen: $!";
    my $pid = fork // die "fork: $!";
    return ($pid, $socket->sockport) if $pid;
    Toolgate::Guard::die_with_parent();
    $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM);
    $SIG{PIPE} = 'IGNORE';
    while (my $client = $socket->accept) {
        my $heard = '';
        while (sysread $client, $heard, 65536, length $heard) {
            my ($head) = $heard =~ /\A(.*?\r\n\r\n)/s or next;
            my ($length) = $head =~ /Content-Length: (\d+)/;
            next if length $heard < length($head) + ($length // 0);
            print {$client} $says;
            last;
        }
        close $client;
    }
    POSIX::_exit(0);
}

my (@pids, $conf);
for my $name (sort keys %says) {
    my ($pid, $port) = serve($says{$name}[0]);
    push @pids, $pid;
    $conf .= "mcp_server $name { url http://127.0.0.1:$port/; }\n";
}
my $good = Toolgate::McpWeb->new($tg);
$conf .= "mcp_server good { url @{[ $good->url ]}; }\n";
$tg->allow_log(
    qr/could not be started|malformed frame|response without a matching/);
$tg->conf($conf)->start;
for my $name (sort keys %says) {
    ok $tg->wait_log(qr/$name could not be started: it .*$says{$name}[1]/),
        "$name: is an error";
}
my $client = $tg->connect;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    grep { $_->{name} eq 'good_echo' } @$tools;
} 'the tools of the good one';
is text_of($client->call_tool('good_echo')), 'echo', 'another one is called';
$tg->wait_log(qr/toolgate-runner: pid/);
is scalar(() = slurp($tg->dir . '/error.log') =~ /toolgate-runner: pid/g), 1,
    'by the same runner';
kill TERM => @pids;
waitpid $_, 0 for @pids;
done_testing;
