#!/usr/bin/perl
# toolgate validate: its messages about schemas and instances, and its exit
# statuses.

use POSIX ();
use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir . '/w';
mkdir $dir or die $!;
mkdir "$dir/sub" or die $!;

sub put {
    my ($name, $text) = @_;
    open my $fh, '>:raw', "$dir/$name" or die "$name: $!";
    print $fh $text;
    close $fh or die "$name: $!";
    return $name;
}

sub validate {
    my $option = ref $_[0] ? shift : {};
    return run_command(
        {
            cwd     => $dir,
            env     => { %{ $tg->san_env }, TOOLGATE_SOCKET => undef },
            timeout => 20,
            %$option,
        },
        Toolgate::Test::build_dir() . '/toolgate',
        'validate',
        @_);
}

# Compares status and stderr; stdout is always empty.
sub gives {
    my ($name, $args, $want, @lines) = @_;
    my ($status, $out, $err) = validate(@$args);
    my $number = () = $err =~ /\n/g;
    is $status, $want, "$name: status";
    is $out, '', "$name: nothing on stdout";
    is $number, scalar @lines, "$name: a line for each thing" or diag $err;
    my @got = split /\n/, $err;
    for my $line (@lines) {
        my $text = shift @got // '';
        if (ref $line) {
            like $text, $line, "$name: what is said";
        } else {
            is $text, "toolgate: $line", "$name: what is said";
        }
    }
}

my $schema = put('s.json', <<'END');
{
    "type": "object",
    "properties": {
        "text": {"type": "string", "pattern": "^\\d+$"},
        "at": {"format": "date-time"}
    },
    "required": ["text"]
}
END
put('good.json', qq( {"text":"1"}\n));
put('bad.json', '{"text":1}');
put('pattern.json', q({"text":"1\\n"}));
put('syntax.json', qq({"text":\n  "\xc3\xa9",]}));
put('bytes.json', qq({"text":"\xff"}));
put('empty.json', '');
put('two.json', '{} {}');
put('date.json', '{"text":"1","at":"now"}');

# Each status once.
gives 'a schema alone', [$schema], 0;
gives 'all valid', [ $schema, 'good.json', 'good.json' ], 0;
gives 'a type', [ $schema, 'bad.json' ], 1,
    'bad.json: /text: expected string, got number';
gives 'no newline before $', [ $schema, 'pattern.json' ], 1,
    'pattern.json: /text: must match the pattern "^\\\\d+$", got "1\\n"';
gives 'no JSON', [ $schema, 'syntax.json' ], 2,
    'syntax.json is not valid JSON: a key is missing (line 2, column 7)';
gives 'no UTF-8', [ $schema, 'bytes.json' ], 2, qr/is not valid UTF-8/;
gives 'nothing', [ $schema, 'empty.json' ], 2, qr/^toolgate: empty\.json is no/;
gives 'two texts', [ $schema, 'two.json' ], 2,
    qr/there is text after the value/;
gives 'no such file', [ $schema, 'none.json' ], 2,
    'cannot read none.json: No such file or directory';
gives 'a folder', [ $schema, 'sub' ], 2, 'cannot read sub: Is a directory';

# A format is a warning, unless it is to be checked.
gives 'a format', [ $schema, 'date.json' ], 0;
gives 'a format that counts', [ '--formats', $schema, 'date.json' ], 1,
    'date.json: /at: must have the format date-time, got "now"';

# All instances are checked, and the worst decides.
gives 'several', [ $schema, qw(bad.json good.json none.json bad.json) ], 2,
    qr/^toolgate: bad\.json: /, qr/none\.json/, qr/^toolgate: bad\.json: /;
gives 'no schema and no instance', [ 'none.json', 'bad.json' ], 3,
    qr/cannot read none\.json/;

# Older drafts, by "$schema".
put('four.json', '{"$schema":"http://json-schema.org/draft-04/schema#",'
        . '"id":"http://a.example/four.json","properties":{'
        . '"n":{"$ref":"#/definitions/n"},"m":{"$ref":"five.json"}},'
        . '"definitions":{"n":{"minimum":0,"exclusiveMinimum":true}}}');
put('five.json', '{"$schema":"http://json-schema.org/draft-04/schema#",'
        . '"id":"http://a.example/five.json","dependencies":{"a":["b"]}}');
gives 'draft 4', [ qw(--schema five.json four.json), put('n.json', '{"n":1}') ],
    0;
gives 'a bound of draft 4',
    [ qw(--schema five.json four.json), put('n.json', '{"n":0}') ], 1,
    'n.json: /n: must be greater than 0, got 0';
gives 'another schema of draft 4',
    [ qw(--schema five.json four.json), put('n.json', '{"m":{"a":1}}') ], 1,
    'n.json: /m/b: missing; required when "a" is given';

# Invalid schemas.
gives 'no schema', [], 3, qr/validate needs a schema/;
for my $case (
    [ '{"type":"strin"}', qr{^toolgate: x\.json: /type: must be one of} ],
    [ '{"properties":{"a":{"minimum":"1"}}}', qr{ /properties/a/minimum: } ],
    [ '{"pattern":"(a"}', qr{ /pattern: .*a group is not closed} ],
    [ '{"$ref":"#/$defs/a"}', qr{ /\$ref: .* leads to nothing} ],
    [ '{"$ref":"#"}', qr{refers to itself} ],
    [ '{"a":1,"a":2}', qr{ /a: this key is given twice} ],
    [ '{"$schema":"http://json-schema.org/draft-03/schema#"}',
        qr{ /\$schema: unknown dialect: write } ],
    [ '1', qr{\(root\): a schema must be an object, true or false, got 1$} ],
    [ '{"type":}',
        qr{^toolgate: x\.json is not valid JSON: .*line 1, column 9} ],
    )
{
    gives $case->[0], [ put('x.json', $case->[0]), 'good.json' ], 3, $case->[1];
}
gives 'true', [ put('x.json', 'true'), 'bad.json' ], 0;
gives 'false', [ put('x.json', 'false'), 'good.json', 'bad.json' ], 1,
    qr/^toolgate: good\.json: \(root\): /, qr/^toolgate: bad\.json: \(root\): /;

# Standard input, once.
gives 'an instance from stdin',
    [ { stdin => '{"text":"2"}' }, $schema, '-', 'good.json' ], 0;
gives 'a bad one', [ { stdin => '{}' }, $schema, '-' ], 1,
    'standard input: /text: missing; this property is required';
gives 'a schema from stdin', [ { stdin => 'true' }, '-', 'good.json' ], 0;
gives 'stdin twice', [ { stdin => 'true' }, '-', '-' ], 2,
    qr/can be read only once/;
gives 'a file that is called -', [ $schema, './-' ], 2, qr{cannot read \./-};

# References to files, relative to the schema, also through another one.
put('main.json', '{"$ref":"sub/a%20b.json#/$defs/n"}');
put('sub/a b.json', '{"$defs":{"n":{"allOf":[{"$ref":"../max.json"},'
        . '{"$ref":"a%20b.json#/$defs/t"}]},"t":{"type":"integer"}}}');
put('max.json', '{"maximum":5}');
put('5.json', '5');
put('6.json', '6');
gives 'files', [ 'main.json', '5.json' ], 0;
gives 'files that say no', [ 'main.json', '6.json' ], 1,
    '6.json: (root): must be at most 5, got 6';
gives 'from another folder',
    [ { cwd => "$dir/sub" }, '../main.json', '../6.json' ], 1, qr/at most 5/;
put('max.json', '{"maximum":"5"}');
gives 'a mistake in another file', [ 'main.json', '5.json' ], 3,
    qr{^toolgate: main\.json: file://\S*/w/max\.json#/maximum: };
unlink "$dir/max.json" or die $!;
gives 'another file that is not there', [ 'main.json', '5.json' ], 3,
    qr{/w/max\.json" cannot be loaded \(\S*/w/max\.json: No such file};
put('max.json', '{');
gives 'another file that is no JSON', [ 'main.json', '5.json' ], 3,
    qr{/w/max\.json" is not valid JSON: };
gives 'a schema from nowhere',
    [ { stdin => '{"$ref":"max.json"}' }, '-', '5.json' ], 3,
    qr/cannot be loaded \(this schema is not in a folder.* as a file\)$/;

# References to endless files or the network are rejected.
POSIX::mkfifo("$dir/fifo", 0600) or die $!;
for my $case (
    [ 'fifo',                   qr{fifo: not a regular file} ],
    [ 'sub',                    qr{sub: not a regular file} ],
    [ 'file:///dev/zero',       qr{/dev/zero: not a regular file} ],
    [ 'file://example.com/a',   qr{no file of that name here} ],
    [ 'x.json?a',               qr{no file of that name here} ],
    [ 'x.json%00',              qr{a file name cannot contain %00} ],
    [ 'http://127.0.0.1/a',     qr{is not known, and nothing is fetched} ],
    )
{
    put('x.json', qq({"\$ref":"$case->[0]"}));
    gives "a reference to $case->[0]", ['x.json'], 3, $case->[1];
}
put('large.json', ' ' x (16 * 1024 * 1024) . '{}');
put('x.json', '{"$ref":"large.json"}');
gives 'a reference to a large file', ['x.json'], 3, qr/too large for a schema/;

# Further schemas, which are known by their $id only.
put('order.json', '{"$id":"https://example.com/s/order.json","properties":{'
        . '"to":{"$ref":"address.json"},"n":{"$ref":"tag:us,2026:n#/$defs/n"},'
        . '"at":{"$ref":"address.json#street"}}}');
put('sub/any.json', '{"$id":"https://example.com/s/address.json",'
        . '"properties":{"no":{"$ref":"tag:us,2026:n#/$defs/n"}},'
        . '"required":["no"],"$defs":{"s":{"$anchor":"street",'
        . '"type":"string"}}}');
put('n.json', '{"$id":"tag:us,2026:n","$defs":{"n":{"type":"integer"}}}');
put('fits.json', '{"to":{"no":1},"n":2,"at":"x"}');
put('other.json', '{"to":{"no":"x"}}');
my @further = map { ('--schema', $_) } qw(sub/any.json n.json);
gives 'further schemas', [ @further, 'order.json', 'fits.json' ], 0;
gives 'that say no', [ 'order.json', @further, 'other.json' ], 1,
    'other.json: /to/no: expected integer, got string';
gives 'one that is missing', [ @further[ 0, 1 ], 'order.json' ], 3,
    qr{"tag:us,2026:n" is not known, and nothing is fetched};
gives 'one from stdin',
    [ { stdin => slurp("$dir/n.json") }, @further[ 0, 1 ], '--schema=-',
        'order.json', 'fits.json' ], 0;
gives 'stdin twice', [ { stdin => '{}' }, '--schema=-', 'order.json', '-' ], 2,
    qr/can be read only once/;
put('max.json', '{"$id":"least.json","maximum":9}');
put('x.json', '{"$ref":"least.json"}');
gives 'a relative $id', [ '--schema', 'max.json', 'x.json', '6.json' ], 0;
gives 'which is not the name of a file', [ 'x.json', '6.json' ], 3,
    qr/No such file/;
gives 'one without', [ '--schema', '5.json', 'x.json' ], 3,
    qr/^toolgate: 5\.json needs an "\$id" .*a \$ref to a file needs no/;
gives 'one relative to nothing',
    [ { stdin => '{"$id":"a"}' }, '--schema=-', 'x.json' ], 3,
    qr/^toolgate: standard input needs an "\$id"/;
put('again.json', '{"$id":"tag:us,2026:n"}');
gives 'two of one $id', [ @further, '--schema=again.json', 'x.json' ], 3,
    'again.json has the same "$id" as another schema: tag:us,2026:n';
gives 'that of the schema itself', [ @further, 'again.json' ], 3,
    qr/again\.json has the same "\$id"/;
put('bad-n.json', '{"$id":"tag:us,2026:n","$defs":{"n":{"type":"int"}}}');
gives 'a mistake in one', [ @further[ 0, 1 ], '--schema=bad-n.json',
    'order.json' ], 3, qr{: tag:us,2026:n#/\$defs/n/type: };
gives 'no JSON', [ '--schema=syntax.json', 'x.json' ], 3,
    qr/syntax\.json is not valid JSON/;
gives 'too many', [ (map {"--schema=$_"} 1 .. 65), 'x.json' ], 2,
    qr/--schema is given more than 64 times/;

# A pattern that takes very long in other programs.
put('x.json', '{"items":{"pattern":"^(a|a)*$"}}');
put('long.json', '["' . 'a' x 60 . '!"]');
gives 'a pattern that explodes', [ 'x.json', 'long.json' ], 1,
    'long.json: a pattern takes too many steps on this text; shorten the text';

# Options.
gives 'an option of others', [ '--json', $schema ], 2, qr/does not take --json/;
my ($status, $out) = validate('--help');
is $status, 0, 'help: status';
like $out, qr/^usage: toolgate validate \[--formats\] \[--schema FILE/,
    'help: usage';
like $out, qr/3 there is no valid schema/, 'help: the statuses';

done_testing;
