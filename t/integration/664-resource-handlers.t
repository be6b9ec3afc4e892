#!/usr/bin/perl
# Handlers in prompts, resources and templates: HTTP APIs, values of arguments,
# and the bytes that each of them returns.

use Toolgate::Test qw(Native Way Web);

my $tg = Toolgate::Test->new(workers => 1);
my $so = Toolgate::Native->probe($tg->dir . '/probe.so', 'one');
my $web = Toolgate::Web->new($tg);
my $url = $web->url;
$tg->conf(<<"END")->start;
resource h:bytes { http GET $url/type/image/png?body=ff00; }
resource h:text { http GET $url/type/text/plain?body=c3a9; }
resource h:latin {
    http GET "$url/type/text/plain;%20charset=iso-8859-1?body=e9"; }
resource h:koi { http GET "$url/type/text/plain;%20charset=koi8-r?body=c1"; }
resource h:empty { http GET $url/type/text/plain?body=; }
resource h:nothing { mime image/png; http GET $url/type/image/png?body=; }
resource h:typed { mime image/png; http GET $url/type/text/plain?body=6162; }
resource h:fails { http GET $url/status/404; }
resource h:json { output json; http GET $url/type/application/json?body=7b7d; }
resource_template "v:{x}" { return \$tool_arg_x; }
resource_template "b:{x}" { mime image/png; return \$tool_arg_x; }
resource_template "e:{x}" {
    argument x pattern=^[^-];
    exec echo \$tool_arg_x; }
resource l:bytes { library $so probe_not_utf8; }
resource_template "l:say/{x}" { library $so probe_say \$tool_arg_x; }
prompt p { argument path; http GET $url/echo/\$tool_arg_path; }
END

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $read = sub {
        my $reply = $way->client->rpc('resources/read',
            $way->params({ uri => $_[0] }));
        return $reply->{error} // do {
            my $content = $reply->{result}{contents}[0];
            delete $content->{uri};
            $content;
        };
    };
    my %png = (mimeType => 'image/png');
    for my $case (
        [ 'h:bytes', { blob => '/wA=' } ],
        [ 'h:text', { text => "\x{e9}" } ],
        [ 'h:latin', { text => "\x{e9}" } ],
        [ 'h:koi', { blob => 'wQ==' } ],
        [ 'h:empty', { text => '' } ],
        [ 'h:nothing', { %png, blob => '' } ],
        [ 'h:typed', { %png, blob => 'YWI=' } ],
        [ 'h:json', { text => '{}' } ],
        [ 'v:a%20b', { text => 'a b' } ],
        [ 'b:ab', { %png, blob => 'YWI=' } ],
        [ 'e:x', { text => "x\n" } ],
    ) {
        my ($uri, $content) = @$case;
        my $got = $read->($uri);
        is_deeply $got, $content, "$era: $uri" or diag explain $got;
    }
    ok exists $read->('l:bytes')->{blob}, "$era: bytes of a library";
    like $read->('l:say/hi')->{text}, qr/hi/, "$era: a text of a library";
    is $read->('h:fails')->{code}, -32603, "$era: an error of the API";
    is $read->('e:-n')->{code}, -32602, "$era: a value that is refused";
    my $reply = $way->client->rpc('prompts/get',
        $way->params({ name => 'p', arguments => { path => 'a/b' } }));
    my $sent = Toolgate::Json::decode(
        $reply->{result}{messages}[0]{content}{text});
    is $sent->{path}, '/echo/a%2Fb', "$era: a prompt from an API";
}
$tg->allow_log(qr/call of "h:fails" failed/);

done_testing;
