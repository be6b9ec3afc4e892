#!/usr/bin/perl
# Allowed but probably unintended configs: nginx -t warns, with the line and the
# correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $head = 'description d;';

# Returns a closed object with these properties.
sub schema {
    my ($properties, $more) = @_;
    $more //= '';
    return 'input_schema \'{"type":"object","properties":{'
        . "$properties}$more}';";
}
my $closed = ',"additionalProperties":false';
my $all = ',"required":["x"]';

sub exec_of {
    my ($words, $schema) = @_;
    return "tool a {\n $head\n exec true $words; #!\n $schema\n}";
}

# Name, expected warning (undef: none), and the body of a server. The line of
# the warning ends in "#!".
my @advice = (
    # arguments in values
    [
        'an argument that is not declared',
        qr/declares no argument "z", so "\$tool_arg_z" may be .* declare/,
        exec_of('a$tool_arg_z', schema('"x":{}'))
    ],
    [
        'a member of one that is not declared', qr/declares no argument "z"/,
        exec_of('${tool_arg_z.y}x', schema('"x":{}'))
    ],
    [
        'one in a condition', qr/declares no argument "z"/,
        "tool a {\n $head\n exec true;\n arg x if=a\$tool_has_z; #!\n"
            . schema('"x":{}') . '}'
    ],
    [
        'an argument that a closed schema does not declare',
        qr/allows no argument "z", so "\$tool_json_z" is always empty/,
        "tool a {\n $head\n return \$tool_json_z; #!\n"
            . schema('"x":{}', $closed) . '}', 'emerg'
    ],
    [
        'one of an open schema', undef,
        exec_of('a$tool_arg_z',
            schema('"x":{}', ',"additionalProperties":true'))
    ],
    [
        'one in another case', undef,
        exec_of('a$tool_arg_user_name', schema('"user-Name":{}', $closed))
    ],
    [ 'one without a schema', undef, exec_of('$tool_arg_x', '') ],

    # bare words
    [
        'an optional word',
        qr/"\$tool_arg_x" is optional, .* "arg \$tool_arg_x if=\$tool_arg_x;"/,
        exec_of('$tool_arg_x', schema('"x":{"type":"string"}'))
    ],
    [
        'one in braces', qr/"\$\{tool_arg_x\}" is optional/,
        exec_of('${tool_arg_x}', schema('"x":{"type":"string"}'))
    ],
    [
        'one on an arg line', qr/"\$tool_arg_x" is optional/,
        "tool a {\n $head\n exec true;\n arg -x \$tool_arg_x; #!\n"
            . schema('"x":{}') . '}'
    ],
    [
        'one with a condition', undef,
        "tool a {\n $head\n exec true;\n arg \$tool_arg_x if=\$tool_arg_x;\n"
            . schema('"x":{}') . '}'
    ],
    [
        'one with a default', undef,
        exec_of('$tool_arg_x', schema('"x":{"default":"y"}'))
    ],
    [ 'one within a word', undef, exec_of('x$tool_arg_x', schema('"x":{}')) ],
    [
        'one that is required', undef,
        exec_of('$tool_arg_x', schema('"x":{}', $all))
    ],
    [
        'an array',
        qr/"\$tool_arg_x" is an array, which becomes .*"arg \.\.\. each;"/,
        exec_of('$tool_arg_x', schema('"x":{"type":"array"}', $all))
    ],
    [
        'a condition that is in front',
        qr/"if=\$tool_arg_x" of "arg" is passed to the program, .*end of/,
        "tool a {\n $head\n exec true;\n arg if=\$tool_arg_x -x; #!\n"
            . schema('"x":{}', $all) . '}'
    ],
    [
        'each that is in front', qr/"each" of "arg" is passed to .* move it/,
        "tool a {\n $head\n exec true;\n arg each -x; #!\n}"
    ],
    [
        'a preview of what is not kept',
        qr/tool "a" stores large results, but "tool_output_store off"/,
        "tool_output_store off;\ntool a {\n $head\n exec true;\n preview "
            . "1k;\n} #!"
    ],
    [
        'an array that is optional: one advice',
        qr/\A(?!.*is optional).*"\$tool_arg_x" is an array/s,
        exec_of('$tool_arg_x', schema('"x":{"type":"array"}'))
    ],
    [
        'an object',
        qr/"\$tool_arg_x" is an object, .*\$\{tool_arg_NAME\.MEMBER\}/,
        exec_of('$tool_arg_x', schema('"x":{"type":["object","null"]}', $all))
    ],
    [
        'an array as JSON', undef,
        exec_of('$tool_json_x', schema('"x":{"type":"array"}', $all))
    ],
    [
        'its elements', undef,
        "tool a {\n $head\n exec true;\n arg \$tool_arg_x each;\n"
            . schema('"x":{"type":"array"}') . '}'
    ],

    # schemas and hints
    [
        'a required name that is not declared',
        qr/\(root\): "required" names "z", which "properties" does not/,
        "tool a {\n $head\n return x;\n "
            . schema('"x":{}', ',"required":["x","z"]') . "#!\n}"
    ],
    [
        'one in a member', qr/\/properties\/x: "required" names "z"/,
        "tool a {\n $head\n return x;\n "
            . schema('"x":{"properties":{},"required":["z"]}') . "#!\n}"
    ],
    [
        'a misspelled keyword',
        qr/\/properties\/x: "minLenght" is not a keyword .*mean "minLength"\?/,
        "tool a {\n $head\n return x;\n "
            . schema('"x":{"minLenght":1}') . "#!\n}"
    ],
    [
        'an unknown keyword',
        qr/"nullable" is not a keyword .*prefix it with "x-"/,
        "tool a {\n $head\n return x;\n "
            . schema('"x":{"anyOf":[{"nullable":true}]}') . "#!\n}"
    ],
    [
        'properties of such names, and remarks', undef,
        "tool a {\n $head\n return x;\n " . schema(
            '"nullable":{"x-y":1,"const":{"nullable":2},"default":{"a":1}}')
            . '}'
    ],
    [
        'a default of another type',
        qr/\/properties\/x: the "default" "1" does not match its "type"/,
        "tool a {\n $head\n return x;\n "
            . schema('"x":{"type":"integer","default":"1"}') . "#!\n}"
    ],
    [
        'a number for an integer', qr/the "default" 1\.5 does not match/,
        "tool a {\n $head\n return x;\n "
            . schema('"x":{"type":["integer","null"],"default":1.5}') . "#!\n}"
    ],
    [
        'defaults that fit', undef,
        "tool a {\n $head\n return x;\n " . schema(
            '"x":{"type":"integer","default":1.0},'
                . '"y":{"type":"number","default":1},'
                . '"z":{"type":["string","null"],"default":null}') . '}'
    ],
    [
        'a misspelled hint',
        qr/"annotations": "readonlyHint" is not .*mean "readOnlyHint"\?/,
        "tool a {\n $head\n return x;\n"
            . " annotations '{\"readonlyHint\":true}'; #!\n}"
    ],
    [
        'an unknown hint',
        qr/"annotations": "cost" is not a known hint; remove it/,
        "tool a {\n $head\n return x;\n annotations '{\"cost\":1}'; #!\n}"
    ],
    [
        'no description', qr/tool "a" has no "description", .*write what the/,
        "tool a {\n return x;\n} #!"
    ],
    [ 'a method without', undef, 'method a { return 1; }' ],

    # shell syntax
    (map {
        [
            "the sign $_", qr/"\Q$_\E" of "exec" is passed to .*"exec sh -c/,
            "tool a {\n $head\n exec cat '$_' x; #!\n}"
        ]
    } '|', '>', '&&', ';', '>>', '||', '`date`'),
    [
        'one on an arg line', qr/"\|" of "arg" is passed to/,
        "tool a {\n $head\n exec cat;\n arg '|' wc; #!\n}"
    ],
    [
        'quotes within a word',
        qr/quotes in "--author="\$tool_arg_x"" of "exec" .*remove them, or put/,
        "tool a {\n $head\n exec true --author=\"\$tool_arg_x\"; #!\n}"
    ],
    [
        'half of a quoted text', qr/quotes in "--grep='a" of "arg" become part/,
        "tool a {\n $head\n exec true;\n arg --grep='a b'; #!\n}"
    ],
    [
        'a word between quotes', undef,
        "tool a {\n $head\n exec true '--grep=\"a b\"' \"--a=b\" a=\"b\";\n}"
    ],
    [
        'a glob', qr/"\*\.txt" of "exec" is passed as it is, .*"exec sh -c/,
        "tool a {\n $head\n exec ls *.txt; #!\n}"
    ],
    [
        'a home', qr/"~\/x" of "exec" is passed as it is, .*full path/,
        "tool a {\n $head\n exec wc ~/x; #!\n}"
    ],
    [
        'a glob of another program', undef,
        "tool a {\n $head\n exec find /srv -name *.txt;\n}"
    ],
    [
        'the end of -exec of find', undef,
        "tool a {\n $head\n exec find /srv -exec ls '{}' ';';\n}"
    ],
    [
        'a name for no shell',
        qr/"MY-NAME" in "env" is not a name .*such as "MY_NAME"/,
        "tool a {\n $head\n exec true;\n env MY-NAME x; #!\n}"
    ],
    [
        'names', undef,
        "tool a {\n $head\n exec true;\n env _a1 x;\n env B y;\n}"
    ],
    [
        'a runner that is another program',
        qr/"\/bin\/cat" of "tool_runner" does not answer "--version" .*name/,
        "tool_runner /bin/cat; #!\ntool a { $head return x; }"
    ],
    [
        'a runner that says nothing', qr/does not answer "--version"/,
        "tool_runner %%DIR%%/sleeps; #!\ntool a { $head return x; }"
    ],
);

# Warnings after the whole config; a server's line is its first.
my $tool = "tool a { $head return x;";
my $deny = 'deny all;';
my @servers = (
    [
        'allow without deny',
        qr/"a" has "allow" but no "deny", so all .*"deny all;"/,
        "$tool allow uid=0; }"
    ],
    [ 'with it', undef, "$tool allow uid=0; deny all; }" ],
    [ 'with that of the server', undef, "tool_deny all; $tool allow uid=0; }" ],
    [ 'all allowed', undef, "$tool allow all; }" ],
    [
        'tool_allow without tool_deny',
        qr/"tool_allow" without "tool_deny" .*add "tool_deny all;"/,
        "tool_allow gid=0; $tool }"
    ],
    [
        'users over TCP',
        qr/rules for users or groups reject all .*"unix:"/,
        "listen 127.0.0.1:%%PORT%%; $tool allow uid=0; deny all; }"
    ],
    [
        'users over both', undef,
        "listen unix:%%SOCKET%%; listen 127.0.0.1:%%PORT%%;"
            . " $tool allow uid=0; deny all; }"
    ],
    [ 'loopback', undef, "listen 127.0.0.1:%%PORT%%; $tool }" ],
    [
        'a network',
        qr/anyone who can reach the network address can .*"allow ADDRESS/,
        "listen 192.0.2.1:%%PORT%%; $tool }"
    ],
    [ 'with deny of NGINX', undef, "listen 192.0.2.1:%%PORT%%; $deny $tool }" ],
    [
        'with rules of ours', undef,
        "listen 192.0.2.1:%%PORT%%; tool_allow all; $tool }"
    ],
);

$tg->file('sleeps', "#!/bin/sh\nexec sleep 60\n");
chmod 0755, $tg->dir . '/sleeps' or die "chmod: $!\n";
my $port = 7099;
my %word = (DIR => $tg->dir, SOCKET => $tg->socket_path, PORT => $port);

sub check {
    my ($is_server, $name, $pattern, $body, $level) = @_;
    $body =~ s/%%(\w+)%%/$word{$1}/g;
    $level //= 'warn';
    my $text = $tg->conf_text($body);
    my $line = $is_server
        ? qr/\d+/
        : grep {1} (split /^/, substr $text, 0, 1 + index $text, '#!');
    my ($status, $out) = $tg->test_conf($body);

    # An address that no machine has, so that nothing is open to a network.
    $status = 0 if $out =~ s/^.*bind\(\) to 192\.0\.2\.1.*\n//mg;
    my @said = grep {/\[(?:warn|emerg)\]/} split /\n/, $out;

    # Some are on stderr and in the log.
    my %seen;
    @said = grep { !$seen{ s/^.*?\[(?=warn|emerg)/[/r =~ s/\d+#\d+: //r }++ }
        @said;

    if (!defined $pattern) {
        is $status, 0, "$name: allowed";
        is "@said", '', 'and nothing to say about it';
        return;
    }
    is $status == 0, $level eq 'warn', "$name: a $level";
    is @said, 1, 'one thing to say' or diag $out;
    like $said[0] // '', qr/\[$level\]/, 'of this kind';
    like $said[0] // '', $pattern, 'which is explained';
    like $said[0] // '', qr/ in \Q@{[$tg->dir]}\E\/test\.conf:$line$/,
        'and has its place';
}

check(0, @$_) for @advice;
check(1, @$_) for @servers;

done_testing;
