#!/usr/bin/perl
# A mistake in a schema: nginx -t finds it, with its line in the config, its
# place in the schema, and the correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dialect = 'https://json-schema.org/draft/2020-12/schema';

# Members of a schema object, and the expected error.
my @mistakes = (
    ['"properties":{"a":{"type":"strin"}}',
        '/properties/a/type: must be one of string, number,'],
    ['"properties":{"a":{"type":["string","string"]}}',
        '/properties/a/type/1: must be given only once'],
    ['"properties":{"a":7}',
        '/properties/a: a schema must be an object, true or false, got 7'],
    ['"properties":[]', '/properties: must be an object, got []'],
    ['"properties":{"a":{"minimum":"1"}}',
        '/properties/a/minimum: must be a number, got "1"'],
    ['"properties":{"a":{"minLength":-1}}',
        '/properties/a/minLength: must be a whole number, 0 or more'],
    ['"properties":{"a":{"multipleOf":0}}',
        '/properties/a/multipleOf: must be above 0, got 0'],
    ['"properties":{"a":{"enum":"x"}}',
        '/properties/a/enum: must be a list of values'],
    ['"properties":{"a":{"items":[{}]}}',
        '/properties/a/items: must be one schema for all items; write a '
            . 'list of schemas as "prefixItems"'],
    ['"properties":{"a":{"format":7}}',
        '/properties/a/format: must be a string'],
    ['"properties":{"a":{"pattern":"("}}',
        '/properties/a/pattern: a group is not closed with )'],
    ['"properties":{"a":{"pattern":"[z-a]"}}', '/properties/a/pattern: '],
    ['"properties":{"a":{"pattern":"a**"}}', '/properties/a/pattern: '],
    ['"patternProperties":{"[":{}}',
        '/patternProperties/[: a class is not closed with ]'],
    ['"required":"a"', '/required: must be a list of property names'],
    ['"required":["a","a"]', '/required/1: must be given only once'],
    ['"allOf":[]', '/allOf: must '],
    ['"additionalProperties":1', '/additionalProperties: a schema must be'],
    ['"maxProperties":1.5', '/maxProperties: must be a whole number'],
    ['"type":"object"', '/type: this key is given twice'],

    # references
    ['"properties":{"a":{"$ref":"#/$defs/no"}}',
        '/properties/a/$ref: "#/$defs/no" leads to nothing'],
    ['"properties":{"a":{"$ref":"https://example.com/x.json"}}',
        '/properties/a/$ref: the document "https://example.com/x.json" is '
            . 'not known, and nothing is fetched'],
    ['"properties":{"a":{"$ref":"other.json"}}',
        '/properties/a/$ref: '],
    ['"$dynamicRef":"#nope"', '/$dynamicRef: "#nope": no schema has this'],
    ['"properties":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}',
        '/properties/b/$anchor: two schemas have this anchor'],

    # endless recursion
    ['"$ref":"#"',
        '(root): this schema refers to itself without descending into the '
            . 'value'],
    ['"allOf":[{"$ref":"#"}]', '(root): this schema refers to itself'],
    ['"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},'
            . '"b":{"not":{"$ref":"#/$defs/a"}}}',
        '/$defs/a: this schema refers to itself'],

    # dialects
    ['"$schema":"' . $dialect . '","properties":{"a":{"$schema":"urn:x",'
            . '"$id":"urn:y"}}', '/properties/a/$schema: unknown dialect'],
);

# NGINX removes one level of backslashes and ends a text at its quote.
sub quoted {
    my ($text) = @_;
    $text =~ s/([\\'])/\\$1/g;
    return "'$text'";
}

sub is_found {
    my ($name, $said, $line, $body) = @_;
    my ($status, $out) = $tg->test_conf($body);
    isnt $status, 0, "$name is found";
    my $file = $tg->dir . '/test.conf';
    my ($told) = grep {/\[emerg\]/} split /\n/, $out;
    cmp_ok index($told // '', $said), '>', 0, "$name: $said" or diag $out;
    like $told, qr/ in \Q$file\E:\Q$line\E$/, "$name: the line";
    is scalar(() = $out =~ /\[emerg\]/g), 1, "$name: said once";
}

# Returns the line of the "#!" in the body.
sub line_of {
    my ($body) = @_;
    my ($head) = $tg->conf_text($body) =~ /\A(.*?)#!/s;
    return 1 + ($head =~ tr/\n//);
}

for my $mistake (@mistakes) {
    my ($members, $said) = @$mistake;
    my $schema = qq({"type":"object",$members});
    my $text = quoted($schema);
    my $body = "tool a {\n input_schema $text; #!\n return hi;\n}";
    is_found($members, qq(invalid "input_schema": $said), line_of($body),
        $body);
}

# The other places for a schema; a method's may be of any type.
my ($bad, $said) = ('{"type":"object","required":1}', '/required: must be a');
$tg->file('bad.json', $bad);
$tg->file('ref.json', '{"type":"object","$ref":"no.json"}');
for my $case (
    ['input_schema_file', 'bad.json'],
    ['output_schema',     "'$bad'"],
    ['output_schema_file', $tg->dir . '/bad.json'],
    )
{
    my ($directive, $value) = @$case;
    for my $kind (qw(tool method)) {
        my $body = "$kind a {\n output json;\n $directive $value; #!\n"
            . " return '{}';\n}";
        is_found("$directive of a $kind", qq(invalid "$directive": $said),
            line_of($body), $body);
    }
}
my $body = "method a {\n input_schema '7'; #!\n return 1;\n}";
is_found('a number as a schema', 'invalid "input_schema": (root): a schema',
    line_of($body), $body);
$body = "tool a {\n input_schema_file ref.json; #!\n return hi;\n}";
is_found('a neighbour of a schema file that is not there',
    '/no.json", which cannot be read (2: No such file', line_of($body), $body);
is_found('and whose it is', 'ref.json", or in a file that it refers to, leads '
    . 'to',
    line_of($body), $body);

# Formats must be known, whether they are asserted or not.
$body = "tool a {\n validate formats;\n input_schema "
    . "'{\"type\":\"object\",\"required\":1}'; #!\n return hi;\n}";
is_found('a mistake where formats are asserted',
    'invalid "input_schema": /required: ', line_of($body), $body);

# Text has no structure for a schema.
$body = "tool a {\n output_schema '{\"type\":\"object\"}';\n return hi;\n} #!";
is_found('an output schema of a text', 'add "output json" or "output result"',
    line_of($body), $body);

# Checked even if unused: off is for calls, not for mistakes.
$body = "tool a {\n validate off;\n input_schema '$bad'; #!\n return hi;\n}";
is_found('a mistake with validate off', $said, line_of($body), $body);
$body = "tool a {\n validate maybe; #!\n return hi;\n}";
is_found('an unknown validate',
    'invalid value "maybe" in "validate"; write one of on, off, formats',
    line_of($body), $body);
$body = "tool_validate maybe; #!\ntool a { return hi; }";
is_found('an unknown tool_validate',
    'invalid value "maybe" in "tool_validate"; write one of on, off, formats',
    line_of($body), $body);

# Larger than any usual schema.
$tg->file('big.json', '{"type":"object","title":"' . 'x' x 1048576 . '"}');
$body = "tool a {\n input_schema_file big.json; #!\n return hi;\n}";
is_found('a large file', 'is not a regular file of at most 1 MiB',
    line_of($body), $body);
$tg->file('many.json', '{"type":"object","allOf":['
        . join(',', ('{}') x 20001) . ']}');
$body = "tool a {\n input_schema_file many.json; #!\n return hi;\n}";
is_found('more schemas than anybody writes', 'invalid "input_schema_file": ',
    line_of($body), $body);
$tg->file('deep.json', '{"type":"object","x":' . '[' x 200 . ']' x 200 . '}');
$body = "tool a {\n input_schema_file deep.json; #!\n return hi;\n}";
is_found('a deep file', '"input_schema_file" is not valid JSON: ',
    line_of($body), $body);

# None of it affected a running server.
$tg->conf('tool a { return old; }')->start;
my $log = $tg->reload_fails("tool a { input_schema '$bad'; return new; }");
like $log, qr{invalid "input_schema": /required: }, 'a reload is refused';
is $tg->connect->call_tool('a')->{result}{content}[0]{text}, 'old',
    'and the old config continues';

done_testing;
