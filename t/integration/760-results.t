#!/usr/bin/perl
# A handler's output becomes the result according to `output`: text, JSON or a
# whole MCP result, in each dialect and era.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $properties = 'input_schema \'{"type":"object","properties":'
    . '{"text":{},"value":{}}}\';';
my $conf = '';
for my $output (qw(text json result)) {
    $conf .= "tool $output.return { $properties output $output; "
        . "return \$tool_arg_text; }\n"
        . "tool $output.exec { $properties output $output; "
        . "exec cat; stdin \$tool_arg_text; }\n"
        . "method $output.return { $properties output $output; "
        . "return \$tool_arg_text; }\n"
        . "method $output.exec { $properties output $output; "
        . "exec cat; stdin \$tool_arg_text; }\n";
}
$tg->conf($conf . 'tool default { return hi; } method default { return 7; }');
$tg->start;

my @ways = Toolgate::Way->all($tg);
my $info = 'io.modelcontextprotocol/serverInfo';

# Returns the result without the members of its era.
sub plain {
    my ($way, $answer) = @_;
    my %result = %{ $answer->{result} };
    return \%result if $way->name ne 'modern';
    is delete $result{resultType}, 'complete', 'modern: resultType';
    my %meta = %{ delete $result{_meta} };
    is ref delete $meta{$info}, 'HASH', 'modern: who answers';
    $result{_meta} = \%meta if %meta;
    return \%result;
}

sub text_block { return { type => 'text', text => $_[0] } }
my ($false, $true) = (JSON::PP::false, JSON::PP::true);

# Text: any, as one block.
for my $text ('hi', '', "two\nlines\n", "\x{1f600} \x{e9} \"quoted\" \\ \t",
    '{"a":1}', "\x{2028}", 'x' x 100_000)
{
    my $shown = length $text > 30 ? 'a long one' : $text =~ s/\W/./gr;
    for my $way (@ways) {
        for my $how (qw(return exec)) {
            is_deeply plain($way, $way->call("text.$how", { text => $text })),
                { content => [ text_block($text) ], isError => $false },
                "text '$shown', $how, " . $way->name;
        }
    }
}
is $ways[0]->call('default')->{text}, 'hi', 'the default of tools';

# JSON: as compact text, and as structured content if the era has it.
my @values = (
    [ ' { "a" : [ 1 , 2.50 ] } ' . "\n", '{"a":[1,2.50]}' ],
    [ '[1,2]',                           '[1,2]' ],
    [ '"text"',                          '"text"' ],
    [ '9007199254740993',                '9007199254740993' ],
    [ 'null',                            'null' ],
    [ "\r\n\ttrue\n",                    'true' ],
    [ '{}',                              '{}' ],
);
for my $case (@values) {
    my ($json, $compact) = @$case;
    my $value = Toolgate::Client->decode($compact);
    for my $way (@ways) {
        for my $how (qw(return exec)) {
            my $result =
                plain($way, $way->call("json.$how", { text => $json }));
            my $is_structured = $way->name eq 'modern'
                || $way->name ne 'ipc' && ref $value eq 'HASH';
            is_deeply $result, {
                content => [ text_block($compact) ],
                isError => $false,
                $is_structured ? (structuredContent => $value) : (),
            }, "json $compact, $how, " . $way->name;
        }
    }
}

# Whole results are passed on unchanged; ipc has their text, and a failure
# without one gets a text.
my $untold = 'The tool says that it failed, but not why: its result has no '
    . 'text. Look into its log, or tell its author to say what went wrong.';
my @results = (
    [
        { content => [ text_block('one'), text_block('two') ] }, "one\ntwo"
    ],
    [ { content => [] }, '' ],
    [
        { content => [ text_block('no') ], isError => $true }, 'no'
    ],
    [ { content => [], isError => $true }, '' ],
    [
        {
            content => [
                { type => 'image', data => 'AA==', mimeType => 'image/png' },
            ],
            isError => $true,
            _meta   => { 'toolgate/errorType' => 'CameraError' },
        },
        ''
    ],
    [
        {
            content => [
                { type => 'image', data => 'AA==', mimeType => 'image/png' },
                text_block('between'),
                { type => 'audio', data => 'AA==', mimeType => 'audio/wav' },
            ],
            isError => $false,
        },
        'between'
    ],
    [
        {
            content => [
                {
                    type        => 'resource_link',
                    uri         => 'file:///a',
                    name        => 'a',
                    description => 'A file.',
                },
                {
                    type     => 'resource',
                    resource => { uri => 'file:///b', text => 'b' },
                    annotations => { audience => ['user'], priority => 1 },
                },
            ],
        },
        ''
    ],
    [
        {
            content           => [ text_block('{"n":1}') ],
            structuredContent => { n => 1, deep => [ { er => undef } ] },
            _meta             => { 'example.org/a' => [1] },
            more              => 'of a later revision',
        },
        '{"n":1}'
    ],
);
for my $case (@results) {
    my ($result, $text) = @$case;
    my $json = Toolgate::Client->encode($result);
    for my $way (@ways) {
        for my $how (qw(return exec)) {
            my $answer = $way->call("result.$how", { text => $json });
            my $name = "result '$text', $how, " . $way->name;
            if ($way->name ne 'ipc') {
                is_deeply plain($way, $answer), $result, $name;
            } elsif ($result->{isError}) {
                my $type = $result->{_meta}{'toolgate/errorType'};
                is_deeply $answer->{raw}{error}, {
                    message => $text || $untold,
                    type    => $type // 'IPCToolExecutionError',
                }, $name;
            } else {
                is_deeply $answer->{result},
                    { content => [ text_block($text) ], isError => $false },
                    $name;
            }
        }
    }
}

# A tool's own _meta of the modern era stays, except for our members.
my $own = Toolgate::Client->encode({
    content    => [],
    resultType => 'incomplete',
    _meta      => { $info => { name => 'me', version => '1' }, x => 1 },
});
my $result = $ways[1]->call('result.return', { text => $own })->{result};
is $result->{resultType}, 'complete', 'the type is that of an answer';
is_deeply $result->{_meta},
    { $info => { name => 'me', version => '1' }, x => 1 }, 'its own _meta';

# Methods: a string, or the JSON value, digit by digit.
my $c = $tg->connect;
is $c->rpc('default')->{result}, 7, 'the default of methods';
for my $how (qw(return exec)) {
    is $c->rpc("text.$how", { text => "a \"b\"\n" })->{result}, "a \"b\"\n",
        "text of a method, $how";
    for my $output (qw(json result)) {
        for my $case (@values) {
            my $id = $c->request("$output.$how", { text => $case->[0] });
            is $c->recv_line,
                qq({"jsonrpc":"2.0","id":$id,"result":$case->[1]}),
                "$output of a method, $how: $case->[1]";
        }
    }
}

done_testing;
