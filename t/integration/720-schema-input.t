#!/usr/bin/perl
# Arguments are validated by the tool's schema before anything runs, in all
# dialects: the error has the place, the rule and the value.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $schema = <<'END';
{
  "type": "object",
  "properties": {
    "text": { "type": "string", "minLength": 2 },
    "n": { "type": "integer", "minimum": 1, "maximum": 9007199254740992 },
    "mode": { "enum": ["fast", "slow"] },
    "tags": { "type": "array", "items": { "type": "string" },
              "uniqueItems": true, "maxItems": 3 },
    "at": { "$ref": "#/$defs/place" },
    "a/b~c": { "type": "boolean" }
  },
  "required": ["text"],
  "additionalProperties": false,
  "$defs": {
    "place": { "type": "object", "required": ["x", "y"],
               "properties": { "x": { "type": "number" } } }
  }
}
END
$tg->file('input.json', $schema);
(my $inline = $schema) =~ s/\s+/ /g;

$tg->conf(<<"END");
tool said   { input_schema '$inline'; return "got \$tool_arg_text"; }
tool filed  { input_schema_file input.json; return "got \$tool_arg_text"; }
tool run    { input_schema_file %%DIR%%/input.json;
              exec touch %%DIR%%/ran; }
tool free   { return free; }
tool seven  { return seven; input_schema '{
              "\$schema":"http://json-schema.org/draft-07/schema#",
              "type":"object","properties":{
                  "n":{"\$ref":"#/definitions/n","minimum":9},
                  "l":{"type":"array","items":[{"type":"null"}],
                       "additionalItems":false}},
              "dependencies":{"n":["l"]},
              "definitions":{"n":{"type":"integer"}}}'; }
tool whole  { input_schema '$inline'; return \$tool_arguments; }
method whole { input_schema '$inline'; return \$tool_arguments; }
method said { input_schema_file input.json; return \$tool_json_text; }
method run  { input_schema_file input.json; exec touch %%DIR%%/ran; }
method pair { input_schema '{"type":"array","prefixItems":[{"type":"integer"},
                  {"type":"string"}],"items":false,"minItems":2}';
              return \$tool_arguments; }
END
$tg->start;

my @ways = Toolgate::Way->all($tg);
my %kind = (
    legacy => 'result',
    modern => 'result',
    relay  => 'result',
    ipc    => 'ValidationError',
);

# Arguments as JSON, for the numbers in it, and the expected error.
my @wrong = (
    ['{}', '/text: is missing', qr{^/text: .*(?:required|missing)}],
    ['{"text":7}', 'a number', qr{^/text: expected string, got number$}],
    ['{"text":null}', 'null', qr{^/text: expected string, got null$}],
    ['{"text":"a"}', 'too short', qr{^/text: .*2.*got 1$}],
    ['{"text":"ab","n":0}', 'below', qr{^/n: .*1.*\b0\b}],
    ['{"text":"ab","n":1.5}', 'a fraction',
        qr{^/n: expected integer, got 1\.5$}],
    [
        '{"text":"ab","n":9007199254740993}',
        'one more than a double can tell',
        qr{^/n: .*9007199254740992.*9007199254740993}
    ],
    ['{"text":"ab","mode":"best"}', 'none of', qr{^/mode: .*fast.*slow.*best}s],
    ['{"text":"ab","tags":["a",1]}', 'an element',
        qr{^/tags/1: expected string, got number$}],
    ['{"text":"ab","tags":["a","a"]}', 'twice the same',
        qr{^/tags.*: .*\b[01]\b}],
    ['{"text":"ab","tags":["a","b","c","d"]}', 'one too many',
        qr{^/tags: .*3.*4}],
    ['{"text":"ab","at":{"x":1}}', 'a member of a member', qr{^/at/y: }],
    ['{"text":"ab","at":{"x":"1","y":2}}', 'through a $ref',
        qr{^/at/x: expected number, got string$}],
    ['{"text":"ab","a/b~c":0}', 'an odd name',
        qr{^/a~1b~0c: expected boolean, got number$}],
    ['{"text":"ab","txet":1}', 'a name that is not declared', qr{^/txet: }],
    ['{"text":"ab","text":"ab"}', 'a key twice', qr{^/text: .*twice}],
);

for my $case (@wrong) {
    my ($json, $name, $pattern) = @$case;
    my %said;
    for my $way (@ways) {
        for my $tool (qw(said filed run)) {
            my $answer = raw_call($way, $tool, $json);
            is Toolgate::Way::kind($answer), $kind{ $way->name },
                "$name: $tool refuses, " . $way->name;
            $said{ $answer->{text} }++;
        }
    }
    is scalar(keys %said), 1, "$name: always the same text";
    like((keys %said)[0], $pattern, "$name: place, rule and value")
        or diag join "\n", keys %said;
    unlike((keys %said)[0], qr/\n/, "$name: one line");
}
ok !-e $tg->dir . '/ran', 'no program was started for any of them';

for my $json ('{"text":"ab"}', '{"text":"ab","n":1.0,"tags":["a","b"]}',
    '{"n":9007199254740992,"text":"ab","at":{"x":1e3,"y":null}}')
{
    for my $way (@ways) {
        for my $tool (qw(said filed)) {
            is raw_call($way, $tool, $json)->{text}, 'got ab',
                "$tool takes $json, " . $way->name;
        }
    }
}
# Models write null for an absent value.
for my $case (
    ['{"n":null,"text":"ab","mode":null,"other":null}', { text => 'ab' }],
    [
        '{"text":"ab","at":{"x":1,"y":null},"tags":null}',
        { text => 'ab', at => { x => 1, y => undef } }
    ])
{
    my ($json, $expected) = @$case;
    for my $way (@ways) {
        is_deeply(
            Toolgate::Client->decode(raw_call($way, 'whole', $json)->{text}),
            $expected, "nulls are left out of $json, " . $way->name);
    }
    is_deeply raw_method($tg->connect, 'whole', $json)->{result}, $expected,
        "the same error from a method";
}

is $ways[0]->call('free', { anything => 1 })->{text}, 'free',
    'a tool without a schema takes anything';

# A schema of draft 7.
for my $case (['{"n":1,"l":[null]}', qr/^seven$/],
    ['{"n":"x","l":[]}', qr{^/n: expected integer}],
    ['{"l":[null,1]}', qr{^/l/1: no value is allowed}],
    ['{"n":1}', qr{^/l: missing; required when "n"}])
{
    my ($json, $pattern) = @$case;
    like raw_call($ways[0], 'seven', $json)->{text}, $pattern,
        "draft 7: $json";
}

# The schema is listed as written, without its white space.
my ($listed) = grep { $_->{name} eq 'filed' }
    @{ $ways[0]->client->rpc('tools/list')->{result}{tools} };
is_deeply $listed->{inputSchema}, Toolgate::Client->decode($schema),
    'the schema of a file is shown';

# Methods: -32602, and the same text.
my $c = $tg->connect;
for my $case (@wrong) {
    my ($json, $name, $pattern) = @$case;
    for my $method (qw(said run)) {
        my $error = raw_method($c, $method, $json)->{error};
        is $error->{code}, -32602, "$name: a method refuses";
        like $error->{message}, $pattern, "$name: and says why";
    }
}
is raw_method($c, 'said', '{"text":"ab"}')->{result}, 'ab', 'a method takes it';
is_deeply raw_method($c, 'pair', '[1,"a"]')->{result}, [ 1, 'a' ],
    'positional params';
for my $case (
    ['[1]',         qr{^(?:\(root\)|/1): }],
    ['["1","a"]',   qr{^/0: expected integer, got string$}],
    ['[1,"a",2]',   qr{^/2: }],
    ['{"text":"ab"}', qr{^\(root\): expected array, got object$}],
    )
{
    my $error = raw_method($c, 'pair', $case->[0])->{error};
    is $error->{code}, -32602, "$case->[0] does not fit";
    like $error->{message}, $case->[1], "$case->[0]: and why";
}
like $c->rpc('said')->{error}{message}, qr{^/text: }, 'params left out are {}';

# An invalid notification has no effect.
$c->send_line('{"jsonrpc":"2.0","method":"run","params":{"text":7}}');
is $c->rpc('said', { text => 'ab' })->{result}, 'ab', 'and is not answered';
ok !-e $tg->dir . '/ran', 'no program was started for a method';

# Values are shown, but cut.
my $long = $ways[0]->call('said', { text => 'ab', mode => 'x' x 100_000 });
like $long->{text}, qr{^/mode: .*xxx}, 'a long value';
cmp_ok length $long->{text}, '<', 1000, 'is cut';

done_testing;

# --- as bytes: what JSON::PP would write otherwise --------------------------

sub raw_call {
    my ($way, $tool, $json) = @_;
    my $client = $way->client;
    my $head = qq("name":"$tool","arguments":$json);
    my $meta = $client->encode($way->params({})->{_meta} // {});
    if ($way->name eq 'ipc') {
        $client->send_ipc(qq({"method":"call_tool","params":{$head}}));
        return $way->finish;
    }
    my $id = ++$client->{id};
    my $kind =
        $way->name eq 'relay' ? '"kind":"mcp_request"' : '"jsonrpc":"2.0"';
    $client->send_line(qq({$kind,"id":$id,"method":"tools/call",)
            . qq("params":{$head,"_meta":$meta}}));
    return $way->finish($id);
}

sub raw_method {
    my ($client, $method, $json) = @_;
    my $id = ++$client->{id};
    $client->send_line(
        qq({"jsonrpc":"2.0","id":$id,"method":"$method","params":$json}));
    return $client->reply($id);
}
