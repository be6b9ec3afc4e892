#!/usr/bin/perl
# `arg` lines: arguments of a call on a command line.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;

# Prints each of its arguments in brackets.
$tg->file('say', <<'END');
#!/bin/sh
for word; do printf '[%s]' "$word"; done
END
chmod 0755, "$dir/say" or die "chmod: $!\n";

$tg->conf(<<"CONF", stream => <<'STREAM')->start;
tool flags {
    exec $dir/say first;
    arg  -i if=\$tool_arg_on;
    arg  -v if=!\$tool_arg_on;
    arg  -C \$tool_arg_context if=\$tool_arg_context;
    arg  last;
}
tool lists {
    arg  -g \$tool_arg_globs each;
    arg  --;
    arg  \$tool_arg_paths each;
    exec $dir/say;
}
tool pairs {
    exec $dir/say;
    arg  --file=\$tool_arg_files "json \$tool_json_files" each if=\$tool_arg_on;
}
tool words {
    exec $dir/say;
    arg  each if=x end;
    arg  "\$tool_arg_a-\$tool_arg_b" if=\$both;
}
tool plain { exec $dir/say "\$tool_arg_x" b; }
tool whole {
    input_schema '{"type":"object","\$defs":{"n":{"type":"integer"}},
                   "properties":{
                     "a":{"type":["integer","null"]},
                     "b":{"type":["integer","null"]},
                     "c":{"\$ref":"#/\$defs/n"},
                     "d":{"anyOf":[{"type":"integer"},{"type":"null"}]},
                     "n":{"type":"number"},"any":{},
                     "list":{"type":"array","items":{"type":"integer"}},
                     "in":{"type":["object","null"],
                           "properties":{"e":{"type":"integer"}}},
                     "f":{"type":["integer","null"],"default":7.0}}}';
    exec $dir/say \$tool_arg_a b=\$tool_arg_b "\$tool_arg_c" \$tool_arg_d
         -n\$tool_arg_n -x\$tool_arg_any f\$tool_arg_f;
    arg  "\${tool_arg_in.e}" \$tool_json_a;
    arg  \$tool_arg_list json \$tool_json_list each;
    env  N \$tool_arg_a;
}
tool whole_env {
    input_schema '{"type":"object",
                   "properties":{"a":{"type":["integer","null"]}}}';
    exec printenv N;
    env  N "x\$tool_arg_a";
}
tool whole_input {
    input_schema '{"type":"object","properties":{"a":{"type":"integer"}}}';
    exec cat;
}
tool whole_return {
    input_schema '{"type":"object","properties":{"a":{"type":"integer"}}}';
    return \$tool_arg_a;
}
CONF
map "$tool_arg_a$tool_arg_b" $both {
    default 0;
    ~.y     1;
}
STREAM

my $client = $tg->connect;

sub says {
    my ($tool, $arguments, $expected, $name) = @_;
    is text_of($client->call_tool($tool => $arguments)), $expected, $name;
}

sub json { return JSON::PP->new->allow_nonref->decode($_[0]) }

# if=: present if true
says(flags => { on => json('true') }, '[first][-i][last]', 'true');
says(flags => { on => $_->[0] }, '[first][-v][last]', $_->[1]) for
    [ json('false'), 'false' ], [ json('null'), 'null' ], [ 0, '0' ],
    [ '', 'an empty string' ], [ [], 'an empty array' ],
    [ {}, 'an empty object' ];
says(flags => {}, '[first][-v][last]', 'absent');
says(flags => { on => $_->[0] }, '[first][-i][last]', $_->[1]) for
    [ 1, 'a number' ], [ 'false', 'a text, whatever it says' ],
    [ '0', 'a text of a zero' ], [ [0], 'an array' ],
    [ { a => 1 }, 'an object' ];
says(flags => { context => 3 }, '[first][-v][-C][3][last]',
    'an option with its value');
says(flags => { context => '-i; $(rm) x' },
    '[first][-v][-C][-i; $(rm) x][last]', 'one argument, whatever it has');

# each
says(lists => { globs => [ '*.c', '*.h' ], paths => [ 'a b', '-c' ] },
    '[-g][*.c][-g][*.h][--][a b][-c]', 'arrays, in the order of the lines');
says(lists => {}, '[--]', 'no arrays');
says(lists => { globs => [], paths => [] }, '[--]', 'empty ones');
says(lists => { globs => 'x', paths => [ 1, json('null'), { a => [] }, '' ] },
    '[-g][x][--][1][null][{"a":[]}][]',
    'what is no array is one element; what is no text is JSON');
says(pairs => { on => 1, files => [ 'x"y', "a\tb" ] },
    qq{[--file=x"y][json "x\\"y"][--file=a\tb][json "a\\tb"]},
    'each with other words, and with a condition');
says(pairs => { files => ['x'] }, '', 'whose condition is not met');

# words that only look like keywords, and conditions that are values
says(words => {}, '[each][if=x][end]',
    'each and if= are words in front of others');
says(words => { a => 'x', b => 'y' }, '[each][if=x][end][x-y]', 'if= of a map');
says(words => { a => 0, b => 0 }, '[each][if=x][end]', 'which is 0');

says(plain => {}, '[][b]', 'an exec without arg stays as it is');

# Many elements are many arguments.
my @many = map {"f$_"} 1 .. 500;
says(lists => { paths => \@many }, '[--]' . join('', map {"[$_]"} @many),
    'five hundred of them');

# A value whose schema is integer has no point or exponent for a program. The
# client sends it as written here.
sub asks {
    my ($tool, $arguments) = @_;
    $client->send_line('{"jsonrpc":"2.0","id":"n","method":"tools/call",'
            . qq("params":{"name":"$tool","arguments":$arguments}}));
    return text_of($client->recv_json);
}
is asks(whole => '{"a":3.0,"b":1e1,"c":3e0,"d":-0.0,"n":3.0,"any":3.0,'
        . '"in":{"e":12.00e1},"list":[1.0,2e1]}'),
    '[3][b=10][3][0][-n3.0][-x3.0][f7][120][3.0][1][json][1.0][20][json][2e1]',
    'integers are written as such, other numbers and JSON as they came';
is asks(whole => '{"a":1e400,"c":-1E2,"in":{"e":0e5}}'),
    '[1e400][b=][-100][][-n][-x][f7][0][1e400]',
    'one that is too long stays as it is';
is asks(whole => '{"a":null,"b":null,"c":4,"f":null,"in":null}'),
    '[][b=][4][][-n][-x][f7][][null]',
    'null is as absent, and the default counts; as JSON it is null';
says(lists => { globs => json('null'), paths => json('null') }, '[--]',
    'arrays that are null');
is asks(whole_env => '{"a":null}'), "x\n", 'in the environment';
is asks(whole_env => '{"a":7e0}'), "x7\n", 'in the environment';
is asks(whole_input => '{"a":7e0}'), '{"a":7e0}', 'the input is as it came';
is asks(whole_return => '{"a":7.0}'), '7', 'return';
is asks(flags => qq({"on":$_})), '[first][-v][last]', "if= of $_"
    for qw(0.0 -0 0e1 -0.0e-3);

# The internal variables of `each` cannot be used elsewhere.
for my $name (qw(tool_element tool_element_json tool_dollar)) {
    my ($rc, $text) = $tg->test_conf("tool a { description d; exec true; "
            . "arg x-\${$name}; }");
    isnt $rc, 0, "$name is refused";
    like $text, qr/"\$$name" is reserved/, 'and why';
}

done_testing;
