#!/usr/bin/perl
# MCP servers by URL that report ended sessions in unusual ways, or are unusual
# from the start: a session begins again and the call is sent once more, or the
# error says what to do.

use Toolgate::Test qw(Guard);

use IO::Select;
use IO::Socket::INET;
use POSIX ();

my $tg = Toolgate::Test->new(workers => 1);
my $json = JSON::PP->new->canonical->utf8;
my $secret = 'Qz7hidden-token-9xK';

# How a server reports an unknown session: status, and body.
my %lost = (
    words => [ 400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,'
            . '"message":"Bad Request: Server not initialized"}}' ],
    gone         => [ 404, 'Session not found' ],
    unauthorized => [ 401, '{"error":"Invalid or expired session ID"}' ],
    unavailable  => [ 503, '{"error":"Unknown session"}' ],
    internal     => [ 500, 'no valid session' ],
    null         => [ 200, '{"jsonrpc":"2.0","id":null,"error":{'
            . '"code":-32001,"message":"nope"}}' ],
    absent => [ 200, '{"jsonrpc":"2.0","error":{"code":-32600,'
            . '"message":"The session has expired"}}' ],
    own => [ 200, '{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,'
            . '"message":"Session not found"}}' ],
    begun => [ 200, '{"jsonrpc":"2.0","id":ID,"error":{"code":-32002,'
            . '"message":"Server not initialized"}}' ],
    early => [ 200, '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,'
            . '"message":"Received request before initialization was '
            . 'complete"}}' ],
    named => [ 200, '{"jsonrpc":"2.0","id":"server-error","error":{'
            . '"code":-32600,"message":"Session not found"}}' ],
    events => [ 200, "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{"
            . "\"code\":-32001,\"message\":\"Session not found\"}}\n\n",
        'text/event-stream' ],
);

# Other behaviour of servers, by the method of the request.
my %other = (
    # closes the connection at an unknown method
    closes => { 'server/discover' => sub { } },
    mark   => { all => sub { return (200, "\xef\xbb\xbf$_[1]") } },
    plain  => { all => sub { return (200, $_[1], 'text/plain') } },
    typeless => { all => sub { return (200, $_[1], '') } },
    page => { all => sub { return (200, $_[1], 'text/html; charset=UTF-8') } },
    rpc  => { all => sub { return (200, $_[1], 'application/json-rpc') } },
    array => { all => sub { return (200, "[$_[1]]") } },
    nameless => { 'tools/call' => sub {
        return (200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,'
            . '"message":"it is broken"}}');
    } },
    other => { 'tools/call' => sub {
        return (200, '{"jsonrpc":"2.0","id":"server-error","error":{'
            . '"code":-32603,"message":"it is broken"}}');
    } },
    older => { initialize => sub {
        return (200, $_[1]) if $_[0]{asked}++;
        return (400, 'Bad Request: Unsupported protocol version (supported '
            . 'versions: 2025-06-18, 2025-03-26)', 'text/plain');
    } },
    login => { 'tools/call' => sub {
        return (200, '<html>Log in here</html>', 'text/html');
    } },
    doubtful => { 'tools/call' => sub {
        return (500, 'Oops') if !$_[0]{again}++;
        return (200, $_[1]);
    } },
    limited => { 'tools/call' => sub {
        return (429, 'slow down', 'text/plain', 'Retry-After: 77');
    } },
    locked => { all => sub {
        return (401, '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,'
            . '"message":"who are you"}}', 'application/json',
            'WWW-Authenticate: Bearer realm="there"');
    } },
    moved => { all => sub {
        return (308, '', '', 'Location: http://127.0.0.1:1/there?key=secret');
    } },
    # Some servers quote the request; the second quotation is cut.
    echo => { all => sub {
        return (401, '', '', "WWW-Authenticate: Bearer error=\"$secret\"",
            'Retry-After: ' . 'x' x 240 . $secret);
    } },
    echo308 => { all => sub {
        return (308, '', '', "Location: http://127.0.0.1:1/$secret/there");
    } },
    old => {
        all => sub { return (404, 'Not Found', 'text/plain') },
        GET => sub {
            return (200, "event: endpoint\ndata: /messages?session=1\n\n",
                'text/event-stream');
        },
    },
);

my %result = (
    initialize => sub {
        return { protocolVersion => '2025-06-18', capabilities => {},
            serverInfo => { name => 'x', version => '1' } };
    },
    'tools/list' => sub {
        return { tools => [
            { name => 'one', inputSchema => { type => 'object' } } ] };
    },
    'tools/call' => sub {
        return { content => [ { type => 'text', text => "n$_[0]" } ] };
    },
);

sub respond {
    my ($socket, $status, $body, $type, @more) = @_;
    my @head = ("HTTP/1.1 $status X", 'Content-Length: ' . length $body,
        length $type ? "Content-Type: $type" : (), @more);
    print {$socket} join "\r\n", @head, '', $body;
}

# Answers one request. Returns whether the connection stays open.
sub answer {
    my ($socket, $state, $lost, $other) = @_;
    my $head = '';
    while ($head !~ /\r\n\r\n/) {
        sysread $socket, $head, 1, length $head or return 0;
    }
    my ($size) = $head =~ /^content-length: (\d+)/mi;
    my $body = '';
    while (length $body < ($size // 0)) {
        sysread $socket, $body, $size - length $body, length $body
            or return 0;
    }
    my ($http) = $head =~ /^(\w+)/;
    if ($http ne 'POST') {
        my $get = $other && $other->{GET};
        respond($socket, $get ? $get->() : (405, '', ''));
        return 1;
    }
    my $message = $json->decode($body);
    my $method = $message->{method};
    my $id = $message->{id};
    my ($session) = $head =~ /^mcp-session-id: (\S+)/mi;
    my @more;
    if ($method eq 'initialize') {
        $state->{session} = 's' . ++$state->{sessions};
        @more = ("Mcp-Session-Id: $state->{session}");
    } elsif ($lost && ($session // '') ne ($state->{session} // '-')) {
        my ($status, $text, $type) = @$lost;
        $text =~ s/ID/$id/;
        respond($socket, $status, $text, $type // 'application/json');
        return 1;
    }
    if (!defined $id) {
        respond($socket, 202, '', '');
        return 1;
    }
    $state->{$method}++;
    my $make = $result{$method};
    my $reply = $json->encode({ jsonrpc => '2.0', id => $id,
        $make ? (result => $make->($state->{'tools/call'}))
        : (error => { code => -32601, message => 'no' }) });
    my $how = $other && ($other->{$method} // $other->{all});
    my @said = $how ? $how->($state, $reply) : (200, $reply);
    return 0 if !@said;
    $said[1] =~ s/ID/$id/;
    respond($socket, @said == 2 ? (@said, 'application/json') : @said, @more);
    # It has forgotten the session, as after a restart.
    $state->{session} = undef if $lost && $method eq 'tools/call';
    return 1;
}

# Starts a process for each; its exit status says how often a method came.
my %port;
sub serve {
    my ($name) = @_;
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64)
        or die "listen: $!";
    my $pid = fork // die "fork: $!";
    $port{$name} = $socket->sockport;
    return $pid if $pid;
    Toolgate::Guard::die_with_parent();
    $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM);
    $SIG{PIPE} = 'IGNORE';
    my (%state, @open);
    my $select = IO::Select->new($socket);
    while (1) {
        for my $ready ($select->can_read) {
            if ($ready == $socket) {
                $select->add(scalar $socket->accept);
            } elsif (!eval { answer($ready, \%state, $lost{$name},
                $other{$name}) }) {
                $select->remove($ready);
                close $ready;
            }
        }
    }
}

my @pids = map { serve($_) } sort keys %lost, sort keys %other;

$tg->file('key', "Bearer $secret\n", 0600);
$tg->allow_log(
    qr/(?:locked|moved|old|echo|echo308) could not be started/);
$tg->conf(join '', map {
    "mcp_server $_ { url http://127.0.0.1:$port{$_}/mcp;"
        . (/^echo/ ? " header Authorization file=@{[ $tg->dir ]}/key;" : '')
        . " }\n"
} keys %port)->start;
my $client = $tg->connect;

sub call {
    my ($name) = @_;
    return text_of($client->call_tool("${name}_one"));
}

my %listed;
wait_for {
    %listed = map { $_->{name} => 1 }
        @{ $client->rpc('tools/list')->{result}{tools} };
    keys %listed == keys(%port) - 5;
} 'the lists of those that have one';

for my $name (sort keys %lost) {
    is call($name), 'n1', "$name: a call";
    is call($name), 'n2', "$name: one in a session that is over is sent again";
    is call($name), 'n3', "$name: and the next";
}
is call($_), 'n1', "$_: a call"
    for qw(closes mark plain typeless page rpc array older);
like call($_), qr/it is broken/, "$_: its error is told" for qw(nameless other);
like call('login'), qr/not an MCP message: <html>Log in here/,
    'what else it says is quoted';
like call('doubtful'), qr/status 500: Oops/, 'what is no answer is told';
is call('doubtful'), 'n2', 'and the next call is answered';
like call('limited'), qr/status 429 \(Retry-After: 77\): slow down/,
    'when to ask again';
for my $case (
    [ locked => qr/who are you \(WWW-Authenticate: Bearer realm=/ ],
    [ moved  => qr{a redirect, .*: http://127\.0\.0\.1:1/there(?!\?)} ],
    [ echo   => qr/status 401 \(Retry-After: x{240}\*+\) .*error="\*+"/ ],
    [ echo308 => qr{a redirect, .*: http://127\.0\.0\.1:1/\*+/there} ],
    [ old    => qr/a server of the old transport HTTP\+SSE/ ],
) {
    my ($name, $wanted) = @$case;
    $tg->wait_log(qr/$name could not be started: .*$wanted/);
    pass "$name: what to do is said";
}

unlike slurp($tg->dir . '/error.log'), qr/Qz7hid/, 'and no secret';

kill TERM => @pids;
waitpid $_, 0 for @pids;
done_testing;
