#!/usr/bin/perl
# Mistakes in `http` and its directives: nginx -t finds each, with its line and
# the correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->file('secret', "Bearer abc\n", 0600);
$tg->file('open', "Bearer abc\n", 0644);
$tg->file('two', "Bearer abc\nX: y\n", 0600);
$tg->file('none', "\n", 0600);
$tg->file('long', 'x' x 16385, 0600);
$tg->file('noca', "no certificate\n");

# The body of a tool whose wrong line ends in "#!", and the expected message.
my $get = 'http GET http://a.b/;';
my @mistakes = (
    [ 'http get http://a/; #!', qr/invalid method "get" in "http"; .*GET/ ],
    [ 'http CONNECT http://a/; #!', qr/invalid method "CONNECT"/ ],
    [ 'http GET; #!', qr/number of arguments in "http"/ ],
    [ 'http GET ftp://a/; #!', qr/must begin with "http:..".*one variable/ ],
    [ 'http GET a.b/c; #!', qr/must begin with "http:/ ],
    [ 'http GET http:///x; #!', qr/the host must be a name/ ],
    [ 'http GET http://a:0/; #!', qr/the host must be a name/ ],
    [ 'http GET http://u:p@a/; #!', qr/a user or a password.*header/ ],
    [ 'http GET "http://a/b c"; #!', qr/percent-encoded/ ],
    [ 'http GET http://a/#b; #!', qr/no fragment/ ],
    [ 'http GET http://a/../b; #!', qr/must not contain "\." or "\.\."/ ],
    [ 'http GET http://a/$tool_arg_x/..; #!', qr/must not contain "\."/ ],
    [ 'http GET $tool_arg_a$tool_arg_b; #!', qr/one variable and nothing/ ],
    [ 'http GET http://a/$nope; #!', qr/unknown variable "\$nope"/ ],
    [ 'http GET http://a/$; #!', qr/starts a variable's name/ ],
    [ "$get\n return hi; #!", qr/second handler/ ],
    [ "$get\n http GET http://a/; #!", qr/second handler/ ],
    [ "header X y;\n return hi;\n} #!",
        qr/has no "http", so "header".*remove/ ],
    [ "redirects 0;\n return hi;\n} #!", qr/has no "http"/ ],
    [ "http GET http://\$tool_arg_h/;\n} #!",
        qr/in the host of "http".*"hosts api/ ],
    [ "http GET http://a\$tool_arg_h/;\n} #!", qr/in the host of "http"/ ],
    [ "http GET http://a:\$tool_arg_h/;\n} #!", qr/in the host of "http"/ ],
    [ "http GET \$tool_arg_url;\n} #!", qr/in the host of "http"/ ],
    [ "$get\n hosts b;\n} #!", qr/calls one host and.*"hosts" has no effect/ ],
    [ "http GET \$tool_arg_url;\n hosts a/b; #!", qr/invalid host "a\/b"/ ],
    [ "http GET \$tool_arg_url;\n hosts a*; #!", qr/"\*\.NAME" for all/ ],
    [ "http GET \$tool_arg_url;\n hosts \$x; #!", qr/invalid host/ ],
    [ "http GET \$tool_arg_url;\n hosts a;\n hosts b; #!", qr/is duplicate/ ],
    [ "http GET \$tool_arg_url;\n hosts *;\n proxy http://p:1;\n} #!",
        qr/has a "proxy", so Toolgate.*name each host in "hosts"/ ],
    [ "$get\n redirects 1;\n proxy http://p:1;\n} #!", qr/has a "proxy"/ ],
    [ "$get\n proxy socks5://p; #!", qr/invalid proxy.*"http:\/\/127/ ],
    [ "$get\n proxy https://p; #!", qr/invalid proxy/ ],
    [ "$get\n proxy http://p/x; #!", qr/invalid proxy/ ],
    [ "$get\n proxy http://p;\n proxy http://q; #!", qr/is duplicate/ ],
    [ "$get\n redirects 21; #!", qr/invalid number "21".*0 to 20/ ],
    [ "$get\n redirects x; #!", qr/invalid number "x"/ ],
    [ "$get\n redirects 1;\n redirects 1; #!", qr/is duplicate/ ],
    [ "$get\n connect_timeout 0; #!", qr/invalid time "0".*1ms and 1h/ ],
    [ "$get\n connect_timeout 2h; #!", qr/invalid time "2h"/ ],
    [ "$get\n connect_timeout 1;\n connect_timeout 1; #!", qr/is duplicate/ ],
    [ "$get\n header 'X Y' z; #!", qr/invalid name "X Y".*such as "X-Token"/ ],
    [ "$get\n header X: z; #!", qr/invalid name "X:"/ ],
    [ "$get\n header host z; #!", qr/invalid name "host".*sends it itself/ ],
    [ "$get\n header Content-Length 5; #!", qr/sends it itself/ ],
    [ "$get\n header X y;\n header x z; #!", qr/"header" has "x" twice/ ],
    [ "$get\n header X 'a\n b'; #!", qr/value of "X".*a line break/ ],
    [ "$get\n header X file=$dir/gone; #!", qr/gone" failed/ ],
    [ "$get\n header X file=$dir; #!", qr/not a regular file/ ],
    [ "$get\n header X file=$dir/two; #!", qr/one line of at most 16 KiB/ ],
    [ "$get\n header X file=$dir/none; #!", qr/one line of at most 16 KiB/ ],
    [ "$get\n header X file=$dir/long; #!", qr/one line of at most 16 KiB/ ],
    [ "$get\n query \$x y; #!", qr/invalid name.*variables in the value/ ],
    [ "$get\n query '' y; #!", qr/invalid name ""/ ],
    [ "$get\n query a y;\n query a z; #!", qr/"query" has "a" twice/ ],
    [ "$get\n body x;\n} #!", qr/has a "body", but GET and HEAD have no body/ ],
    [ "$get\n query a \$tool_arg_a all; #!",
        qr/invalid parameter "all" in "query".*"each" .*"join=,"/ ],
    [ "$get\n query a b each; #!",
        qr/"query" has "each", but no argument.*"\$tool_arg_NAME"/ ],
    [ "$get\n query a \$tool_name join=,; #!", qr/has "join=,", but no argum/ ],
    [ "$get\n query a \$tool_arg_a join=; #!", qr/invalid "join=".*"join=,"/ ],
    [ "$get\n query a \$tool_arg_a join=\$x; #!", qr/invalid "join=\$x"/ ],
    [ "$get\n query a \$tool_arg_a\$tool_arg_b each; #!",
        qr/for one array/ ],
    [ "http GET http://a/ join=,; #!", qr/has "join=,", but no argument/ ],
    [ "http GET http://a/\$tool_arg_a each; #!",
        qr/invalid parameter "each" in "http".*"join=,"/ ],
    [ "http GET \$tool_arg_a join=,; #!", qr/has "join=,", but no argument/ ],
    [ "$get\n field a x;\n} #!", qr/has a "field", but .*write "query"/ ],
    [ "http POST http://a;\n field a x;\n body y;\n} #!",
        qr/a "body" and a "field".*remove one/ ],
    [ "http POST http://a;\n field a x;\n field a y; #!",
        qr/"field" has "a" twice/ ],
    [ "field X y;\n return hi;\n} #!", qr/has no "http"/ ],
    [ "http POST http://a;\n body xml x; #!",
        qr/invalid type "xml".*json, form/ ],
    [ "http POST http://a;\n body '{a}'; #!",
        qr/JSON of "body" is not valid/ ],
    [ "http POST http://a;\n body '{\"a\":\$tool_arg_a'; #!", qr/not valid/ ],
    [ "http POST http://a;\n body '{\"a\":\$tool_arg_a,\n"
            . "\"b\":\"\$tool_name, \${tool_arg_b}\",\"c\":}'; #!",
        qr/a value is missing \(line 2, column 37\)/ ],
    [ "http POST http://a;\n body json 'x'; #!", qr/"body text VALUE"/ ],
    [ "http POST http://a;\n body x;\n body y; #!", qr/is duplicate/ ],
    [ "$get\n ca_file $dir/noca; #!", qr/has no certificate in PEM/ ],
    [ "$get\n ca_file $dir/gone; #!", qr/gone" failed/ ],
    [ "$get\n memory 1m;\n} #!", qr/has no "exec"/ ],
);

for my $case (@mistakes) {
    my ($tool, $pattern) = @$case;
    my $body = "tool a {\n $tool" . ($tool =~ /\} #!/ ? '' : "\n}");
    my $out = conf_fails_at($tg, $body, $pattern);
    unlike $out, qr/abc/, "no secret in the message" if $tool =~ /file=/;
}

# Valid directives, and strange ones.
my ($status, $out) = $tg->test_conf(<<"END");
tool a { http GET https://api.example.com; }
tool b {
    http            POST https://api.a.com:8443/a/\$tool_arg_b?c=\$tool_name;
    header          Authorization file=$dir/secret;
    header          Content-Type text/x;
    query           d \$tool_arg_d;
    body            text \$tool_arg_body;
    redirects       3;
    hosts           a.b *.c:* [::1]:80;
    connect_timeout 500ms;
    timeout         5s;
    max_output      2m;
    concurrency     3;
    output          json;
}
tool c { http GET \$tool_arg_url; hosts *; }
tool d { http GET HTTPS://\$tool_arg_h:\$tool_arg_p/; hosts *:* 10.0.0.1; }
tool e { http DELETE http://x/\$tool_arg_a; proxy http://127.0.0.1:3128/; }
tool f { http POST http://x; body ' [\$tool_arg_a, "\$tool_arg_b"] '; }
tool g { http POST http://x; body form "a=\$tool_arg_a"; }
method h { http PUT http://x; body \$tool_json_x; }
END
is $status, 0, 'what is right loads' or diag $out;
unlike $out, qr/\[warn\](?!.* has no "description")/, 'without a warning';

($status, $out) = $tg->test_conf("tool a { $get header X file=$dir/open; }");
is $status, 0, 'a secret that all can read loads';
like $out, qr/\[warn\].*all users can read "\S+open".*chmod o-r/,
    'with a warning';

# Only root has a user without access to a file that root reads for it.
SKIP: {
    skip 'for root only', 2 if $> != 0;
    my $nobody = Toolgate::Test->new(user => 'nobody');
    my $ca = $nobody->file('ca', "-----BEGIN CERTIFICATE-----\n", 0600);
    conf_fails($nobody, "tool a { $get ca_file $ca; }",
        qr/"\S+ca" of "ca_file" cannot be read by/,
        'certificates that the workers cannot read');
}

done_testing;
