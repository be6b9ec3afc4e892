#!/usr/bin/perl
# Errors of nginx -t in an mcp_server block, and their corrections.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $ca = $tg->file('ca.pem', "-----BEGIN CERTIFICATE-----\n");
my $schema = q('{"type":"object"}');

# Returns the block of `a`, for a whole config.
sub of { return "mcp_server a { $_[0] }" }

for (
    [ of(''), qr/"a" has no server; write "exec PROGRAM.*"url URL"/ ],
    [ of('exec cat; pass 127.0.0.1:80;'), qr/an "exec" and a "pass"/ ],
    [ of('exec cat; exec cat;'), qr/"exec" directive is duplicate/ ],
    [ of('exec no-such-program;'), qr/cannot be run; write the full path/ ],
    [ of('exec /etc/passwd;'), qr/cannot be run/ ],
    [ of('exec cat $tool_arg_x;'), qr/has a variable, .* the value itself/ ],
    [ of('exec $program;'), qr/"exec" needs a program without variables/ ],
    [ of('exec cat; env A ${b};'), qr/"\$\{b\}" of "env" has a variable/ ],
    [ of('exec cat; env A=B c;'), qr/write "env NAME VALUE"/ ],
    [ of('exec cat; env A b; env A c;'), qr/the same name twice/ ],
    [ of('exec cat; cwd /no/such;'), qr/is not a directory; .*"cwd client"/ ],
    [ of('exec cat; cwd client;'), qr/add "share connection"/ ],
    [ of('exec cat; cwd client; share user;'), qr/add "share connection"/ ],
    [ of('exec cat; share none;'), qr/one of all, user, connection/ ],
    [ of('exec cat; start boot;'), qr/one of at=use, at=boot/ ],
    [ of('exec cat; idle soon;'), qr/"10m", or "off"/ ],
    [ of('exec cat; idle 0;'), qr/"10m", or "off"/ ],
    [ of('exec cat; start_timeout soon;'), qr/"start_timeout"; .*"60s"/ ],
    [ of('exec cat; start_timeout 0;'), qr/"0" in "start_timeout"/ ],
    [ of('exec cat; start_timeout 1s; start_timeout 2s;'), qr/is duplicate/ ],
    [ of('exec cat; memory 3;'), qr/1m or more/ ],
    [ of('exec cat; pids x;'), qr/number of processes/ ],
    [ of('exec cat; roots /no/such;'), qr/is not a directory; .*"file:/ ],
    [ of('exec cat; prefix "a b";'), qr/at most 32 letters/ ],
    [ of('exec cat; prefix ' . 'a' x 33 . ';'), qr/at most 32 letters/ ],
    [ of('exec cat; tools "^read";'), qr/read" in "tools": .*not a regular/ ],
    [ of('exec cat; hide "a[bc]";'), qr/in "hide": .*not a regular/ ],
    [ of('exec cat; hide "";'), qr/1 to 128 characters/ ],
    [ of('exec cat; prompts "^a";'), qr/in "prompts": .*not a regular/ ],
    [ of('exec cat; prompts off a;'), qr/either "off" or patterns/ ],
    [ of('exec cat; prompts a; prompts off;'), qr/either "off" or patterns/ ],
    [ of('exec cat; resources "^x:";'), qr/in "resources": .*is a URI/ ],
    [ of('exec cat; resources "x: y";'), qr/in "resources": .*is a URI/ ],
    [ of('exec cat; resources off x:*;'), qr/either "off" or patterns/ ],
    [ of('pass 127.0.0.1;'), qr/write "unix:\/PATH" or "HOST:PORT"/ ],
    [ of('pass unix:x;'), qr/write "unix:\/PATH"/ ],
    [ of('pass 127.0.0.1:80; env A b;'), qr/no "exec", so "env"/ ],
    [ of('pass 127.0.0.1:80; pids 3;'), qr/no "exec", so "env"/ ],
    [ of('url 127.0.0.1/mcp;'), qr/invalid URL .*http:/ ],
    [ of('url http://a:b@c/;'), qr/invalid URL/ ],
    [ of('url http://a/../b;'), qr/must not contain "\." or "\.\."/ ],
    [ of('url http://$host/;'), qr/has a variable/ ],
    [ of('url http://a/; url http://b/;'), qr/"url" directive is duplicate/ ],
    [ of('url http://a/; exec cat;'), qr/a "url" beside another server/ ],
    [ of('url http://a/; pass 127.0.0.1:80;'), qr/a "url" beside another/ ],
    [ of('url http://a/; env A b;'), qr/no "exec", so "env"/ ],
    [ of('url http://a/; cwd /;'), qr/no "exec", so "env", "cwd"/ ],
    [ of('url http://a/; cwd client; share connection;'),
        qr/no "exec", so "env", "cwd"/ ],
    [ of('url http://a/; memory 10m;'), qr/no "exec", so .*"memory"/ ],
    [ of('exec cat; header X-A b;'), qr/no "url", so "header"/ ],
    [ of("exec cat; ca_file $ca;"), qr/no "url", so "header", "ca_file"/ ],
    [ of("url http://a/; ca_file $ca;"), qr/begins with "http:"/ ],
    [ of('exec cat; proxy http://p:1;'), qr/no "url", so .*"proxy"/ ],
    [ of('pass 127.0.0.1:1; connect_timeout 1s;'), qr/no "url", so "header"/ ],
    [ of('url http://a/; proxy https://p;'), qr/invalid proxy.*127\.0\.0\.1/ ],
    [ of('url http://a/; proxy http://p; proxy http://q;'),
        qr/"proxy" directive is duplicate/ ],
    [ of('url http://a/; connect_timeout 2h;'), qr/invalid time "2h".*1h/ ],
    [ of('url http://a/; connect_timeout 1s; connect_timeout 1s;'),
        qr/"connect_timeout" directive is duplicate/ ],
    [ of('url https://a/; ca_file /etc/passwd;'), qr/no certificate in PEM/ ],
    [ of('url http://a/; header "A b" c;'), qr/invalid name "A b"/ ],
    [ of('url http://a/; header Host b;'), qr/Toolgate sends it itself/ ],
    (map { [ of("url http://a/; header $_ b;"), qr/MCP sets this header/ ] }
        qw(accept Content-Type Last-Event-ID MCP-Protocol-Version
        Mcp-Session-Id Mcp-Param-X)),
    [ of('url http://a/; header A b; header a c;'), qr/has "a" twice/ ],
    [ of('url http://a/; header A "";'), qr/is empty; remove the header/ ],
    [ of('url http://a/; header A $b;'), qr/has a variable/ ],
    [ of("url http://a/; header A 'b\nc';"), qr/a line break or another/ ],
    [ of('url http://a/; header A file=/no/such;'), qr/No such file/ ],
    [ of('exec cat; description x;'), qr/"description" .* not allowed here/ ],
    [ of('exec cat; tool x { return y; }'),
        qr/a second handler; .*mcp_server/ ],
    [ of('exec cat; tool x { exec y; }'), qr/a second handler/ ],
    [ of('exec cat; tool x { stdin y; }'), qr/no "exec", so "stdin"/ ],
    [ of('exec cat; tool x { output json; }'), qr/remove "output" and/ ],
    [ of("exec cat; tool x { output_schema $schema; }"),
        qr/remove "output" and "output_schema"/ ],
    [ of(q(exec cat; tool x { input_schema '{"type":1}'; })),
        qr/must have "type":"object"/ ],
    [ of('exec cat; tool x { } tool x { }'), qr/duplicate tool "x"/ ],
    [ of('exec cat; tool "x*" { }'), qr/without "\*" and "\?"/ ],
    [ of('exec cat; hide x*; tool xy { }'), qr/"xy" .* is excluded by/ ],
    [ of('exec cat; tools x; tool y { }'), qr/"y" .* is excluded by/ ],
    [ of('exec cat; tool x { mcp_server b { } }'), qr/not allowed here/ ],
    [ 'mcp_server "a b" { exec cat; }', qr/1 to 32 letters/ ],
    [ 'mcp_server ' . 'a' x 33 . ' { exec cat; }', qr/1 to 32 letters/ ],
    [ of('exec cat;') . of('exec cat;'), qr/duplicate mcp_server "a"/ ],
    [ of('exec cat;') . 'mcp_server b { exec cat; prefix a_; }',
        qr/the same "prefix a_"/ ],
    [ 'tool a_x { return 1; }' . of('exec cat; tool x { }'),
        qr/would be named "a_x", which the config/ ],
    [ of('exec cat; tool x { }') . 'tool a_x { return 1; }',
        qr/would be named "a_x", which the config/ ],
    [ 'tool a { description x; }',
        qr/give it a "return" or an "exec"(?!.*"mcp_server")/ ],
) {
    conf_fails($tg, @$_);
}

# None may be in `stream`; it may contain what is allowed.
my ($status, $out) = $tg->test_conf(of('exec cat;'), server => 0);
like $out, qr/"mcp_server" directive is not allowed here/, 'not in stream';
$tg->file('more.conf', 'hide z*; tool b { title B; }');
for my $config (
    of('exec cat;'),
    of('pass 127.0.0.1:80; share user;'),
    of('pass localhost:80; prefix "";')
        . 'mcp_server b { exec cat; prefix ""; }',
    of('pass unix:/tmp/x;'),
    of('exec cat a$ "$" $1; cwd client; share connection;'),
    of('exec cat; include %%DIR%%/more.conf;'),
    of(<<"END"),
exec cat; env A b; cwd /; memory 64m; pids 20; share all; start at=boot;
idle off; roots /tmp "file:///a b"; prefix x-; tools a* x-b?; hide b2;
timeout 3s max=5s; max_output 2m; concurrency 2 queue=2; rate 10r/s burst=3;
allow uid=0; deny all; validate formats;
tool b1 { title T; description D; annotations '{}'; input_schema $schema;
          allow all; deny all; rate 1r/m; concurrency 1; timeout 1s;
          max_output 1k; validate off; }
END
) {
    my ($status, $out) = $tg->test_conf($config);
    is $status, 0, "taken: $config" or diag $out;
    unlike $out, qr/\[(?:warn|error)\]/, 'without complaints';
}

# The workers' user must be able to execute it.
SKIP: {
    skip 'only root has another user', 2 if $> != 0;
    my $other = Toolgate::Test->new(user => 'nobody');
    my $program = $other->file('mine', "#!/bin/sh\n", 0700);
    my ($status, $out) = $other->test_conf("mcp_server a { exec $program; }");
    isnt $status, 0, 'a program of another user is refused';
    like $out, qr/cannot be run by "nobody"/, 'and the message names who';
}

done_testing;
