#!/usr/bin/perl
# toolgate call, with the test as the server.

use Toolgate::Test qw(Command);
use Toolgate::Parent qw(answer give lacks refuse request text_result);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);

sub start {
    my $cli = Toolgate::Command::start($tg, @_);
    return ($cli, greet($parent));
}

# Expects an error before it connects.
sub fails {
    my ($pattern, @args) = @_;
    my ($status, $out, $err) = $tg->cli(@args);
    is $status, 2, "@args: status";
    like $err, $pattern, "@args: why";
    is $out, '', "@args: nothing on stdout";
    ok !$parent->is_called(0), "@args: the server received no call";
}

my %type = (
    s  => 'string',
    n  => 'integer',
    b  => 'boolean',
    a  => 'array',
    o  => 'object',
    sn => [ 'string', 'null' ],
    nn => [ 'number', 'null' ],
);
my @tools = (
    Toolgate::Parent::tool('word_count'),
    Toolgate::Parent::tool('word_list'),
    Toolgate::Parent::tool(
        'typed',
        inputSchema => {
            type       => 'object',
            properties => {
                (map { $_ => { type => $type{$_} } } keys %type),
                x => { enum => [ 1, 2 ] },
                r => { '$ref' => '#/$defs/n' },
                u => { anyOf => [ { type => 'null' }, { type => 'integer' } ] },
                l => {
                    anyOf => [
                        { type => 'null' },
                        { type => 'array', items => { '$ref' => '#/$defs/n' } },
                    ],
                },
                t => {
                    oneOf => [ { type => 'integer' }, { type => 'string' } ],
                },
            },
            '$defs' => { n => { type => 'integer' } },
        }));

# --- arguments ------------------------------------------------------------

# Compares the arguments made from key=value, as sent.
sub typed {
    my ($cli, $conn) = start('call', 'typed', @_);
    give($conn, 'tools/list', { tools => \@tools });
    my $line = $conn->recv_line;
    answer($conn, $conn->decode($line), text_result('ok'));
    my ($status) = finish($cli);
    is $status, 0, "call @_: status";
    my ($arguments) = $line =~ /"arguments":(.*)\}\}$/;
    return $arguments;
}

is typed('s=1', 'n=2', 'b=true', 'a=[1, "x"]', 'o={"k":null}'),
    '{"s":"1","n":2,"b":true,"a":[1,"x"],"o":{"k":null}}',
    'key=value: as the schema says';
is typed('sn=null', 'nn=1e400', 'x=1', 'other=a=b', 'empty='),
    '{"sn":"null","nn":1e400,"x":1,"other":"a=b","empty":""}',
    'key=value: a string where it may be one';
is typed('r=1', 'u=2', 'l=3', 'l=4', 't=5'),
    '{"r":1,"u":2,"l":[3,4],"t":"5"}',
    'key=value: by $ref, and by alternatives';
is typed('s:=[1]', "q=\"\\\t\xc3\xbc"),
    "{\"s\":[1],\"q\":\"\\\"\\\\\\t\xc3\xbc\"}",
    'key:=JSON, and what JSON must escape';

for my $wrong (
    [ qr/n must be of type "integer", not "x"/, 'n=x' ],
    [ qr/the value of o is not valid JSON: .*\(line 1, column 2\)$/m, 'o:={' ],
    [ qr/invalid argument "s"/, 's' ],
    [ qr/invalid argument "=1"/, '=1' ],
    [ qr/s is given twice/, 's=1', 's=2' ],
    [ qr/not valid UTF-8/, "s=\xff" ])
{
    my ($pattern, @args) = @$wrong;
    my ($cli, $conn) = start('call', 'typed', @args);
    give($conn, 'tools/list', { tools => \@tools });
    my ($status, $out, $err) = finish($cli);
    is $status, 2, "@args: status";
    like $err, $pattern, "@args: why";
}

# JSON is sent unchanged, and needs no list.
my $big = '{"n":12345678901234567890,"f":1.0}';
for my $case (
    [ $big, undef, $big ],
    [ '-', " $big \n", $big ],
    [ undef, undef, '{}' ])
{
    my ($arg, $stdin, $want) = @$case;
    my ($cli, $conn) =
        start({ stdin => $stdin }, 'call', 'any', $arg // ());
    my $line = $conn->recv_line;
    like $line, qr/"name":"any","arguments":\Q$want\E\}\}$/,
        'arguments ' . ($arg // 'none');
    answer($conn, $conn->decode($line), text_result('ok'));
    is +(finish($cli))[0], 0, 'status';
}

fails(qr/call which tool/, 'call');
fails(qr/is not a valid name/, 'call', '');
fails(qr/the argument is not valid JSON: .*\(line 1, column 8\)$/m, 'call', 'a',
    '{"a":1 2}');
fails(qr/unexpected argument .* after the JSON text/, 'call', 'a', '{}', 'b=1');
fails(qr/must be a JSON object, such as/, 'call', 'a', '[1]');
for my $case (
    [ 'nothing', '', qr/line 1, column 1/ ],
    [ 'no key', "{\n  \"a\": 1,\n  b: 2\n}\n", qr/line 3, column 3/ ])
{
    my ($name, $stdin, $place) = @$case;
    my ($status, undef, $err) = $tg->cli({ stdin => $stdin }, 'call', 'a', '-');
    is $status, 2, "$name on standard input: status";
    like $err, qr/standard input is not valid JSON: .* \($place\)$/m,
        "$name on standard input: why, and where";
}

# --- results --------------------------------------------------------------

# Compares status, stdout and stderr for a result.
sub result {
    my ($result, @args) = @_;
    my ($cli, $conn) = start('call', 'any', @args);
    give($conn, 'tools/call', $result);
    return finish($cli);
}

sub texts {
    return { content => [ map { { type => 'text', text => $_ } } @_ ] };
}

my ($status, $out, $err) = result(texts("a\e[0m\0b"));
is $status, 0, 'a text: status';
is $out, "a\e[0m\0b", 'a text: as it is, when no terminal reads it';
(undef, $out) = result(texts("a", "b\n", "c"));
is $out, "a\nb\nc", 'texts: each on its own line';
my $image = '[content of type image image/png, 4 bytes of base64; '
    . '-o FILE saves it; --json shows it]';
(undef, $out) = result({
    content => [
        { type => 'image', mimeType => 'image/png', data => 'AAAA' },
        { type => 'text', text => 'x' },
        {
            type => 'resource_link', uri => "file:///\n1", name => 'one',
        },
        {
            type     => 'resource',
            resource => { uri => 'file:///2', text => 'two' },
        },
    ],
});
is $out, <<'END' =~ s/IMAGE/$image/r, 'what is no text: one line each';
IMAGE
x
[content of type resource_link one file:///\u000a1; --json shows it]
[content of type resource file:///2; --json shows it]
END
(undef, $out) = result({
    content => [], structuredContent => { a => [ 1, {} ] },
});
is $out, <<'END', 'structured content, where there is nothing else';
{
  "a": [
    1,
    {}
  ]
}
END

($status, $out, $err) = result({ %{ texts('bad luck') }, isError => \1 });
is $status, 1, 'isError: status';
is $out, '', 'isError: nothing on stdout';
is $err, "bad luck\n", 'isError: the text on stderr';
(undef, undef, $err) = result({ content => [], isError => \1 });
like $err, qr/failed without an error message/, 'isError without a text';

my $result = { %{ texts('x') }, isError => \1, _meta => { a => 1 } };
($status, $out) = result($result, '--json');
is $status, 1, '--json: status';
my $codec = 'Toolgate::Client';
is $codec->encode($codec->decode($out)), $codec->encode($result),
    '--json: the whole result';
is $out =~ tr/\n//, 1, '--json: one line';

# --- errors of the server -------------------------------------------------

# An unknown tool, with and without arguments that need the list.
for my $case ([ 'word_cuont', 's=1' ], ['word_cuont'], ['Word-Count']) {
    my ($cli, $conn) = start('call', @$case);
    if (@$case == 1) {
        refuse($conn, request($conn, 'tools/call'), -32602, 'unknown');
    }
    give($conn, 'tools/list', { tools => \@tools });
    lacks($conn, 'prompts', 'resources');
    ends($cli, "@$case", 1, undef,
        qr/unknown tool "$case->[0]"; did you mean word_count/);
}
my ($cli, $conn) = start('call', 'xyz');
refuse($conn, request($conn, 'tools/call'), -32602, 'unknown');
give($conn, 'tools/list', { tools => \@tools });
lacks($conn, 'prompts', 'resources');
(undef, undef, $err) = finish($cli);
like $err, qr/unknown tool "xyz" \(toolgate list shows all tools\)$/,
    'nothing is near';

($cli, $conn) = start('call', 'z', 's=1');
give($conn, 'tools/list', { tools => [ Toolgate::Parent::tool('a') ] });
lacks($conn, 'prompts', 'resources');
(undef, undef, $err) = finish($cli);
unlike $err, qr/did you mean/, 'any other letter is not near';

# -32602 for another reason.
($cli, $conn) = start('call', 'typed');
refuse($conn, request($conn, 'tools/call'), -32602, 'n is wrong');
give($conn, 'tools/list', { tools => \@tools });
ends($cli, 'another reason', 1, undef,
    "toolgate: the server answered with error -32602: n is wrong\n");

($cli, $conn) = start('call', 'any', '--json');
refuse($conn, request($conn, 'tools/call'), -32602, 'unknown');
ends($cli, 'an error with --json', 1,
    qq({"error":{"code":-32602,"message":"unknown"}}\n));

# --- methods --------------------------------------------------------------

# Compares the params as sent, and the output of a result.
sub method {
    my ($result, @args) = @_;
    my ($command, $server) = start('call', '--method', 'task.list', @args);
    my $line = $server->recv_line;
    answer($server, $server->decode($line), $result);
    my ($state, $stdout) = finish($command);
    is $state, 0, "--method @args: status";
    my ($params) = $line =~ /"method":"task\.list"(.*)\}$/;
    return ($params, $stdout);
}

is_deeply [ method([]) ], [ '', "[]\n" ], 'a method without params';
is_deeply [ method('x', 'a=1', 'b:=1') ], [ ',"params":{"a":"1","b":1}', 'x' ],
    'a method with named params, and a string as its text';
is_deeply [ method({ a => 1 }, '[1, 2]') ],
    [ ',"params":[1,2]', "{\n  \"a\": 1\n}\n" ], 'a method with a list';
is_deeply [ method("a\n", '--json', '{}') ], [ ',"params":{}', "\"a\\n\"\n" ],
    'a method with --json';

# Every token of a result, and of JSON that a user typed, stays as it is.
my $exact = '{"a":-0,"a":2.5e-0007,"\u0000":"\ud800\/"}';
($cli, $conn) = start('call', '--method', 'm', "a:=$exact", '--json');
my $sent = $conn->recv_line;
like $sent, qr/"params":\{"a":\Q$exact\E\}/, 'JSON is sent as it was typed';
my ($id) = $sent =~ /"id":(\d+)/;
$conn->send_line(qq({"jsonrpc":"2.0","id":$id,"result":$exact}));
ends($cli, '--json keeps every token', 0, "$exact\n");

($cli, $conn) = start('call', '--method=x.y');
refuse($conn, request($conn, 'x.y'), -32601, 'Method not found: x.y');
ends($cli, 'an unknown method', 1, undef,
    qr/error -32601: Method not found: x\.y$/);

# --- timeouts -------------------------------------------------------------

($cli, $conn) = start('call', 'slow', '--timeout', '2.5');
my $call = request($conn, 'tools/call');
ends($cli, '--timeout', 2, undef,
    qr/within 2\.5 s; the request was cancelled/);
is $conn->notification('notifications/cancelled')->{params}{requestId},
    $call->{id}, '--timeout: cancelled';
ok Toolgate::Parent::is_left($conn), '--timeout: gone';

for my $case ([ INT => 130 ], [ TERM => 143 ], [ HUP => 129 ]) {
    my ($signal, $want) = @$case;
    ($cli, $conn) = start('call', 'slow');
    $call = request($conn, 'tools/call');
    $cli->signal($signal);
    ($status, $out, $err) = finish($cli);
    is $status, $want, "$signal: status";
    is $out . $err, '', "$signal: nothing to say";
    is $conn->notification('notifications/cancelled')->{params}{requestId},
        $call->{id}, "$signal: cancelled";
    ok Toolgate::Parent::is_left($conn), "$signal: gone";
}
($cli, $conn) = start('call', '--method', 'm');
$call = request($conn, 'm');
$cli->signal('INT');
is +(finish($cli))[0], 130, 'INT in a method: status';
is $conn->notification('$/cancelRequest')->{params}{id}, $call->{id},
    'INT in a method: cancelled';

# --- a closed output ------------------------------------------------------

($cli, $conn) = start('call', 'any');
close delete $cli->{in};
give($conn, 'tools/call', text_result('x' x 200_000));
is $cli->wait_exit >> 8, 141, 'no reader: it exits as by SIGPIPE';
is $cli->stderr, '', 'no reader: no message';

done_testing;
