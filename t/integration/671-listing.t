#!/usr/bin/perl
# `size`, `last_modified` and the `title` of an argument, as lists have them.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
$tg->conf(<<'END')->start;
resource notes:///rules {
    size          2k;
    last_modified 2026-02-28T23:59:59Z;
    priority      0.5;
    return        "Rules.";
}
resource notes:///plain { size 0; return ""; }
resource_template notes:///{day} {
    name          day;
    last_modified 1999-12-31T00:00:00Z;
    return        "$tool_arg_day";
}
prompt review {
    argument commit required "title=The commit" "such as HEAD~1";
    argument tone;
    message  user "$tool_arg_commit";
}
END

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $list = sub {
        my ($method, $key) = @_;
        return $way->client->rpc($method, $way->params({}))->{result}{$key};
    };
    my $resources = $list->('resources/list', 'resources');
    is_deeply $resources->[0], {
        uri         => 'notes:///rules',
        name        => 'rules',
        size        => 2048,
        annotations => {
            lastModified => '2026-02-28T23:59:59Z',
            priority     => 0.5,
        },
    }, "$era: size and time";
    is $resources->[1]{size}, 0, "$era: an empty resource";
    is_deeply $list->('resources/templates/list', 'resourceTemplates'), [ {
        uriTemplate => 'notes:///{day}',
        name        => 'day',
        annotations => { lastModified => '1999-12-31T00:00:00Z' },
    } ], "$era: the time of a template";
    is_deeply $list->('prompts/list', 'prompts')->[0]{arguments}, [
        {
            name        => 'commit',
            title       => 'The commit',
            description => 'such as HEAD~1',
            required    => \1,
        },
        { name => 'tone', required => \0 },
    ], "$era: the title of an argument";
}

my $handler = 'return hi;';
for (
    [
        'a negative size', qr/invalid size "-1" in "size"; write the bytes/,
        "resource n:a {\n size -1; #!\n $handler }"
    ],
    [
        'a size twice', qr/"size" directive is duplicate/,
        "resource n:a {\n size 1;\n size 1; #!\n $handler }"
    ],
    (map { [
        "no time: $_", qr/invalid time "\Q$_\E" in "last_modified"; write for/,
        "resource n:a {\n last_modified $_; #!\n $handler }"
    ] } qw(yesterday 2026-11-26 2026-02-30T12:00:00Z 2026-11-26T12:00:00Zx
        2026-11-26T12:00:00+01:00)),
    [
        'a time twice', qr/duplicate "last_modified lastModified"/,
        "resource n:a {\n last_modified 2026-11-26T12:00:00Z;\n"
            . " last_modified 2026-11-26T12:00:00Z; #!\n $handler }"
    ],
    [
        'an argument with two titles', qr/invalid "argument x"; .*"title=TEXT"/,
        "prompt a {\n argument x title=a title=b y; #!\n $handler }"
    ],
    [
        'a quote within a title', qr/"argument x" has a value that begins/,
        "prompt a {\n argument x title='a'; #!\n $handler }"
    ]
) {
    my ($name, $message, $body) = @$_;
    conf_fails($tg, $body, $message, $name);
}

done_testing;
