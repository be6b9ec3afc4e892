#!/usr/bin/perl
# JSON in a config: an error has its line, and fitting advice; a schema's file
# may refer to others of its folder, which clients get with it.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;

# --- mistakes in nginx.conf -------------------------------------------------

# Name, expected message, and the body of a tool; its line ends in "#!".
for my $case (
    [
        'a line within', qr/\(line 3, column 6\); correct it/,
        qq(input_schema '{\n "a":1,\n "b":,#!\n "c":2\n}')
    ],
    [
        'escapes before it', qr/\(line 4, column 2\); correct it/,
        qq(input_schema '{"a":"it\\'s",\n)
            . qq("b":"\\\\\\\\d \\\\n",\n"c":"x",\n !#!\n}')
    ],
    [
        'a semicolon on another line', qr/\(line 2, column 1\); correct it/,
        qq(annotations '{\n]#!\n}'\n\n)
    ],
    [
        'one backslash too few', qr/; double each backslash in it, as NGINX/,
        qq(input_schema '{"type":"object",\n"pattern":"\\d"}'#!\n)
    ],
    [
        'within a text', qr/\(line 2, column 18\); double each backslash/,
        qq(input_schema '{"type":"object",\n"pattern":"^[a-z]\\d"#!\n}')
    ],
    [
        'a line break in a text',
        qr/control .*\(line 2, column 18\); double each backslash/,
        qq(input_schema '{"type":"object",\n"description":"so\\nso"}'#!)
    ],
    [
        'a quote in a text', qr/\(line 1, column 14\); double each backslash/,
        qq(annotations '{"title":"a \\"b\\""}'#!)
    ],
    [
        'double quotes', qr/; put the JSON between single quotes, and double/,
        qq(input_schema "{\n'type':1}"#!\n)
    ],
    [
        'no quotes', qr/; put the JSON between single quotes, and double/,
        qq(input_schema [1#!)
    ],
) {
    my ($name, $pattern, $inside) = @$case;
    $inside =~ s/#!//;
    my $before = $`;
    my $text = $tg->conf_text("tool a {\n$inside;\nreturn x;\n}");
    my $line = grep {1} (split /^/, substr $text, 0, index($text, $before)
            + length $before);
    my ($status, $out) = $tg->test_conf("tool a {\n$inside;\nreturn x;\n}");
    isnt $status, 0, "$name: a mistake";
    my ($said) = $out =~ /\[emerg\] (.*not valid JSON.*)/;
    like $said, $pattern, 'with its place and advice';
    like $said, qr/ in \Q$dir\E\/test\.conf:$line$/, 'and its line';
}

# --- schemas of several files -----------------------------------------------

mkdir "$dir/schemas" or die "mkdir: $!\n";
$tg->file('schemas/order.json', <<'END');

 {
  "type": "object",
  "properties": {
    "to": { "$ref": "address.json" },
    "count": { "$ref": "address.json#/$defs/number" }
  },
  "$defs": { "own": { "$ref": "./address.json#/properties/city" } },
  "required": ["to"]
}
END
$tg->file('schemas/address.json', <<'END');

{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "city": { "type": "string", "default": "Bonn" },
    "near": { "type": "array", "items": { "$ref": "#" } }
  },
  "$defs": { "number": { "type": "integer" } }
}
END
my $tool = 'tool order { description d; input_schema_file schemas/order.json;'
    . ' return "${tool_arg_to.city}"; }';
$tg->conf($tool)->start;
my $client = $tg->connect;
my $json = JSON::PP->new->canonical;
my $schema = $client->rpc('tools/list')->{result}{tools}[0]{inputSchema};
is_deeply $schema->{properties}, {
    to    => { '$ref' => '#/$defs/address.json' },
    count => { '$ref' => '#/$defs/address.json/$defs/number' },
    },
    'clients see references that lead somewhere';
is_deeply $schema->{'$defs'}{'address.json'}{properties}{near}{items},
    { '$ref' => '#/$defs/address.json' }, 'in the other file, too';
is_deeply $schema->{'$defs'}{own},
    { '$ref' => '#/$defs/address.json/properties/city' }, 'beside own ones';

is text_of($client->call_tool(order => { to => { city => 'Ulm' } })), 'Ulm',
    'arguments that fit';
is text_of($client->call_tool(order => { to => {} })), 'Bonn',
    'a default of the other file';
like text_of($client->call_tool(order => { to => { city => 7 } })),
    qr{^/to/city: expected string}, 'and what does not';
like text_of($client->call_tool(order => { to => {}, count => 'x' })),
    qr{^/count: expected integer}, 'by a part of it';

# An error in the other file keeps the old config; a reload reads it again.
my $config = $tg->conf_text($tool);
for my $case (
    [
        '{"properties":{"city":}}',
        qr/\(line 1, column 23\); correct "\S+address/
    ],
    [ '{"type":"objekt"}', qr{\$defs/address\.json/type} ],
    [
        '{"$ref":"../x.json"}',
        qr/address\.json: "\.\.\/x\.json" leads to no/
    ],
    [
        '{"$ref":"none.json"}',
        qr/order\.json", or .*\/none\.json", which cannot be read \(2: No such/
    ],
) {
    my ($text, $pattern) = @$case;
    $tg->file('schemas/address.json', $text);
    conf_fails($tg, $tool, $pattern, $text);
}

$tg->stop;
done_testing;
