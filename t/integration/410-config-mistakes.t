#!/usr/bin/perl
# Mistakes in a config: nginx -t finds each, names its line and the correction,
# and changes nothing.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $handler = 'return hi;';

# Name, expected message, and the body of a server (or a whole block, see
# Toolgate::Test). The wrong line ends in "#!".
my @mistakes = (
    # names
    [
        'a colon in a name', qr/invalid name "a:b" of a tool: .*use "_"/,
        "tool a:b { #!\n $handler }"
    ],
    [
        'an empty name', qr/invalid name "" of a tool: .*1 to 128/,
        "tool '' { #!\n $handler }"
    ],
    [
        'a long name', qr/invalid name "x{129}" of a tool: .*1 to 128/,
        'tool ' . 'x' x 129 . " { #!\n $handler }"
    ],
    [
        'a method of MCP',
        qr/invalid name "tools\/call" of a method: .*another name/,
        "method tools/call { #!\n $handler }"
    ],
    [
        'a reserved method',
        qr/invalid name "rpc\.x" of a method: .*reserved/,
        "method rpc.x { #!\n $handler }"
    ],
    [
        'a blank in a method',
        qr/invalid name "a b" of a method: .*not contain blanks/,
        "method 'a b' { #!\n $handler }"
    ],
    [
        'the same tool twice', qr/duplicate tool "a"; give it another name/,
        "tool a { $handler }\ntool a { #!\n $handler }"
    ],
    [
        'the same method twice',
        qr/duplicate method "a\.b"; give it another name/,
        "method a.b { return 1; }\nmethod a.b { #!\n return 2; }"
    ],

    # handlers
    [
        'no handler', qr/tool "a" has no handler; .*"return" or an "exec"/,
        "tool a {\n description d;\n} #!"
    ],
    [
        'a broadcast of MCP\'s own name',
        qr/invalid name "notifications\/progress" in "broadcast": .*another/,
        "method a {\n broadcast notifications/progress; #!\n}"
    ],
    [
        'a broadcast of our own name',
        qr/invalid name "notifications\/toolgate\/closing" .*reserved/,
        "method a {\n broadcast notifications/toolgate/closing; #!\n}"
    ],
    [
        'a broadcast without a name',
        qr/invalid name "" in "broadcast": .*1 to 128/,
        "method a {\n broadcast ''; #!\n}"
    ],
    [
        'a broadcast with a whole result',
        qr/tool "a" returns the number .*remove "output result"/,
        "tool a {\n broadcast x;\n output result;\n} #!"
    ],
    [
        'a broadcast with a timeout', qr/"timeout", .* have no effect/,
        "method a {\n broadcast x;\n timeout 5s;\n} #!"
    ],
    [
        'clients with a whole result',
        qr/method "a" returns a list, .*remove "output result"/,
        "method a {\n clients;\n output result;\n} #!"
    ],
    [
        'clients with an argument',
        qr/invalid number of arguments in "clients" directive/,
        "method a {\n clients all; #!\n}"
    ],
    [
        'a capability that is no JSON',
        qr/"tool_capability" is not valid JSON/,
        "tool_capability a '{'; #!\n tool a { $handler }"
    ],
    [
        'a capability that is no object',
        qr/the "tool_capability" of "a" must be a JSON object/,
        "tool_capability a 1; #!\n tool a { $handler }"
    ],
    [
        'a capability without a name', qr/needs a name in UTF-8/,
        "tool_capability ''; #!\n tool a { $handler }"
    ],
    [
        'a capability twice', qr/duplicate "tool_capability a"/,
        "tool_capability a;\n tool_capability a '{}'; #!\n tool a { $handler }"
    ],
    [
        'no policy for bridges',
        qr/"tool_relay_bridges"; write one of shared, displace, reject/,
        "tool_relay_bridges two; #!\n tool a { $handler }"
    ],
    [
        'two handlers', qr/"exec" directive is a second handler/,
        "tool a {\n $handler\n exec true; #!\n}"
    ],
    [
        'one handler twice', qr/"return" directive is a second handler/,
        "tool a {\n $handler\n return ho; #!\n}"
    ],
    [
        'return and stdin', qr/tool "a" has no "exec", so "stdin".*remove/,
        "tool a {\n $handler\n stdin x;\n} #!"
    ],
    [
        'return and timeout',
        qr/tool "a" has no "exec" or .*"library".*, so .*remove them/,
        "tool a {\n $handler\n timeout 5s;\n} #!"
    ],
    [
        'a title of a method', qr/method "a" is not listed.*remove them/,
        "method a {\n title T;\n return 1;\n} #!"
    ],
    [
        'a method that returns no JSON',
        qr/method "a" returns a value that its "output" does not .*output text/,
        "method a {\n return hi;\n} #!"
    ],
    [
        'a result that is none',
        qr/tool "a" returns a value that its "output" does not .*MCP result/,
        "tool a {\n output result;\n return '{}';\n} #!"
    ],
    [
        'an unknown output',
        qr/invalid value "xml" in "output"; write one of text, json, result/,
        "tool a {\n output xml; #!\n $handler\n}"
    ],
    [
        'an unknown variable',
        qr/unknown variable "\$nme"; write \$tool_arg_nme/,
        "tool a {\n return 'hello \$nme'; #!\n}"
    ],
    [
        'an unknown variable of exec',
        qr/unknown variable "\$path"; write \$tool_arg_path/,
        "tool a {\n exec ls \$path; #!\n}"
    ],

    [
        'a capture of nothing',
        qr/unknown variable "\$1"; nothing is captured here; .*write "\$\$"/,
        "tool a {\n exec awk '{print \$1}'; #!\n}"
    ],
    [
        'an unknown variable of ours',
        qr/unknown variable "\$tool_nme"; .*\$tool_arg_ or \$tool_json_/,
        "tool a {\n return '\$tool_nme'; #!\n}"
    ],
    [
        'a brace that is open',
        qr/"\$" starts .* in "\$\{tool_arg_x"; write one that ends with "}"/,
        "tool a {\n exec grep '\${tool_arg_x'; #!\n}"
    ],
    [
        'a lonely dollar',
        qr/"\$" starts a variable's name in "foo\$"; .*"\$\$"/,
        "tool a {\n exec grep 'foo\$'; #!\n}"
    ],

    [
        'a member of no argument',
        qr/"\$\{tool_name\.x\}" does not name an argument; write \$\{tool_a/,
        "tool a {\n return '\${tool_name.x}'; #!\n}"
    ],
    [
        'a member without a name', qr/"\$\{tool_arg_a\.\}" does not name an/,
        "tool a {\n return '\${tool_arg_a.}'; #!\n}"
    ],
    [
        'a member that the schema does not declare',
        qr/does not declare "c", which "\$\{tool_arg_b\.c\}" refers/,
        "tool a {\n return '\${tool_arg_b.c}'; #!\n input_schema "
            . "'{\"type\":\"object\",\"properties\":{\"b\":"
            . "{\"properties\":{\"d\":{}}}}}';\n}"
    ],
    [
        'a member of what is no object',
        qr/does not declare "c", which "\$\{tool_arg_b\.c\}" refers/,
        "tool a {\n input_schema '{\"type\":\"object\",\"properties\":"
            . "{\"b\":{\"type\":\"string\"}}}';\n"
            . " exec true;\n arg x if=\${tool_arg_b.c}; #!\n}"
    ],

    # arg
    [
        'an arg of no program', qr/has no "exec", so "arg" has no effect/,
        "tool a {\n arg x;\n $handler\n} #!"
    ],
    [
        'an arg without a word', qr/needs an argument .*"arg WORD \.\.\./,
        "tool a {\n exec true;\n arg if=\$tool_arg_x each; #!\n}"
    ],
    [
        'two conditions', qr/has "if=" twice; a line has one/,
        "tool a {\n exec true;\n arg x if=\$tool_arg_x if=\$tool_arg_y; #!\n}"
    ],
    [
        'a condition that is none', qr/"if=" without a variable; write "if=\$/,
        "tool a {\n exec true;\n arg x if=!yes; #!\n}"
    ],
    [
        'each of nothing', qr/"each", but no argument .*"\$tool_arg_NAME"/,
        "tool a {\n exec true;\n arg x \$tool_name each; #!\n}"
    ],
    [
        'each of two arrays',
        qr/for one array, .* "a" and "b"; write a separate line for each/,
        "tool a {\n exec true;\n arg \$tool_arg_a \$tool_arg_b each; #!\n}"
    ],

    # texts and schemas
    [
        'a description twice', qr/"description" directive is duplicate/,
        "tool a {\n description d;\n description d; #!\n $handler\n}"
    ],
    [
        'a description in Latin-1', qr/"description" .*not valid UTF-8/,
        "tool a {\n description \"caf\xe9\"; #!\n $handler\n}"
    ],
    [
        'annotations that are no JSON',
        qr/"annotations" is not valid JSON: .*column 2\); correct it/,
        "tool a {\n annotations '{x}'; #!\n $handler\n}"
    ],
    [
        'a hint that is no boolean',
        qr/"annotations" must have true or false for readOnlyHint/,
        "tool a {\n annotations '{\"readOnlyHint\":1}'; #!\n $handler\n}"
    ],
    [
        'a schema that is no JSON',
        qr/"input_schema" is not valid JSON: .*column 9\); correct it/,
        "tool a {\n input_schema '{\"type\":}'; #!\n $handler\n}"
    ],
    [
        'a schema that is no object',
        qr/invalid "input_schema": .*JSON object, such as/,
        "tool a {\n input_schema '[]'; #!\n $handler\n}"
    ],
    [
        'a schema of a string',
        qr/invalid "input_schema": the root .*"type":"object"/,
        "tool a {\n input_schema '{\"type\":\"string\"}'; #!\n $handler\n}"
    ],
    [
        'a schema of an unknown draft',
        qr/invalid "input_schema": \/\$schema: unknown dialect: .*2020-12/,
        "tool a {\n input_schema '{\"type\":\"object\",\"\$schema\":"
            . "\"http://json-schema.org/draft-03/schema#\"}'; #!\n"
            . " $handler\n}"
    ],
    [
        'two schemas', qr/"input_schema" directive is duplicate/,
        "tool a {\n input_schema '{\"type\":\"object\"}';\n"
            . " input_schema '{\"type\":\"object\"}'; #!\n $handler\n}"
    ],
    [
        'a schema file that is not there',
        qr/no\.json" failed \(2: No such file/,
        "tool a {\n input_schema_file no.json; #!\n $handler\n}"
    ],
    [
        'a schema file that is a folder',
        qr/state" is not a regular file/,
        "tool a {\n input_schema_file state; #!\n $handler\n}"
    ],
    [
        'a schema file with half a schema',
        qr/"input_schema_file" is not valid JSON: .* \(line 2, column 19\); /
            . qr/correct "%%DIR%%\/half\.json" in /,
        "tool a {\n input_schema_file half.json; #!\n $handler\n}"
    ],

    # exec
    [
        'a program that is nowhere',
        qr/program "no-such-program" of "exec" cannot be run;.*full path.*2: /,
        "tool a {\n exec no-such-program; #!\n}"
    ],
    [
        'a path that is not there',
        qr/program "\/no\/prog" of "exec" cannot be run; .*2: No such file/,
        "tool a {\n exec /no/prog; #!\n}"
    ],
    [
        'a file that is no program',
        qr/program "%%DIR%%\/half\.json" of "exec" cannot be run.*13: /,
        "tool a {\n exec %%DIR%%/half.json; #!\n}"
    ],
    [
        'a folder as a program',
        qr/program "\/usr\/bin\/" of "exec" cannot be run.*13: /,
        "tool a {\n exec /usr/bin/; #!\n}"
    ],
    [
        'a program by variable',
        qr/"exec" .*without variables; use variables in its arg/,
        "tool a {\n exec \$tool_arg_program; #!\n}"
    ],
    [ 'stdin twice', qr/"stdin" directive is duplicate/,
        "tool a {\n exec cat;\n stdin a;\n stdin b; #!\n}" ],
    [
        'a name with "=" in env', qr/invalid name "A=B" in "env"; write "env/,
        "tool a {\n exec env;\n env A=B c; #!\n}"
    ],
    [
        'an assignment in env', qr/"env A=b" has no value.*"env NAME VALUE"/,
        "tool a {\n exec env;\n env A=b; #!\n}"
    ],
    [
        'the same name twice in env', qr/"env" .*same name twice/,
        "tool a {\n exec env;\n env A b;\n env A c; #!\n}"
    ],
    [
        'a cwd that is no folder', qr/passwd" of "cwd" is not a directory/,
        "tool a {\n exec pwd;\n cwd /etc/passwd; #!\n}"
    ],
    [
        'a timeout of 0', qr/invalid time "0" in "timeout"; write between/,
        "tool a {\n exec true;\n timeout 0; #!\n}"
    ],
    [
        'a timeout that is none',
        qr/invalid time "soon" in "timeout"; write between/,
        "tool a {\n exec true;\n timeout soon; #!\n}"
    ],
    [
        'a max below its timeout',
        qr/invalid time "max=5s" in "timeout"; .*with a max that is not less/,
        "tool a {\n exec true;\n timeout 10s max=5s; #!\n}"
    ],
    [
        'a timeout of a week', qr/invalid time "7d" in "timeout"; .* 24h/,
        "tool a {\n exec true;\n timeout 7d; #!\n}"
    ],
    [
        'a large max_output', qr/invalid size "1g" in "max_output"; .*32m/,
        "tool a {\n exec true;\n max_output 1g; #!\n}"
    ],
    [
        'a little memory', qr/invalid value "1023k" in "memory"; write 1m/,
        "tool a {\n exec true;\n memory 1023k; #!\n}"
    ],
    [
        'a memory that is none', qr/invalid value "much" in "memory"; write 1m/,
        "tool a {\n exec true;\n memory much; #!\n}"
    ],
    [
        'two memories', qr/"memory" directive is duplicate/,
        "tool a {\n exec true;\n memory 1m;\n memory 1m; #!\n}"
    ],
    [
        'no pids', qr/invalid value "0" in "pids"; write the maximum/,
        "tool a {\n exec true;\n pids 0; #!\n}"
    ],
    [
        'pids that are none', qr/invalid value "few" in "pids"; write the/,
        "tool a {\n exec true;\n pids few; #!\n}"
    ],
    [
        'pids twice', qr/"pids" directive is duplicate/,
        "tool a {\n exec true;\n pids 1;\n pids 1; #!\n}"
    ],
    [
        'an unknown protocol',
        qr/unknown protocol "http" in "pass"; .*ipc, jsonrpc, relay, mcp/,
        "tool a {\n pass unix:/x protocol=http; #!\n}"
    ],
    [
        'a parameter of pass that is none',
        qr/invalid parameter "x=y" in "pass"; .*"method=NAME"/,
        "tool a {\n pass unix:/x x=y; #!\n}"
    ],
    [
        'two names at a backend',
        qr/invalid parameter "method=c" in "pass"; .*at most once/,
        "tool a {\n pass unix:/x name=b method=c; #!\n}"
    ],
    [
        'no name at a backend',
        qr/invalid parameter "name=" in "pass"; /,
        "tool a {\n pass unix:/x name=; #!\n}"
    ],
    [
        'a method of what has none',
        qr/has "method=", which is for "protocol=jsonrpc"; .*"name="/,
        "tool a {\n pass unix:/x protocol=ipc method=b; #!\n}"
    ],
    [
        'a backend that is a variable',
        qr/needs an address or an upstream without variables/,
        "tool a {\n pass \$remote_addr; #!\n}"
    ],
    [
        'a port that is none',
        qr/invalid port in upstream "127\.0\.0\.1:x"/,
        "tool a {\n pass 127.0.0.1:x; #!\n}"
    ],
    [
        'no such upstream',
        qr/no port in upstream "nosuch"/,
        "tool a {\n pass nosuch; #!\n}"
    ],
    [
        'stdin of a backend',
        qr/has no "exec", so "stdin"/,
        "tool a {\n pass unix:/x;\n stdin x;\n} #!"
    ],
    [
        'limits of no program', qr/has no "exec", so "pids" has no effect/,
        "tool a {\n return 1;\n pids 1;\n} #!"
    ],

    # of a server
    [
        'an unknown directive in a tool', qr/unknown directive "foo"/,
        "tool a {\n foo bar; #!\n $handler\n}"
    ],
    [
        'a server\'s directive in a tool',
        qr/"tool_protocol" directive is not allowed here/,
        "tool a {\n tool_protocol ipc; #!\n $handler\n}"
    ],
    [
        'a tool\'s directive in a server',
        qr/"description" directive is not allowed here/,
        "description d; #!\ntool a { $handler }"
    ],
    [
        'an unknown protocol',
        qr/invalid value "http" in "tool_protocol"; .*auto, ipc, jsonrpc/,
        "tool_protocol http; #!\ntool a { $handler }"
    ],
    [
        'a mode that is no number',
        qr/invalid mode "rw" in "tool_socket_mode"; .*0600 or 0660/,
        "tool_socket_mode rw; #!\ntool a { $handler }"
    ],
    [
        'a mode beyond 0777',
        qr/invalid mode "1777" in "tool_socket_mode"; .*0600 or 0660/,
        "tool_socket_mode 1777; #!\ntool a { $handler }"
    ],
    [
        'a user that is none',
        qr/unknown user "tg-nobody" in "tool_socket_owner"; write USER/,
        "tool_socket_owner tg-nobody; #!\ntool a { $handler }"
    ],
    [
        'a group that is none',
        qr/unknown group "tg-nobody" in "tool_socket_owner"; write USER/,
        "tool_socket_owner root:tg-nobody; #!\ntool a { $handler }"
    ],
    [
        'a user without a name',
        qr/user "54321" of "tool_socket_owner" has no name.*write 54321:GROUP/,
        "tool_socket_owner 54321; #!\ntool a { $handler }"
    ],
    [
        'a small tool_max_frame',
        qr/"tool_max_frame" directive must be between 1k/,
        "tool_max_frame 1000; #!\ntool a { $handler }"
    ],
    [
        'no call in flight', qr/value must be between 1 and 65536/,
        "tool_max_inflight 0; #!\ntool a { $handler }"
    ],
    [
        'a time that is none',
        qr/invalid time "frame=x" in "tool_idle_timeout"; .*frame=30s/,
        "tool_idle_timeout off frame=x; #!\ntool a { $handler }"
    ],
    [
        'a time twice',
        qr/"tool_idle_timeout" directive is duplicate/,
        "tool_idle_timeout 1m 2m; #!\ntool a { $handler }"
    ],
    [
        'a runner that is not there',
        qr/no-runner" of "tool_runner" cannot be run; .*toolgate-runner/,
        "tool_runner /no-runner; #!\ntool a { $handler }"
    ],
    [
        'a state directory that is a file',
        qr/half\.json" of "tool_state_dir" exists and is not a dir/,
        "tool_state_dir %%DIR%%/half.json; #!\ntool a { $handler }"
    ],
    [
        'a long state directory',
        qr/of "tool_state_dir" is too long .*at most 92/,
        'tool_state_dir /tmp/' . 'x' x 90 . "; #!\ntool a { $handler }"
    ],
    [
        'a schema file in a directory that is not there',
        qr{/nowhere/s\.json" of "tool_schema_file" is in a directory that},
        "tool_schema_file %%DIR%%/nowhere/s.json; #!\ntool a { $handler }"
    ],
    [
        'tools in a server that passes connections on',
        qr/either has tools and methods or passes.*own/,
        "proxy_pass unix:/x;\ntool a { #!\n $handler }"
    ],
);

$tg->file('half.json', qq({"title":"caf\xc3\xa9",\n  "type":"object" "));

sub check {
    my ($name, $pattern, $body, %option) = @_;
    my $dir = $tg->dir;
    $pattern =~ s/%%DIR%%/$dir/;
    conf_fails_at($tg, $body, $pattern, $name, %option);
}

# Files that nginx -t itself writes.
my $own = qr{/(?:test\.conf|test\.log|nginx\.pid)$};
my $before = files_below($tg->dir, $own);
check(@$_) for @mistakes;

# Errors that are found after the whole config; a server's line is its first.
for my $late (
    [
        'a proxy_pass behind a tool',
        qr/either has tools and methods or passes/,
        "tool a { $handler }\nproxy_pass unix:/x;"
    ],
    [
        'a state directory in no directory',
        qr{"/nowhere/state" \(tool_state_dir\) is in a directory that does not},
        'tool_state_dir /nowhere/state; tool a { exec true; }'
    ],
    [
        'a state directory that is not for us alone',
        qr{"/tmp" \(tool_state_dir\) must belong to uid \d+},
        'tool_state_dir /tmp; tool a { exec true; }'
    ],
    [
        'a relative socket',
        qr/"listen unix:tools\.sock" needs an absolute path/,
        "listen unix:tools.sock;\ntool a { $handler }"
    ],
) {
    my ($name, $pattern, $body) = @$late;
    conf_fails($tg, $body, $pattern, $name);
}

# In an included file, the error names that file.
$tg->file('tools.conf', "tool ok { $handler }\n\ntool a {\n exec nowhere;\n}");
my ($status, $out) = $tg->test_conf('include tools.conf;');
isnt $status, 0, 'a mistake in an included file is found';
like $out, qr{"nowhere" of "exec".* in \Q@{[$tg->dir]}\E/tools\.conf:4$}m,
    'and has its place there';
unlink $tg->dir . '/tools.conf';

# Names that only some agents accept are allowed.
for my $name ('a.b', 'x' x 65) {
    ($status, $out) = $tg->test_conf("tool $name { #!\n $handler }");
    is $status, 0, "$name is allowed";
    like $out, qr/\[warn\] name "\Q$name\E" of a tool: .*1 to 64/,
        'with a warning';
    unlike $out, qr/\[(?:error|crit|alert|emerg)\]/, 'and no more';
}
($status, $out) = $tg->test_conf(
    "tool a { description d; $handler }\nmethod a { return 1; }");
is $status, 0, 'a tool and a method may share a name';
unlike $out, qr/\[warn\]/, 'without a warning';

is_deeply files_below($tg->dir, $own), $before, 'and nothing was touched';

done_testing;
