#!/usr/bin/perl
# Mistakes in prompts, resources and templates, and in what is listed of them:
# nginx -t finds each, names its line and the correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $handler = 'return hi;';
my $short = $tg->file('short', "12345\n", 0600);
my $open = $tg->file('open', 'x' x 40, 0644);

# Name, expected message, and the body of a server. The wrong line ends in "#!".
my @mistakes = (

    # names and URIs
    [
        'a blank in a prompt', qr/invalid name "a b" of a prompt: .*command/,
        "prompt 'a b' { #!\n $handler }"
    ],
    [
        'a long name of a prompt',
        qr/invalid name "x{129}" of a prompt: .*1 to 128/,
        'prompt ' . 'x' x 129 . " { #!\n $handler }"
    ],
    [
        'the same prompt twice', qr/duplicate prompt "a"; give it another/,
        "prompt a { $handler }\nprompt a { #!\n $handler }"
    ],
    [
        'a URI without a scheme',
        qr/invalid URI "today\.txt" of a resource: .*begins with a scheme/,
        "resource today.txt { #!\n $handler }"
    ],
    [
        'a scheme alone',
        qr/invalid URI "notes:" of a resource: .*path after the scheme/,
        "resource notes: { #!\n $handler }"
    ],
    [
        'a scheme that begins with a digit',
        qr/invalid URI "1a:b" of a resource: .*begins with a scheme/,
        "resource 1a:b { #!\n $handler }"
    ],
    [
        'a blank in a URI',
        qr{invalid URI "n:///a b" of a resource: .*no blanks},
        "resource 'n:///a b' { #!\n $handler }"
    ],
    [
        'a byte beyond ASCII in a URI',
        qr{invalid URI "n:///\xc3\xa9" of a resource: .*hexadecimal},
        "resource n:///\xc3\xa9 { #!\n $handler }"
    ],
    [
        'a bad escape in a URI',
        qr{invalid URI "n:///50%" of a resource: .*write "%25"},
        "resource n:///50% { #!\n $handler }"
    ],
    [
        'a variable in a URI',
        qr/invalid URI "n:\{x\}" of a resource: .*"resource_template" has/,
        "resource 'n:{x}' { #!\n $handler }"
    ],
    [
        'a URI of 2049 bytes', qr/invalid URI "n:.*" of a res.*at most 2048/,
        'resource n:' . 'x' x 2047 . " { #!\n $handler }"
    ],
    [
        'the same URI twice', qr{duplicate resource "n:///a"; give it another},
        "resource n:///a { $handler }\nresource n:///a { #!\n $handler }"
    ],
    [
        'a template without a variable',
        qr{"n:///a": write a variable.* without variables is a resource in },
        "resource_template n:///a { #!\n $handler }"
    ],
    [
        'a template without quotes that does not end',
        qr{"\{" must follow the template that begins with "n:///"; put},
        "resource_template n:///{x}; #!\n"
    ],
    [
        'a word after a template', qr{"\{" must follow the template},
        "resource_template n:///{x} y { #!\n $handler }"
    ],
    [
        'a template whose brace is not closed',
        qr{"\{" must follow the template},
        "resource_template n:///{return hi; } #!\n"
    ],
    [
        'an endless template',
        qr{"\{" must follow the template}, 'resource_template n:/{x}'
            . 'y' x 2100 . " { #!\n $handler }"
    ],
    [
        'a template with an unknown operator',
        qr{invalid resource_template "n:///\{#x\}": },
        "resource_template 'n:///{#x}' { #!\n $handler }"
    ],
    [
        'the same template twice',
        qr{duplicate resource_template "n:///\{x\}"; give it another},
        "resource_template 'n:///{x}' { $handler }\n"
            . "resource_template 'n:///{x}' { #!\n $handler }"
    ],

    # handlers
    [
        'a prompt without a handler', qr/prompt "a" has no handler; .*"messa/,
        "prompt a {\n description d;\n} #!"
    ],
    [
        'a message in a tool', qr/"message" has no effect in a tool; remove it/,
        "tool a {\n message user hi; #!\n}"
    ],
    [
        'a message of nobody', qr/invalid role "system" in "message"; .*"user"/,
        "prompt a {\n message system hi; #!\n}"
    ],
    [
        'messages and a handler',
        qr/a second handler; this prompt has "message"/,
        "prompt a {\n message user hi;\n return hi; #!\n}"
    ],
    [
        'messages as text', qr/prompt "a" has "message", which makes a whole/,
        "prompt a {\n message user hi;\n output text;\n} #!"
    ],
    [
        'a timeout of messages', qr/so "timeout", .* have no effect/,
        "prompt a {\n message user hi;\n timeout 5s;\n} #!"
    ],
    [
        'a result that is none', qr/prompt "a" returns a value that its "outp/,
        "prompt a {\n return '{\"contents\":[]}';\n output result;\n} #!"
    ],

    [
        'a file that is not there', qr{"/no/such" of "message" is not a file},
        "prompt a {\n message user file=/no/such; #!\n}"
    ],
    [
        'a file with a variable', qr/the file of a "message" has no variables/,
        "prompt a {\n message user file=/srv/\$tool_arg_x; #!\n}"
    ],

    # arguments
    [
        'an argument of a tool',
        qr/"argument" has no effect in a tool; .*by "input_schema"/,
        "tool a {\n argument x; #!\n $handler }"
    ],
    [
        'an argument of a resource',
        qr/"argument" has no effect in a resource; .*"resource_template"/,
        "resource n:a {\n argument x; #!\n $handler }"
    ],
    [
        'a bad name of an argument',
        qr/invalid name "a b" in "argument"; write 1 to 64 letters/,
        "prompt a {\n argument 'a b'; #!\n $handler }"
    ],
    [
        'an argument twice', qr/duplicate "argument x"; declare it once/,
        "prompt a {\n argument x;\n argument x; #!\n $handler }"
    ],
    [
        'words after the description', qr/invalid "argument x"; .*quotes/,
        "prompt a {\n argument x the commit; #!\n $handler }"
    ],
    [
        'a required argument with a default',
        qr/"argument x" is required, so its default has no effect/,
        "prompt a {\n argument x required default=1; #!\n $handler }"
    ],
    [
        'a quote within a default',
        qr/"argument x" has a value that begins with a quote; .*whole param/,
        "prompt a {\n argument x default=\"a b\"; #!\n $handler }"
    ],
    [
        'a quote within a pattern',
        qr/"argument x" has a value that begins with a quote; .*whole param/,
        "prompt a {\n argument x pattern='^[a-f]+\$'; #!\n $handler }"
    ],
    [
        'a default that the pattern refuses',
        qr/the default of "argument x" does not match its pattern/,
        "prompt a {\n argument x default=y pattern=^[0-9]+\$; #!\n $handler }"
    ],
    [
        'an argument that is no variable',
        qr{resource_template "n:\{x\}" has no variable "y"},
        "resource_template 'n:{x}' {\n argument y;\n $handler\n} #!"
    ],
    [
        'an unknown argument of a prompt',
        qr/the prompt allows no argument "y", so "\$tool_arg_y" is always/,
        "prompt a {\n argument x;\n message user \$tool_arg_y; #!\n}"
    ],
    [
        'an unknown variable of a template',
        qr/the resource_template allows no argument "y"/,
        "resource_template 'n:{x}' {\n return \$tool_arg_y; #!\n}"
    ],
    [
        'an argument in a resource', qr/the resource allows no argument "y"/,
        "resource n:a {\n return \$tool_arg_y; #!\n}"
    ],
    [
        'a variable that nobody defines', qr/unknown variable "\$nosuch"/,
        "prompt a {\n message user \$nosuch; #!\n}"
    ],

    # directives without an effect
    (map {
            [
                "$_->[0] in a $_->[1]",
                qr/"\Q$_->[0]\E" has no effect in a $_->[2]; /,
                "$_->[1] {\n $_->[0] $_->[3]; #!\n $handler }"
            ]
        }
        [ 'input_schema', 'prompt a', 'prompt', "'{\"type\":\"object\"}'" ],
        [ 'output_schema', 'resource n:a', 'resource', "'{}'" ],
        [ 'annotations', 'prompt a', 'prompt', "'{}'" ],
        [ 'annotations', 'resource n:a', 'resource', "'{}'" ],
        [ 'task', 'prompt a', 'prompt', 'optional' ],
        [ 'mime', 'tool a', 'tool', 'text/plain' ],
        [ 'mime', 'prompt a', 'prompt', 'text/plain' ],
        [ 'name', 'prompt a', 'prompt', 'x' ],
        [ 'ttl', 'tool a', 'tool', '1s' ],
        [ 'priority', 'prompt a', 'prompt', '1' ],
        [ 'audience', 'tool a', 'tool', 'user' ],
        [ 'size', 'resource_template n:{x}', 'resource_template', '1' ],
        [ 'last_modified', 'tool a', 'tool', '2026-11-26T12:00:00Z' ],
        [ 'meta', 'method a', 'method', 'x 1' ],
        [ 'icon', 'method a', 'method', 'https://a.b/c.png' ]),
    [
        'preview of a resource', qr/has "preview" or "spill", but only large/,
        "resource n:a {\n exec true;\n preview 1k;\n} #!"
    ],
    [
        'an image as the output of a resource',
        qr/resource "n:a" outputs binary data; write "mime TYPE" instead/,
        "resource n:a {\n exec true;\n output image image/png;\n} #!"
    ],

    # values
    [
        'a bad MIME type', qr/invalid type "png" in "mime"; .*text\/markdown/,
        "resource n:a {\n mime png; #!\n $handler }"
    ],
    [
        'a MIME type twice', qr/"mime" directive is duplicate/,
        "resource n:a {\n mime a/b;\n mime a/c; #!\n $handler }"
    ],
    [
        'a priority above 1', qr/invalid number "1\.1" in "priority"; .*0 /,
        "resource n:a {\n priority 1.1; #!\n $handler }"
    ],
    [
        'a priority that is no number', qr/invalid number "high" in "prio/,
        "resource n:a {\n priority high; #!\n $handler }"
    ],
    [
        'a priority twice', qr/duplicate "priority priority"|duplicate/,
        "resource n:a {\n priority 1;\n priority 1; #!\n $handler }"
    ],
    [
        'an unknown audience', qr/invalid value "all" in "audience"; .*both/,
        "resource n:a {\n audience all; #!\n $handler }"
    ],
    [
        'a bad ttl', qr/invalid "soon" in "ttl"; .*"10m"/,
        "resource n:a {\n ttl soon; #!\n $handler }"
    ],
    [
        'a ttl for everybody', qr/invalid "all" in "ttl"; .*"public"/,
        "resource n:a {\n ttl 1s all; #!\n $handler }"
    ],
    [
        'a bad ttl of lists', qr/invalid "2y" in "tool_list_ttl"; /,
        "tool_list_ttl 2y; #!\nprompt a { $handler }"
    ],
    [
        'a reserved key', qr/invalid key "x\.mcp\/a" in "meta"; MCP reserves/,
        "tool a {\n meta x.mcp/a 1; #!\n $handler }"
    ],
    [
        'a key without a name', qr/invalid key "a\/" in "meta"; write NAME/,
        "tool a {\n meta a/ 1; #!\n $handler }"
    ],
    [
        'a key twice', qr/duplicate "meta a\/b"; declare it once/,
        "tool a {\n meta a/b 1;\n meta a/b 2; #!\n $handler }"
    ],
    [
        'a value that is not JSON', qr/"meta" is not valid JSON/,
        "tool a {\n meta a/b 'x'; #!\n $handler }"
    ],
    [
        'an icon of a path', qr{invalid "/a\.png" in "icon"; .*"file=PATH"},
        "tool a {\n icon /a.png; #!\n $handler }"
    ],
    [
        'an icon with an unknown word',
        qr/invalid "huge" in "icon"; .*"48x48"/,
        "tool a {\n icon https://a.b/c.png image/png huge; #!\n $handler }"
    ],
    [
        'an icon that is not a file', qr/open\(\) "\S+none\.png" failed.*2: No/,
        "tool a {\n icon file=none.png; #!\n $handler }"
    ],
    [
        'an icon that is not an image',
        qr/invalid file "\S+a\.txt" in "icon"; name an image of at most 64 KiB/,
        "tool a {\n icon file=${\ $tg->file('a.txt', 'a')}; #!\n"
            . "$handler }"
    ],
    [
        'an empty icon', qr/invalid file "\S+empty\.png" in "tool_server_icon"/,
        "tool_server_icon file=${\ $tg->file('empty.png', '')}; #!\n"
            . "tool a { $handler }"
    ],
    [
        'a large icon', qr/invalid file "\S+large\.png" in "icon"; .*64 KiB/,
        "tool a {\n icon file=${\ $tg->file('large.png', 'x' x 65537)}; #!\n"
            . "$handler }"
    ],
    [
        'a file and a type',
        qr/invalid "image\/gif" in "icon"; .*file is that of its extension/,
        "tool a {\n icon file=${\ $tg->file('a.png', 'a')} image/gif; #!\n"
            . "$handler }"
    ],
    [
        'a bad website', qr/invalid "example\.com" in "tool_server_website"/,
        "tool_server_website example.com; #!\ntool a { $handler }"
    ],
    # ask
    [
        'an ask without a message', qr/ask "a" needs a "message"/,
        "tool t {\n ask a form { } #!\n $handler }"
    ],
    [
        'an ask of an unknown type', qr/invalid "ask a box"; .*form, url/,
        "tool t {\n ask a box { #!\n message x; }\n $handler }"
    ],
    [
        'an ask in upper case', qr/invalid "ask Sure form"; .*lower-case/,
        "tool t {\n ask Sure form { #!\n message x; }\n $handler }"
    ],
    [
        'an ask twice', qr/duplicate "ask a"; give it another name/,
        "tool t {\n ask a form { message x; }\n"
            . " ask a form { #!\n message x; }\n $handler }"
    ],
    [
        'an ask in a method', qr/"ask" has no effect in a method/,
        "method t {\n ask a form { #!\n message x; }\n $handler }"
    ],
    [
        'an unknown directive in an ask',
        qr/unknown directive "text" in "ask"; write message/,
        "tool t {\n ask a form {\n text x; #!\n }\n $handler }"
    ],
    [
        'two messages', qr/duplicate "message" in "ask"/, "tool t {\n"
            . " ask a form { message x;\n message y; #!\n }\n $handler }"
    ],
    [
        'a message of two words', qr/"message" needs one value, in quotes/,
        "tool t {\n ask a form {\n message x y; #!\n }\n $handler }"
    ],
    [
        'a form with a url', qr/ask "a" has a "url"; write "url" in place/,
        "tool t {\n ask a form { message x; url https://a/; } #!\n $handler }"
    ],
    [
        'a url without its address', qr/ask "a" needs the "url"/,
        "tool t {\n ask a url { message x; } #!\n $handler }"
    ],
    [
        'a url with a field', qr/ask "a" is no form, so "field"/,
        "tool t {\n ask a url { message x; url https://a/;"
            . " field b string; } #!\n $handler }"
    ],
    [
        'a form with max_tokens', qr/ask "a" is no sampling, so "max_tokens"/,
        "tool t {\n ask a form { message x; max_tokens 5; } #!\n $handler }"
    ],
    [
        'no number as max_tokens', qr/one "max_tokens" with a number from 1/,
        "tool t {\n ask a sampling { message x;\n max_tokens 0; #!\n }\n"
            . " $handler }"
    ],
    [
        'an unknown else', qr/write one "else refuse" or "else run"/,
        "tool t {\n ask a form { message x;\n else no; #!\n }\n $handler }"
    ],
    [
        'a field without a type', qr/invalid "field"; write its name/,
        "tool t {\n ask a form { message x;\n field b; #!\n }\n $handler }"
    ],
    [
        'a field of an unknown type', qr/invalid type "text" in "field"/,
        "tool t {\n ask a form { message x;\n field b text; #!\n }\n"
            . " $handler }"
    ],
    [
        'a field twice', qr/duplicate "field b"/,
        "tool t {\n ask a form { message x;\n field b string;\n"
            . " field b string; #!\n }\n $handler }"
    ],
    (
        map {
            my ($type, $word) = @$_;
            [
                "a field $type $word",
                qr/invalid "\Q$word\E" in "field" of type "$type"/,
                "tool t {\n ask a form { message x;\n field b $type $word; #!"
                    . "\n }\n $handler }"
            ]
        } map { [split] } 'boolean min=1', 'integer min=1.5',
        'integer default=x', 'number max=y', 'boolean default=1',
        'string min=-1', 'email one_of=a,b', 'string one_of=a,,b',
        'string maybe', 'date max=5'
    ),
    [
        'a schema of a form that is no object',
        qr/"schema" of a form must be \{"type":"object"/,
        "tool t {\n ask a form { message x;\n"
            . " schema '{\"type\":\"string\"}'; #!\n }\n $handler }"
    ],
    [
        'a nested schema of a form',
        qr/"schema" of a form may only have properties of the types/,
        "tool t {\n ask a form { message x;\n schema '{\"type\":\"object\","
            . "\"properties\":{\"a\":{\"type\":\"object\"}}}'; #!\n }\n"
            . " $handler }"
    ],
    [
        'a schema and fields', qr/ask "a" has "field" and "schema"/,
        "tool t {\n ask a form { message x; field b string;"
            . " schema '{\"type\":\"object\",\"properties\":{}}'; } #!\n"
            . " $handler }"
    ],
    [
        'an answer to nothing', qr/"\$tool_answer_b" names no "ask"/,
        "tool t {\n ask a form { message x; }\n return \$tool_answer_b; #!\n }"
    ],
    [
        'an answer without its field',
        qr/"\$tool_answer_a_c" names no "ask" of this block, or no field/,
        "tool t {\n ask a form { message x; field b string; }\n"
            . " return \$tool_answer_a_c; #!\n }"
    ],
    [
        'an action without an ask', qr/"\$tool_action_a" names no "ask"/,
        "tool t {\n return \$tool_action_a; #!\n }"
    ],
    [
        'an answer in code', qr/puts the caller's "\$tool_answer_a" into code/,
        "tool t {\n ask a form { message x; }\n"
            . " exec sh -c 'echo \$tool_answer_a'; #!\n }"
    ],
    [
        'ask_timeout without ask', qr/"ask_timeout" has no effect without/,
        "tool t {\n ask_timeout 5m;\n $handler } #!"
    ],
    [
        'a long ask_timeout', qr/invalid time "2d" in "ask_timeout"/,
        "tool t {\n ask a form { message x; }\n ask_timeout 2d; #!\n $handler }"
    ],
    [
        'a resource that asks and is read by itself',
        qr/"watch every=" cannot read a resource that asks/,
        "resource n:///a {\n ask a form { message x; }\n watch every=5s;\n"
            . " exec date; } #!"
    ],
    [
        'a state key without a file',
        qr/invalid "x" in "tool_state_key"; write file=PATH/,
        "tool_state_key x; #!\ntool t { $handler }"
    ],
    [
        'a short state key',
        qr/the key of "file=\S+short" has 5 bytes, and needs at least 32/,
        "tool_state_key file=$short; #!\ntool t { $handler }"
    ],
    [
        'a state key that others may read',
        qr/the secret "\S+open" can be read or changed by other users/,
        "tool_state_key file=$open; #!\ntool t { $handler }"
    ],
    [
        'a missing state key', qr/open\(\) "\S+missing" failed/,
        "tool_state_key file=$short-missing; #!\ntool t { $handler }"
    ],
    [
        'an MCP method of one\'s own',
        qr/invalid name "prompts\/get" of a method: .*another name/,
        "method prompts/get { #!\n $handler }"
    ],
);

for my $mistake (@mistakes) {
    my ($name, $pattern, $body) = @$mistake;
    conf_fails($tg, $body, $pattern, $name);
}

# Warnings: name, expected message, body.
for my $warning (
    [
        'a name that some agents reject',
        qr/\[warn\] name "a\.b" of a prompt: .*1 to 64/,
        "prompt a.b { $handler }"
    ],
    [
        'a URI of the web', qr{\[warn\] URI "https://a/" of a resource: .*fetch},
        "resource https://a/ { $handler }"
    ],
    [
        'a template of the web',
        qr{\[warn\] URI "https://a/\{x\}" of a resource_template: .*fetch},
        "resource_template https://a/{x} { $handler }"
    ],
    [
        'files of the web',
        qr{\[warn\] "uri=http://a/" of "resource_files": .*fetch},
        'resource_files /tmp uri=http://a/;'
    ],
    [
        'four arguments',
        qr/\[warn\] prompt "a" has 4 arguments; .*at most 3/,
        "prompt a { argument a; argument b; argument c; argument d; $handler }"
    ],
    [
        'a title with a blank', qr/\[warn\] the "title" of prompt "a" has blan/,
        "prompt a { title 'Code review'; $handler }"
    ],
    [
        'a template that is never used',
        qr{\[warn\] resource_template "n:a/\{x\}" is never used, as "n:\{\+},
        "resource_template 'n:{+x}' { $handler }\n"
            . "resource_template 'n:a/{x}' { $handler }"
    ],
    [
        'an optional argument as a word',
        qr/\[warn\] "\$tool_arg_x" is optional, and an empty word/,
        "prompt a { argument x; exec echo \$tool_arg_x; }"
    ],
) {
    my ($name, $pattern, $body) = @$warning;
    my ($status, $out) = $tg->test_conf($body);
    is $status, 0, "$name is allowed";
    like $out, $pattern, 'with a warning';
}

# A template without quotes is read whole, wherever NGINX's buffer of 4096 bytes
# ends.
my $template = 'n:///{+path}/{x}';
my @wrong;
for my $pad (4030 .. 4094) {
    $tg->file('pad.conf', '#' . 'x' x $pad
            . "\nresource_template $template { $handler }\n");
    my ($status, $out) = $tg->test_conf(
        "include pad.conf;\nresource_template '$template' { $handler }");
    push @wrong, "$pad: $out"
        if $out !~ /duplicate resource_template "\Q$template\E"/;
}
is join('', @wrong), '', 'a template without quotes is the same with quotes';

# Kinds have names of their own; what is usual gives no warning.
my ($status, $out) = $tg->test_conf(<<'END');
tool_list_ttl 1m public;
tool_server_title       Notes;
tool_server_description "The team's notes.";
tool_server_website     https://example.com/notes;
tool_server_icon        https://example.com/i.png image/png 48x48 96x96 dark;
tool_server_icon        "data:image/png;base64,AAAA" any;
tool a { description d; meta anthropic/alwaysLoad true; meta x '{"a":[1]}';
         icon https://a.b/c.svg image/svg+xml any light; return hi; }
prompt a { description d; title A; argument x required "An x.";
           argument y default=2 'pattern=^[0-9]{1,3}$';
           message user "$tool_arg_x $tool_arg_y";
           message assistant "$$5"; }
resource a:b { name a; title "A b"; mime "text/plain; charset=utf-8"; ttl 0;
               audience assistant user; priority 0.25; return "$tool_uri"; }
resource_template b:///{+path}/{z}
    { return "$tool_arg_path $tool_arg_z"; }
resource_template 'a:{x}/{y}{?z}' { argument z required; ttl 1h public;
    return "$tool_arg_x $tool_arg_y $tool_arg_z"; }
END
is $status, 0, 'a config without mistakes';
unlike $out, qr/\[warn\]/, 'has no warnings' or diag $out;

done_testing;
