#!/usr/bin/perl
# Calls of an HTTP API: the request for a call's arguments, and its result.

use Toolgate::Test qw(Way Web);

my $tg = Toolgate::Test->new(workers => 1);
my $web = Toolgate::Web->new($tg);
my $url = $web->url;

# Name, method, URL and directives; the arguments; the expected request.
my @sent = (
    [ 'plain', "GET $url/echo", {}, { method => 'GET', path => '/echo' } ],
    [
        'segment', "GET $url/echo/\$tool_arg_a/x",
        { a    => "a/b?c=d&e#%\r\n \x{e9}" },
        { path => '/echo/a%2Fb%3Fc%3Dd%26e%23%25%0D%0A%20%C3%A9/x' }
    ],
    [
        'part', "GET $url/echo/v\${tool_arg_a}.json", { a => '..' },
        { path => '/echo/v...json' }
    ],
    [
        'asked', "GET '$url/echo?a=\$tool_arg_a&b=\$tool_arg_b'",
        { a => '1&b=2', b => "\x{20ac}=+ " },
        { path => '/echo?a=1%26b%3D2&b=%E2%82%AC%3D%2B%20' }
    ],
    [
        'query',
        "GET $url/echo; query a \$tool_arg_a; query 'b[]' x; "
            . 'query c $tool_arg_c; query d ""',
        { a => 'x y&z' }, { path => '/echo?a=x%20y%26z&b%5B%5D=x&d=' }
    ],
    [
        'nulls',
        "POST $url/echo/\$tool_arg_a; query b \$tool_arg_b; header X-B "
            . '$tool_arg_b; field b $tool_arg_b; field a "$tool_arg_a"; '
            . 'query c $tool_arg_c each',
        { a => 1, b => undef, c => undef },
        { path => '/echo/1', 'x-b' => undef, body => 'a=1' }
    ],
    [
        'repeated',
        "GET $url/echo; query 't[]' \$tool_arg_a each; query n "
            . '$tool_arg_b each; query o $tool_arg_c each; query z y',
        { a => [ 'red', 'b&c=,', '', 1, { x => [] } ], b => [], c => 'one' },
        {
            path => '/echo?t%5B%5D=red&t%5B%5D=b%26c%3D%2C&t%5B%5D=&t%5B%5D=1'
                . '&t%5B%5D=%7B%22x%22%3A%5B%5D%7D&o=one&z=y'
        }
    ],
    [
        'joined',
        "GET $url/echo; query t \$tool_arg_a join=,; query n "
            . '$tool_arg_b join=,; query p "<$tool_arg_a>" "join= | "',
        { a => [ 'red', 'b&c=,' ], b => [] },
        {
            path => '/echo?t=red,b%26c%3D%2C'
                . '&p=%3Cred%3E%20%7C%20%3Cb%26c%3D%2C%3E'
        }
    ],
    [
        'list',
        "GET '$url/echo/\$tool_arg_a/x?q=\$tool_arg_b' join=,",
        { a => [ 1, '2/3', 4 ], b => [] }, { path => '/echo/1,2%2F3,4/x?q=' }
    ],
    [
        'segments', "GET $url/echo/\$tool_arg_a join=/",
        { a => [ 'a', 'b/c' ] }, { path => '/echo/a/b%2Fc' }
    ],
    [
        'fields',
        "PUT $url/echo; field a \$tool_arg_a each; field b \$tool_arg_a "
            . 'join=,; field c $tool_arg_none; field d ""; '
            . 'field e "x $tool_arg_e"',
        { a => [ 1, 2 ], e => "\x{e9}&" },
        {
            'content-type' => 'application/x-www-form-urlencoded',
            body           => 'a=1&a=2&b=1,2&d=&e=x%20%C3%A9%26'
        }
    ],
    [
        'whole',
        "POST $url/echo/\$tool_arg_n?n=\$tool_arg_n; query n \$tool_arg_n; "
            . 'query l $tool_arg_l each; query j $tool_json_n; '
            . 'field n $tool_arg_n; header X-N $tool_arg_n; '
            . 'input_schema \'{"type":"object","properties":'
            . '{"n":{"type":"integer"},"l":{"items":{"type":"integer"}}}}\'',
        \'{"n":3.0,"l":[1e1,-0.0]}',
        {
            path   => '/echo/3?n=3&n=3&l=10&l=0&j=3.0',
            body   => 'n=3',
            'x-n'  => 3
        }
    ],
    [
        'body_whole',
        "POST $url/echo; input_schema '{\"type\":\"object\",\"properties\":"
            . '{"n":{"type":"integer"}}}\'; '
            . 'body \'{"n":$tool_arg_n,"t":"$tool_arg_n"}\'',
        \'{"n":3.0}', { body => '{"n":3.0,"t":"3"}' }
    ],
    [
        'both', "GET '$url/echo?k=v'; query a \$tool_arg_a", { a => 1.5 },
        { path => '/echo?k=v&a=1.5' }
    ],
    [
        'headers',
        "GET $url/echo; header X-One \$tool_arg_a; header X-Two \$tool_arg_b; "
            . 'header Accept text/x',
        { a => "caf\x{e9}; \"x\"" },
        {
            'x-one' => "caf\xc3\xa9; \"x\"",
            'x-two' => undef,
            accept  => 'text/x'
        }
    ],
    [
        'defaults', "GET $url/echo", {},
        {
            'content-type'   => undef,
            'content-length' => undef,
            cookie           => undef,
            expect           => undef,
            'user-agent'     => qr{^toolgate/\d},
            host             => '127.0.0.1:' . $web->port,
        }
    ],
    [
        'arguments', "POST $url/echo", { a => [1], b => 'x' },
        {
            method         => 'POST',
            'content-type' => 'application/json',
            json           => { a => [1], b => 'x' }
        }
    ],
    [
        'json',
        "PUT $url/echo; body '{\"a\":\$tool_arg_a,\"b\":\$tool_arg_b,"
            . '"c":"<$tool_arg_c>","d":$tool_json_d,"e":["$tool_arg_e"],'
            . "\"f\":\$tool_arg_missing}'",
        { a => 5, b => 'x","y":"z', c => "q\"\\\n", d => [1], e => { f => 1 } },
        {
            method => 'PUT',
            json   => {
                a => 5,
                b => 'x","y":"z',
                c => "<q\"\\\n>",
                d => [1],
                e => ['{"f":1}'],
                f => undef
            }
        }
    ],
    [
        'form', "POST $url/echo; body form 'a=\$tool_arg_a&b=\$tool_arg_b'",
        { a => '1&b=2', b => "\x{e9} +" },
        {
            'content-type' => 'application/x-www-form-urlencoded',
            body           => 'a=1%26b%3D2&b=%C3%A9%20%2B'
        }
    ],
    [
        'text', "PATCH $url/echo; body 'say: \$tool_arg_a'", { a => '{"x":1}' },
        {
            method         => 'PATCH',
            'content-type' => 'text/plain; charset=utf-8',
            body           => 'say: {"x":1}'
        }
    ],
    [
        'typed', "POST $url/echo; body text '[x]'; header content-type text/x",
        {}, { 'content-type' => 'text/x', body => '[x]' }
    ],
    [
        'empty', "POST $url/echo; body ''", {},
        { 'content-type' => undef, 'content-length' => 0, body => '' }
    ],
    [
        'delete', "DELETE $url/echo/\$tool_arg_a", { a => 7 },
        { method => 'DELETE', path => '/echo/7', 'content-length' => undef }
    ],
);

# The expected result: a text, or the type of failure and its message.
my @back = (
    [ 'fits', 'bytes/1048576', '', 'x' x 1048576 ],
    [ 'chunks', 'more/5500', '', 'x' x 5500 ],
    [ 'packed', 'gzip/100000', '', 'x' x 100000 ],
    [ 'latin', 'type/text%2Fhtml%3B%20charset=iso-8859-1?body=e980', '',
        "\x{e9}\x{20ac}" ],
    [ 'utf', 'type/text%2Fplain?body=efbbbfc3a9', '', "\x{e9}" ],
    [ 'nothing', 'status/204', '', '' ],
    [
        'missing', 'status/404', '',
        program => qr{^missing: \Q$url\E answered with status 404: this is 404$}
    ],
    [ 'broken', 'status/500', '', program => qr/status 500: this is 500$/ ],
    [ 'moved', 'to/%2Felse', '',
        program => qr/status 302, a redirect to .*not followed/ ],
    [ 'much', 'bytes/1048577', '',
        output => qr/more than 1048576 bytes \(max_output\); ask for less/ ],
    [ 'endless', 'drip', 'max_output 20;', output => qr/more than 20 bytes/ ],
    [ 'bomb', 'gzip/50000000', '', output => qr/more than 1048576 bytes/ ],
    [ 'binary', 'type/image%2Fpng?body=89504e47', '',
        output => qr{4 bytes of image/png, which is not UTF-8} ],
    [ 'charset', 'type/text%2Fx%3B%20charset=UTF-16?body=4100', '',
        output => qr/in the charset UTF-16/ ],
    [ 'nojson', 'status/200', 'output json;',
        output => qr/not one valid JSON value/ ],
    [ 'closed', 'close', '',
        lost => qr/no complete response from .*may have been/ ],
    [ 'garbage', 'garbage', '', lost => qr/no complete response/ ],
    [ 'half', 'half', '', lost => qr/no complete response/ ],
    [ 'late', 'hang/late', 'timeout 200ms;',
        timeout => qr/did not finish within 200 ms/ ],
);
my %exception = (
    program => 'CalledProcessError',
    output  => 'ValueError',
    timeout => 'TimeoutError',
    lost    => 'ConnectionError',
);

my $conf = '';
$conf .= "tool $_->[0] { http $_->[1]; output json; }\n" for @sent;
for (@back) {
    my ($name, $path, $option) = @$_;
    $conf .= "tool $name { http GET $url/$path; $option }\n";
    $option = "output text; $option" if $option !~ /output/;
    $conf .= "method $name { http GET $url/$path; $option }\n";
}
$tg->conf(<<"END")->start;
$conf
tool dead { http GET http://127.0.0.1:1/; }
tool result {
    http   GET $url/type/application%2Fjson?body=@{[ unpack 'H*',
        '{"content":[{"type":"text","text":"t"}],"isError":true}' ]};
    output result;
}
tool no_content { http DELETE $url/status/204; output json; }
tool no_result { http DELETE $url/status/204; output result; }
tool no_bytes {
    http   GET $url/type/application%2Fjson%3B%20charset=UTF-16?body=;
    output json;
}
tool no_text { http GET $url/type/text%2Fx%3B%20charset=UTF-16?body=; }
tool blank { http GET $url/type/application%2Fjson?body=0a20; output json; }
method no_content { http DELETE $url/status/204; }
method no_result { http DELETE $url/status/204; output result; }
tool many {
    http GET $url/echo/many; query a \$tool_arg_a each;
}
tool many_listed { http GET $url/echo/many/\$tool_arg_a join=,; }
tool control { http GET $url/echo/control; header X-A \$tool_arg_a; }
tool dots { http GET $url/echo/dots/\$tool_arg_a/b; }
method echo { http POST $url/echo; }
END

my $mcp = $tg->connect;

# Arguments that are a reference are JSON already.
sub call {
    my ($name, $arguments) = @_;
    return $mcp->call_tool($name, $arguments) if ref $arguments ne 'SCALAR';
    $mcp->send_line('{"jsonrpc":"2.0","id":"raw","method":"tools/call",'
            . qq("params":{"name":"$name","arguments":$$arguments}}));
    return $mcp->recv_json;
}

for my $case (@sent) {
    my ($name, undef, $arguments, $sent) = @$case;
    my $result = call($name, $arguments)->{result};
    my $got = $result->{structuredContent};
    ok $got, "$name: is sent" or do { diag $mcp->encode($result); next };
    for my $key (sort keys %$sent) {
        my $value =
              $key eq 'json'             ? $mcp->decode($got->{body})
            : $key =~ /^(?:method|path|body)$/ ? $got->{$key}
            :                              $got->{headers}{$key};
        if (ref $sent->{$key} eq 'Regexp') {
            like $value, $sent->{$key}, "$name: $key";
        } else {
            is_deeply $value, $sent->{$key}, "$name: $key";
        }
    }
}
is $web->connections, 1, 'all over one connection';

my $rpc = $tg->connect;
my $ipc = $tg->connect;
for my $case (@back) {
    my ($name, undef, undef, @wanted) = @$case;
    my $tool = $mcp->call_tool($name);
    my $method = $rpc->rpc($name);
    my $python = $ipc->ipc_call($name);
    if (@wanted == 1) {
        ok text_of($tool) eq $wanted[0], "$name: a tool"
            or diag substr text_of($tool), 0, 300;
        ok !$tool->{result}{isError}, "$name: no error";
        ok $method->{result} eq $wanted[0], "$name: a method";
        ok text_of($python) eq $wanted[0], "$name: ipc";
        next;
    }
    my ($failure, $pattern) = @wanted;
    like text_of($tool), $pattern, "$name: a tool";
    ok $tool->{result}{isError}, "$name: an error of the tool";
    is $method->{error}{code}, -32603, "$name: an error of a method";
    like $method->{error}{message}, $pattern, "$name: a method";
    is $python->{error}{type}, $exception{$failure}, "$name: an ipc error";
}
like text_of($mcp->call_tool('dead')),
    qr/^dead: http:..127.0.0.1:1 cannot be reached; no request was sent/,
    'no server';
is_deeply $mcp->call_tool('result')->{result},
    { content => [ { type => 'text', text => 't' } ],
        isError => JSON::PP::true }, 'a whole result';
is $rpc->rpc(echo => { x => 1 })->{result}{body}, '{"x":1}',
    'JSON is what a method answers';

# A success without a body is a success.
for my $name (qw(no_content no_bytes blank)) {
    is_deeply $mcp->call_tool($name)->{result},
        { content => [ { type => 'text', text => 'null' } ],
            isError => JSON::PP::false }, "$name: null in JSON";
}
is_deeply $mcp->call_tool('no_result')->{result}{content}, [],
    'a whole result without content';
ok !$mcp->call_tool('no_text')->{result}{isError}, 'an empty text';
for my $name (qw(no_content no_result)) {
    my $reply = $rpc->rpc($name);
    ok exists $reply->{result} && !$reply->{error}, "$name: a method";
}
is $rpc->rpc('no_content')->{result}, undef, 'whose result is null';

# Arrays have a bound.
for my $name (qw(many many_listed)) {
    like text_of($mcp->call_tool($name => { a => [ (1) x 4097 ] })),
        qr/array in the arguments has more than 4096 elements/,
        "$name: too many elements";
}

# Nothing can be injected between the parts of a request.
for my $value ("a\r\nX-Evil: 1", "a\nb", "a\0", "\x7f") {
    my $reply = $mcp->call_tool(control => { a => $value });
    like text_of($reply), qr/control character/, 'a control character';
}
like text_of($mcp->call_tool(dots => { a => $_ })), qr/"\." or "\.\." in its/,
    "$_ in the path" for '.', '..';
like text_of($mcp->call_tool(dots => $_)), qr/segment of the URL's path is/,
    'nothing in the path' for {}, { a => '' }, { a => undef };
$mcp->call_tool(control => { a => 'x' });
is scalar(grep { $_->{path} =~ /control|dots|many/ } $web->requests), 1,
    'none of these was sent, but one without';

done_testing;
