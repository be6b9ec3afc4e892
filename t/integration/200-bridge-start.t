#!/usr/bin/perl
# Start of the bridge: its arguments, its error messages, and that MCP's first
# requests are answered whatever the parent is.

use Toolgate::Test qw(Parent);
use Time::HiRes qw(time);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my %bare = (TOOLGATE_SOCKET => undef, AC7_RUNNER_SOCKET => undef);
my $meta = modern_meta();
my $hello = {
    protocolVersion => '2025-06-18',
    capabilities    => {},
    clientInfo      => { name => 'test', version => '1' },
};

sub run_bridge {
    my ($env, @args) = @_;
    return run_command({ env => { %bare, %{ $tg->san_env }, %$env } },
        $tg->bridge_path, @args);
}

sub fails_with {
    my ($name, $pattern, $env, @args) = @_;
    my ($status, $out, $err) = run_bridge($env, @args);
    is $status, 2, "$name: exit status";
    is $out, '', "$name: nothing on stdout";
    like $err, $pattern, "$name: says what to do";
}

my ($status, $out) = run_bridge({}, '--version');
is $status, 0, '--version';
like $out, qr/^toolgate-bridge \d/, '--version says it';
($status, $out) = run_bridge({}, '--help');
like $out, qr/TOOLGATE_SOCKET.*AC7_RUNNER_SOCKET/s, '--help';

fails_with('unknown option', qr/usage:/, {}, '--what');
fails_with('unknown dialect', qr/unknown dialect: x/, {},
    '--dialect', 'x', $sock);
fails_with("grace '$_'", qr/1 to 3600 seconds, not \Q$_\E$/m, {}, "--grace=$_",
    $sock)
    for '', 0, 'x', '1x', -1, 3601;
fails_with("name '$_'", qr/1 to 128 bytes of UTF-8/, {}, '--name', $_, $sock)
    for '', "\xff", 'x' x 129;
fails_with('ipc without schemas', qr/SCHEMA_FILE/, {},
    '--dialect=ipc', $sock);
fails_with('too many arguments', qr/too many.*: c$/m, {}, qw(a b c));
fails_with('long path', qr/at most 107 bytes/, {}, '/' x 108);
fails_with('TLS without a port', qr/write tls:HOST:PORT/, {}, 'tls:here');
fails_with('certificates without TLS', qr/are for TLS; write tls:/, {},
    '--ca', '/dev/null', $sock);
fails_with('no certificates', qr{/dev/null has no trusted certificates}, {},
    '--ca', '/dev/null', 'tls:127.0.0.1:1');

for my $case (
    [ 'missing', undef, qr/No such file/ ],
    [ 'empty', '', qr/not a JSON array/ ],
    [ 'cut off', '[{"name":"a"',
        qr/not a JSON array.*\(line 1, column 13\)$/m ],
    [
        'without a comma', "[\n  {\n    \"name\": \"\xc3\xbc\" 1\n  }\n]\n",
        qr/not a JSON array.*: a comma is missing \(line 3, column 17\)$/m
    ],
    [ 'an object', '{}', qr/not a JSON array/ ],
    [ 'nameless', '[{"description":"d"}]', qr/element 0 .*"name"/ ],
    [
        'silent',
        '[{"name":"a","input_schema":{"type":"object"}}]',
        qr/element 0 .*"description"/
    ],
    [
        'no object',
        '[{"name":"a","description":"d","input_schema":{"type":"string"}}]',
        qr/element 0 .*"input_schema"/
    ])
{
    my ($name, $text, $pattern) = @$case;
    my $file = $tg->dir . '/schema.json';
    unlink $file;
    $tg->file('schema.json', $text) if defined $text;
    fails_with("schema file $name", $pattern, {}, $sock, $file);
}

# Nobody listens: MCP begins anyway, and later requests get the reason.
for my $stale (0, 1) {
    my $parent = Toolgate::Parent->new($sock);
    $parent->close(stale => $stale);
    my $what = $stale ? 'no process listens on' : 'there is no socket';
    my $bridge = $tg->bridge([], { %bare, TOOLGATE_SOCKET => $sock });
    my $found = $bridge->rpc('server/discover', { _meta => $meta })->{result};
    is_deeply $found->{supportedVersions}, ['2026-07-28'], 'discovered';
    is $bridge->rpc('initialize', $hello)->{result}{protocolVersion},
        '2025-06-18', 'initialized';
    $bridge->notify('notifications/initialized');
    is_deeply $bridge->rpc('ping')->{result}, {}, 'pinged';
    for my $method ('tools/list', 'tools/call') {
        my $error = $bridge->rpc($method, { name => 'x' })->{error};
        is $error->{code}, -32603, "$method: code";
        like $error->{message}, qr/Toolgate is not running: $what/,
            "$method: what is wrong";
        like $error->{message}, qr/Start NGINX .*unix:\Q$sock\E;/,
            "$method: what to do";
    }
    like $bridge->rpc('resources/list')->{error}{message}, qr/is not running/,
        'no resources either';
    $bridge->close;
    is $bridge->wait_exit, 0, 'ends with its input';
    unlink $sock;
}

# The path may have the form of nginx.conf, or be in the environment.
for my $case (
    [ {}, "unix:$sock" ],
    [ { TOOLGATE_SOCKET => $sock } ],
    [ { TOOLGATE_SOCKET => "unix:$sock", AC7_RUNNER_SOCKET => '/none' } ])
{
    my ($env, @args) = @$case;
    my $parent = Toolgate::Parent->new($sock);
    my $bridge = $tg->bridge(\@args, { %bare, %$env });
    # Before the agent sends anything, which waits for at most a second.
    my $conn = $parent->serve(Toolgate::Parent::tool('one'));
    my $result = $bridge->rpc('initialize', $hello)->{result};
    is $result->{serverInfo}{name}, 'parent', "the parent's name";
    is $result->{serverInfo}{version}, '7', "the parent's version";
    is $result->{instructions}, "Say \x{201c}please\x{201d}.",
        "the parent's instructions";
    is $bridge->rpc('tools/list')->{result}{tools}[0]{name}, 'one',
        "the parent's tools";
    $bridge->stop;
    $parent->close;
}

# An agent with two bridges can distinguish their servers.
{
    my $parent = Toolgate::Parent->new($sock);
    my $bridge = $tg->bridge([ '--name', "t\xc3\xb6ols", $sock ]);
    $parent->serve(Toolgate::Parent::tool('one'));
    my $result = $bridge->rpc('initialize', $hello)->{result};
    is $result->{serverInfo}{name}, "t\x{f6}ols", '--name';
    is $result->{serverInfo}{version}, '7', 'with the version of the parent';
    $bridge->stop;
    $parent->close;
    $bridge = $tg->bridge([ '--name=alone', $sock ]);
    is $bridge->rpc('initialize', $hello)->{result}{serverInfo}{name}, 'alone',
        '--name without a parent';
    $bridge->stop;
}

# A parent that accepts connections but sends nothing delays the first responses
# by at most a second; later requests get an error.
{
    my $parent = Toolgate::Parent->new($sock);
    my $bridge = $tg->bridge;
    my $start = time;
    my $id = $bridge->request('initialize', $hello);
    my $conn = $parent->accept;
    is $bridge->reply($id)->{result}{serverInfo}{name}, 'toolgate-bridge',
        'a silent parent: answered without it';
    cmp_ok time - $start, '>', 0.9, 'after waiting for it';
    like $bridge->rpc('tools/list')->{error}{message}, qr/does not answer/,
        'its list is missed';
    $bridge->stop;
    $parent->close;
}

# The parent is no MCP server.
{
    my $parent = Toolgate::Parent->new($sock);
    my $bridge = $tg->bridge;
    my $conn = $parent->accept;
    Toolgate::Parent::refuse($conn,
        Toolgate::Parent::request($conn, 'initialize'),
        -32601, 'What is "that"?');
    ok Toolgate::Parent::is_left($conn), 'who refuses initialize is left';
    $parent->close;
    is $bridge->rpc('initialize', $hello)->{result}{protocolVersion},
        '2025-06-18', 'initialized';
    $bridge->stop;
    like $bridge->stderr, qr/not a usable MCP server: What is "that"\?/,
        'the log says why';
}

done_testing;
