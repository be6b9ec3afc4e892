#!/usr/bin/perl
# Resources and templates in both eras: lists, contents as text and bytes,
# errors, logs, counters.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $log = $tg->dir . '/calls.log';
my $bytes = $tg->file('bytes', join '', map {chr} 0 .. 255);
my $text = $tg->file('text', "caf\xc3\xa9\n");
$tg->conf(<<"END")->start;
tool_log $log;
tool_list_ttl 90s public;
resource notes:///today.txt {
    title "Today"; description "Notes."; mime text/markdown;
    audience user assistant; priority 0.5; ttl 10s public;
    meta x 1; icon https://a.b/c.svg any;
    return "# \$tool_uri\\n";
}
resource bytes:all { exec cat $bytes; }
resource bytes:text { exec cat $text; }
resource bytes:image { mime image/png; exec cat $text; }
resource bytes:value { mime image/png; return abc; }
resource whole:x {
    output result;
    exec echo '{"contents":[{"uri":"whole:y","text":"1"},
                            {"uri":"whole:z","text":"2"}]}';
}
resource bad:fails { exec false; }
resource bad:large { exec cat $bytes; max_output 100; }
resource_template "notes:///{+path}" {
    name note; mime text/plain; return "\$tool_arg_path \$tool_uri"; }
resource_template "q:{id}{?a,b}" {
    argument b required; return "\$tool_arg_id \$tool_arg_a \$tool_arg_b"; }
END

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $client = $way->client;
    my $is_modern = $era eq 'modern';
    my $ask = sub {
        my ($method, $params) = @_;
        return $client->rpc($method, $way->params($params // {}));
    };
    my $read = sub { return $ask->('resources/read', { uri => $_[0] }) };
    my $content = sub { return $read->($_[0])->{result}{contents}[0] };

    my $list = $ask->('resources/list')->{result};
    is join(' ', map { $_->{uri} } @{ $list->{resources} }),
        'notes:///today.txt bytes:all bytes:text bytes:image bytes:value '
        . 'whole:x bad:fails bad:large', "$era: all resources in order";
    is_deeply $list->{resources}[0], {
        uri         => 'notes:///today.txt',
        name        => 'today.txt',
        title       => 'Today',
        description => 'Notes.',
        mimeType    => 'text/markdown',
        annotations => { audience => [qw(user assistant)], priority => 0.5 },
        icons       => [ { src => 'https://a.b/c.svg', sizes => ['any'] } ],
        _meta       => { x => 1 },
    }, "$era: a whole entry" or diag explain $list->{resources}[0];
    is_deeply [ @$list{qw(ttlMs cacheScope)} ],
        $is_modern ? [ 90000, 'public' ] : [ undef, undef ],
        "$era: how long to keep the list";
    $list = $ask->('resources/templates/list')->{result};
    is_deeply [ map { "$_->{uriTemplate} $_->{name}" }
            @{ $list->{resourceTemplates} } ],
        [ 'notes:///{+path} note', 'q:{id}{?a,b} q:{id}{?a,b}' ],
        "$era: templates";

    my $result = $read->('notes:///today.txt')->{result};
    is_deeply $result->{contents}, [ {
        uri      => 'notes:///today.txt',
        mimeType => 'text/markdown',
        text     => "# notes:///today.txt\n",
    } ], "$era: a resource";
    is_deeply [ @$result{qw(ttlMs cacheScope)} ],
        $is_modern ? [ 10000, 'public' ] : [ undef, undef ],
        "$era: how long to keep it";
    is_deeply $content->('bytes:all'), {
        uri  => 'bytes:all',
        blob => 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKiss'
            . 'LS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZ'
            . 'WltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWG'
            . 'h4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKz'
            . 'tLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g'
            . '4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w==',
    }, "$era: bytes";
    is_deeply $content->('bytes:text'),
        { uri => 'bytes:text', text => "caf\x{e9}\n" }, "$era: UTF-8";
    is_deeply $content->('bytes:image'), {
        uri      => 'bytes:image',
        mimeType => 'image/png',
        blob     => 'Y2Fmw6kK',
    }, "$era: bytes by the type";
    is_deeply $content->('bytes:value'),
        { uri => 'bytes:value', mimeType => 'image/png', blob => 'YWJj' },
        "$era: bytes of a value";
    is_deeply [ map {"$_->{uri} $_->{text}"}
            @{ $read->('whole:x')->{result}{contents} } ],
        [ 'whole:y 1', 'whole:z 2' ], "$era: a whole result";

    is $content->('notes:///a/b%20c')->{text}, 'a/b c notes:///a/b%20c',
        "$era: a template";
    is $content->('q:1?b=2')->{text}, '1  2', "$era: a query";
    is $content->('q:1?b=2&a=%C3%A9')->{text}, "1 \x{e9} 2",
        "$era: two parameters";

    my $unknown = $is_modern ? -32602 : -32002;
    for my $bad (
        [ 'no:such', $unknown ],
        [ 'q:1', -32602 ],
        [ 'bad:fails', -32603 ],
        [ 'bad:large', -32603 ],
    ) {
        my ($uri, $code) = @$bad;
        my $error = $read->($uri)->{error};
        is $error->{code}, $code, "$era: error of $uri" or diag explain $error;
        is_deeply $error->{data}, { uri => $uri }, 'with the URI'
            if $uri eq 'no:such';
    }
}

# Logs, counters, running calls and limits are those of tools.
my $lines = slurp($log);
like $lines, qr/ resource="notes:\/\/\/today\.txt" status=ok /,
    'a line of the log';
like $lines,
    qr/ resource_template="notes:\/\/\/\{\+path\}" uri="notes:\/\/\/a\/b%20c" /,
    'which has the URI of a template';
my $server = $tg->connect->rpc('toolgate.status')->{result}{servers}[0];
my ($counted) = grep { $_->{name} eq 'notes:///{+path}' } @{ $server->{tools} };
is $counted->{type}, 'resource_template', 'a row of the status';
is $counted->{calls}, 2, 'with its calls'
    or diag explain $counted;
$tg->allow_log(qr/call of "bad:(?:fails|large)" failed/);

done_testing;
