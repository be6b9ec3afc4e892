#!/usr/bin/perl
# No schema and no argument can hang a worker: an exponential regular
# expression, a recursive schema, large and odd arguments. Others, in the same
# worker, are served meanwhile.

use Toolgate::Test qw(Attacks Way), plain_too => 'it measures memory';

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);
my $ok = 'return ok;';

# A recursive list of trees.
$tg->file('tree.json', <<'END');
{
  "type": "object",
  "properties": { "tree": { "$ref": "#/$defs/tree" } },
  "$defs": {
    "tree": {
      "type": "object",
      "properties": {
        "value": { "type": "number" },
        "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } }
      },
      "required": ["value"],
      "unevaluatedProperties": false
    }
  }
}
END
# Each level has two branches, each with two more.
$tg->file('fork.json', <<'END');
{
  "type": "object",
  "properties": { "x": { "$ref": "#/$defs/fork" } },
  "$defs": {
    "fork": {
      "oneOf": [
        { "type": "array", "items": { "$ref": "#/$defs/fork" } },
        { "type": "array", "items": { "$ref": "#/$defs/fork" },
          "minItems": 3 },
        { "const": 1 }
      ]
    }
  }
}
END
# Similar, but without descending into the value: exponential.
my %double = (l40 => { type => 'object' });
$double{"l$_"} = {
    allOf => [ map { { '$ref' => '#/$defs/l' . ($_ + 1) } } ($_) x 2 ]
} for 0 .. 39;
$tg->file('double.json', Toolgate::Client->encode(
    { type => 'object', '$ref' => '#/$defs/l0', '$defs' => \%double }));

my @patterns = ('^(a+)+$', '^(a|aa)+$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]$',
    '^(?=(a+)+b)', '([^"]*"?)*;');
my $n = 0;
my $body = join '', map {
    my $quoted = Toolgate::Client->encode($_) =~ s/\\/\\\\/gr;
    'tool p' . $n++ . " { input_schema '{\"type\":\"object\",\"properties\":"
        . "{\"a\":{\"pattern\":$quoted}}}'; $ok }\n";
} @patterns;
my $named = join ',', map {qq("v$_":{"type":"string"})} 1 .. 40;
$body .= <<"END";
tool tree   { input_schema_file tree.json; $ok }
tool fork   { input_schema_file fork.json; $ok }
tool double { input_schema_file double.json; $ok }
tool unique { input_schema '{"type":"object","properties":
                  {"a":{"uniqueItems":true}}}'; $ok }
tool closed { input_schema '{"type":"object","properties":{"a":{}},
                  "additionalProperties":{"type":"integer"}}'; $ok }
method fork { input_schema_file fork.json; output text; $ok }
tool many {
    input_schema '{"type":"object","properties":{$named}}';
    return "@{[ join ' ', map {"\$tool_arg_v$_"} 1 .. 40 ]}";
}
tool deep {
    input_schema '{"type":"object","properties":
        {"o":{"type":"object","properties":{$named}}}}';
    exec echo;
    @{[ join "\n", map {"arg -$_ if=\${tool_arg_o.v$_};"} 1 .. 40 ]}
}
tool hashed {
    input_schema '{"type":"object","properties":{$named}}';
    pass back name=closed;
}
tool list {
    input_schema '{"type":"object","properties":{"l":{"type":"array"}}}';
    exec printf %s;
    arg  --include=\$tool_arg_l each;
}
END
$tg->conf($body, stream => <<"END")->start;
upstream back {
    hash "@{[ join ' ', map {"\$tool_arg_v$_"} 1 .. 40 ]}";
    server unix:%%SOCKET%%;
}
END
my ($worker) = $tg->worker_pids;
my $other = $tg->connect;

# A loaded machine adds more time than what is measured; without a bound it
# would take for ever.
my $patience = 60;

sub is_bounded {
    my ($way, $tool, $arguments, $name) = @_;
    my $start = time;
    my $id = $way->start($tool, $arguments);
    $other->rpc('ping');
    my $waited = time - $start;
    my $answer = $way->finish($id);
    cmp_ok $waited, '<', $patience, "$name: another client is served";
    return $answer;
}

# Regular expressions.
for my $i (0 .. $#patterns) {
    for my $way (Toolgate::Way->all($tg)) {
        my $name = "$patterns[$i], " . $way->name;
        my $answer = is_bounded($way, "p$i",
            { a => ($patterns[$i] =~ /x/ ? 'x' : 'a') x 5000 . '!' }, $name);
        ok $answer->{is_error}, "$name: refused";
        like $answer->{text}, qr{too |steps|/a: }, "$name: and why"
            or diag $answer->{text};
    }
}

# Valid values are still valid.
my $way = Toolgate::Way->new(legacy => $tg->connect);
is $way->call('p0', { a => 'a' x 20 })->{text}, 'ok', 'a text that fits';

# A recursive schema, and a value of JSON's maximum depth.
my $tree = { value => 0 };
$tree = { value => 1, children => [$tree] } for 1 .. 55;
is $way->call('tree', { tree => $tree })->{text}, 'ok', 'a deep tree fits';
my $leaf = $tree;
$leaf = $leaf->{children}[0] while $leaf->{children};
$leaf->{value} = 'x';
my $answer = $way->call('tree', { tree => $tree });
like $answer->{text}, qr{^/tree(?:/children/0)+.*: expected number, got},
    'and the mistake in its last leaf is found';
$leaf->{value} = 1;
$leaf->{more} = 1;
ok $way->call('tree', { tree => $tree })->{is_error},
    'also one that takes the whole way to see';

# Two branches at each level of 100.
my $deep = 1;
$deep = [ $deep, $deep ] for 1 .. 3;
is $way->call('fork', { x => $deep })->{text}, 'ok', 'few levels fit';
$deep = 1;
$deep = [$deep] for 1 .. 100;
for my $dialect (Toolgate::Way->all($tg)) {
    $answer = is_bounded($dialect, 'fork', { x => $deep },
        'two ways, 100 levels, ' . $dialect->name);
    ok $answer->{is_error}, 'is refused, ' . $dialect->name;
    like $answer->{text}, qr/steps|too much|too long|smaller/,
        'and why, ' . $dialect->name;
}
is $tg->connect->rpc('fork', { x => $deep })->{error}{code}, -32602,
    'of a method, too';
$answer = is_bounded($way, 'double', {}, 'two to the 40th');
ok $answer->{is_error}, 'two to the 40th: refused';

# Calls of a batch share the steps of one frame: the first ones get the
# validation error, the last one the limit; each alone is fine.
my $text = 'a' x 12 . '!';
my $client = $tg->connect;
my @batch = map {
    {
        jsonrpc => '2.0', id => $_, method => 'tools/call',
        params => { name => 'p0', arguments => { a => $text } }
    }
} 1 .. 100;
$client->send_line($client->encode(\@batch));
my %said =
    map { $_->{id} => text_of($_) } @{ $client->recv_json };
is scalar(keys %said), 100, 'a batch: each is answered';
like $said{1}, qr{^/a: must match}, 'the first: why it does not fit';
like $said{100}, qr/takes too many steps/, 'the last: too much for a frame';
like $way->call('p0', { a => $text })->{text}, qr{^/a: must match},
    'by itself it is not';

# Large arguments: valid, and invalid at their end.
my @list = map {"item $_"} 1 .. 20_000;
is is_bounded($way, 'unique', { a => \@list }, '20,000 items')->{text}, 'ok',
    'all different';
like $way->call('unique', { a => [ @list, 'item 7' ] })->{text}, qr{^/a},
    'one twice';
my %wide = map { ("key$_" => $_) } 1 .. 20_000;
is is_bounded($way, 'closed', \%wide, '20,000 keys')->{text}, 'ok', 'all fit';
is is_bounded($way, 'closed', { %wide, zzz => 'x' }, 'one more')->{text},
    '/zzz: expected integer, got string', 'one does not';

# Each variable is searched among all members, if these are many.
my %few = map { ("v$_" => "w$_") } 1 .. 40;
my %more = (%few, map { ("k$_" => 1) } 1 .. 1000);
is $way->call('many', \%more)->{text}, join(' ', map {"w$_"} 1 .. 40),
    '40 arguments among 1,040';
is $way->call('deep', { o => \%more })->{text},
    join(' ', map {"-$_"} 1 .. 40) . "\n", '40 conditions, too';
is $way->call('hashed', { v1 => 'a' })->{text},
    '/v1: expected integer, got string', 'an upstream that they choose answers';
my $members = join ',', map {qq("$_":1)} 1 .. 400_000;
for my $case ([ many => '%s' ], [ deep => '{"o":%s}' ], [ hashed => '%s' ]) {
    my ($tool, $form) = @$case;
    $client->send_raw(Toolgate::Attacks::call_of(
        'jsonrpc', 500, $tool, sprintf $form, "{$members}"));
    like $client->recv_line,
        qr/finding the arguments takes too many steps/,
        "$tool: among 400,000 it is refused";
}

# A list gives at most as many words as a program may have.
$client->send_raw(Toolgate::Attacks::call_of('jsonrpc', 501, 'list',
    '{"l":[' . '1,' x 4_900_000 . '1]}'));
like $client->recv_line, qr/more than 4096 arguments/,
    'too many for a program, and no more were made';
is $way->call('list', { l => [ (1) x 4090 ] })->{text}, '--include=1' x 4090,
    'as many as may be';

# Afterwards the worker is the same, and not much larger.
is_deeply [ $tg->worker_pids ], [$worker], 'no worker was lost';
is $way->call('p0', { a => 'aa' })->{text}, 'ok', 'and it serves';
memory_below rss_kb($worker), 200_000, 'with little memory';

done_testing;
