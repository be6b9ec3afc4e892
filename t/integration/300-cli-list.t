#!/usr/bin/perl
# toolgate list and ping, with the test as the server.

use Toolgate::Test qw(Command);
use Toolgate::Parent qw(answer give refuse request);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);

sub start {
    my $cli = Toolgate::Command::start($tg, @_);
    return ($cli, greet($parent));
}

my @tools = ({
        name        => 'word_count',
        description => "Counts words.\nAnd \e[31mlines\e[0m.\n",
        inputSchema => {
            type       => 'object',
            properties => {
                text => { type => 'string' },
            },
            required => ['text'],
        },
    },
    {
        name        => 'build',
        title       => 'Builds it',
        inputSchema => {
            type       => 'object',
            properties => { jobs => { type => [ 'integer', 'null' ] } },
        },
    });

# Two pages, as text.
my ($cli, $conn) = start('list');
my $page = request($conn, 'tools/list');
ok !exists $page->{params}, 'the first page is asked without a cursor';
answer($conn, $page, { tools => [ $tools[0] ], nextCursor => "a\"b" });
$page = request($conn, 'tools/list');
is_deeply $page->{params}, { cursor => "a\"b" }, 'the next one with it';
answer($conn, $page, { tools => [ $tools[1] ] });
ends($cli, 'list: no escape of theirs', 0, <<'END', '');
word_count text=STRING
    Counts words.
    And \u001b[31mlines\u001b[0m.
build [jobs=INTEGER]
    Builds it
END

# As JSON.
($cli, $conn) = start('--json', 'list');
give($conn, 'tools/list', { tools => \@tools, ttlMs => 0 });
my ($status, $out) = finish($cli);
is $status, 0, 'list --json: status';
is_deeply $conn->decode($out), { tools => \@tools }, 'list --json: the tools';
is $out =~ tr/\n//, 1, 'list --json: one line';

# Absent MCP servers behind it: only on standard error.
my $absent = { 'toolgate/servers' => [
    { name => 'far', state => 'starting', later => 1 },
    { name => "f\e[1m", state => 'failed', error => "no token\nor so" },
    { name => 'again', state => 'starting', error => 'x' },
    { name => 'none', state => 'failed' },
    { name => 5, state => 'failed' },
    'odd',
] };
for my $option (undef, '--json') {
    ($cli, $conn) = start('list', $option // ());
    answer($conn, request($conn, 'tools/list'),
        { tools => [ $tools[0] ], nextCursor => 'x', _meta => $absent });
    give($conn, 'tools/list', { tools => [ $tools[1] ], _meta => {} });
    my ($status, $out, $err) = finish($cli);
    is $status, 0, 'servers that are not there: status';
    if ($option) {
        is_deeply $conn->decode($out), { tools => \@tools },
            'not a word of them on standard output with --json';
    } else {
        like $out, qr/\Aword_count .*^    Builds it\n\z/ms,
            'nor without, and the tools as ever';
    }
    is $err, <<"END", 'they are named on standard error';
toolgate: mcp_server "far" is starting; run this again later
toolgate: mcp_server "f\e[1m" has failed: no token
toolgate: mcp_server "again" is starting; run this again later (it failed: x)
toolgate: mcp_server "none" has failed
END
}
for my $odd ({ 'toolgate/servers' => 'x' }, [], 'x', undef) {
    ($cli, $conn) = start('list');
    give($conn, 'tools/list', { tools => [ $tools[1] ], _meta => $odd });
    ends($cli, 'a _meta that is none of ours', 0,
        "build [jobs=INTEGER]\n    Builds it\n", '');
}

# The list changes between two pages.
($cli, $conn) = start('list');
give($conn, 'tools/list', { tools => [ $tools[0] ], nextCursor => 'x' });
refuse($conn, request($conn, 'tools/list'), -32602, 'old cursor');
$page = request($conn, 'tools/list');
ok !exists $page->{params}, 'a stale cursor: from the first page again';
answer($conn, $page, { tools => [ $tools[1] ] });
($status, $out) = finish($cli);
is $out, "build [jobs=INTEGER]\n    Builds it\n", 'only what is there now';

# The connection breaks: the list is requested again.
($cli, $conn) = start('list');
request($conn, 'tools/list');
$conn->close;
$conn = greet($parent);
give($conn, 'tools/list', { tools => [] });
ends($cli, 'no tools', 0, '', qr/offers you no tools/);

# The server responds with an error.
($cli, $conn) = start('list');
refuse($conn, request($conn, 'tools/list'), -32601, "no \e[7mlist");
ends($cli, 'an error', 1, undef,
    "toolgate: the server answered with error -32601: no \e[7mlist\n");
($cli, $conn) = start('list', '--json');
refuse($conn, request($conn, 'tools/list'), -5, 'no', [1]);
ends($cli, 'an error with --json', 1,
    qq({"error":{"code":-5,"message":"no","data":[1]}}\n));

# An invalid list, and one that does not end.
($cli, $conn) = start('list');
give($conn, 'tools/list', { tools => [1] });
ends($cli, 'no list', 1, undef, qr/list of tools is invalid/);
($cli, $conn) = start('list');
for my $n (1 .. 256) {
    give($conn, 'tools/list', { tools => [], nextCursor => "page $n" });
}
like +(finish($cli))[2], qr/does not end/, 'a list without end is left';
($cli, $conn) = start('list');
give($conn, 'tools/list', { tools => [], nextCursor => 'again' }) for 1, 2;
ends($cli, 'a cursor that does not move ends the list', 0);

# Nobody answers: the timeout must be for the request.
($cli, $conn) = start('list', '--timeout', '2.5');
$page = request($conn, 'tools/list');
ends($cli, 'no answer', 2, undef, qr/no response .* within 2\.5 s/);
my $cancel = $conn->notification('notifications/cancelled');
is $cancel->{params}{requestId}, $page->{id}, 'no answer: cancelled';
$cli = Toolgate::Command::start($tg, 'list', '--timeout=0.2');
$conn = $parent->accept;
ends($cli, 'a server that says nothing', 2, undef,
    qr/did not answer within 0\.2 s/);

# ping
($cli, $conn) = start('ping');
my $initialize = request($conn, 'initialize');
is $initialize->{params}{protocolVersion}, '2025-11-25', 'ping: initialize';
answer($conn, $initialize,
    { serverInfo => { name => 'demo', version => '1.0' } });
give($conn, 'ping', {});
($status, $out) = finish($cli);
is $status, 0, 'ping: status';
my $path = $tg->socket_path;
like $out, qr/^demo 1\.0 answered on \Q$path\E in \d+\.\d{3} ms\n\z/,
    'ping: who, where and how fast';

($cli, $conn) = start('ping', '--json');
give($conn, 'initialize', { serverInfo => { name => 'demo' } });
refuse($conn, request($conn, 'ping'), -32601, 'no such method');
($status, $out) = finish($cli);
is $status, 0, 'a server without ping is there';
my $pong = $conn->decode($out);
is_deeply $pong->{server}, { name => 'demo' }, 'ping --json: the server';
ok $pong->{ms} > 0, 'ping --json: the time';

($cli, $conn) = start('ping');
refuse($conn, request($conn, 'initialize'), -32601, 'not MCP');
give($conn, 'ping', { pong => \1 });
($status, $out) = finish($cli);
like $out, qr/^answered on /, 'ping: a server that does not speak MCP';

done_testing;
