#!/usr/bin/perl
# Additions of nginx -t to NGINX's own message: the directive that was probably
# meant, and the line without a ";".

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $tasks = 'task_store sqlite:tasks.db;';

# Name, hint (undef: none), and the body of a server. "#!" ends the line where a
# ";" is missing.
my @mistakes = (
    [
        'a misspelled directive of a tool',
        qr/"descripton" is not a dir.* of this block; did you mean "descript/,
        "tool a {\n descripton x;\n return hi;\n}"
    ],
    [
        'a handler', qr/"exce" is not .* did you mean "exec"\?/,
        "tool a {\n exce true;\n}"
    ],
    [
        'a directive of a method', qr/"retrun" .* did you mean "return"\?/,
        "method a {\n retrun 1;\n}"
    ],
    [
        'a server\'s directive in a tool', qr/"tool_timeout" .* "timeout"\?/,
        "tool a {\n tool_timeout 5s;\n return hi;\n}"
    ],
    [
        'a directive of an mcp_server', qr/"prefx" .* did you mean "prefix"\?/,
        "mcp_server a {\n exec true;\n prefx b_;\n}"
    ],
    [
        'a directive of a task_agent', qr/"exce" .* did you mean "exec"\?/,
        "$tasks\ntask_agent a {\n exce true;\n}"
    ],
    [
        'a directive of a rule', qr/"triger" .* did you mean "trigger"\?/,
        "$tasks\nautomation a {\n triger cron '0 3 * * *';\n}"
    ],
    [
        'a directive of a server', qr/"toll" .* did you mean "tool"\?/,
        "toll a {\n return hi;\n}"
    ],
    [
        'a tool\'s directive in a server', qr/"timeout" .* "tool_timeout"\?/,
        "timeout 5s;\ntool a {\n return hi;\n}"
    ],
    [
        'the word of other configs', qr/"command" is not .* mean "exec"\?/,
        "mcp_server a {\n command npx;\n prefix b_;\n}"
    ],
    [
        'a schema\'s other name', qr/"parameters" .* mean "input_schema"\?/,
        "tool a {\n return hi;\n parameters '{}';\n}"
    ],
    [
        'NGINX\'s own word', qr/"proxy_pass" is not .* mean "pass"\?/,
        "tool a {\n proxy_pass 127.0.0.1:1;\n}"
    ],
    [
        'a comment of other languages',
        qr{"//" is not a directive of this block; a comment begins with "#"},
        "tool a {\n // hi\n return hi;\n}"
    ],
    [
        'a tool within another',
        qr/"tool" is not .*the "}" that ends the block/,
        "tool a {\n return hi;\n tool b {\n return hi;\n }\n}"
    ],
    [
        'a short word', undef, "tool a {\n set \$x 1;\n return hi;\n}"
    ],
    [ 'a word with our prefix', undef, "tool_group a {\n return hi;\n}" ],
    [ 'no word that is near', undef, "tool a {\n zzzz;\n return hi;\n}" ],
    [ 'another mistake', undef, "tool a {\n return hi;\n output x;\n}" ],

    # no ";"
    [
        'a directive after one without ";"',
        qr/"description" has "return" of the next .*";" is probably missing/,
        "tool a {\n description x #!\n\n # Says hi.\n return hi;\n}"
    ],
    [
        'a schema after one without ";"',
        qr/"return" has "input_schema" of the next line/,
        "tool a {\n return hi # hi #!\n input_schema '{\n\"a\":1}';\n}"
    ],
    [
        'the end of a tool',
        qr/"return" is not terminated; a ";" is probably missing/,
        "tool a {\n return hi #!\n\n}"
    ],
    [
        'the end of a task_agent', qr/"exec" is not terminated; a ";" is/,
        "$tasks\ntask_agent a {\n exec true #!\n}"
    ],
    [
        'a directive of a server',
        qr/"tool_protocol" has "tool" as an argument; a ";" is .* before "tool/,
        "tool_protocol mcp\ntool a {\n return hi;\n}"
    ],
);

# A missing ";" after a directive with any number of arguments.
my @advice = (
    [
        'a tool\'s program', qr/"exec" has "timeout" of the next line/,
        "tool a {\n description x;\n exec true #!\n timeout 5s;\n}"
    ],
    [
        'a task_agent\'s program', qr/"exec" has "env" of the next line/,
        "$tasks\ntask_methods on;\ntask_agent a {\n exec true #!\n env A b;\n}"
    ],
    [
        'an mcp_server\'s program', qr/"exec" has "prefix" of the next line/,
        "mcp_server a {\n exec true #!\n prefix b_;\n}"
    ],
    [
        'arguments', qr/"arg" has "timeout" of the next line/,
        "tool a {\n description x;\n exec true;\n arg -v #!\n timeout 5s;\n}"
    ],
    [
        'patterns', qr/"hide" has "prefix" of the next line/,
        "mcp_server a {\n exec true;\n hide x #!\n prefix b_;\n}"
    ],
    [
        'hosts of a server', qr/"tool_hosts" has "tool_allow" of the next line/,
        "tool_hosts a.example #!\n tool_allow all;\n"
            . "tool a {\n description x;\n return hi;\n}"
    ],
    [
        'a name within a line', undef,
        "tool a {\n description x;\n exec echo env\n x timeout;\n}"
    ],
    [
        'a name at the start of a line above', undef,
        "tool a {\n description x;\n timeout 5s;\n exec echo timeout;\n}"
    ],
);

# Agents that nothing can start, and others.
my $agent = "$tasks\ntask_agent a {\n exec true;\n}";
for my $case (
    [ 'nothing' => 1 ],
    [ 'methods off' => 1, 'task_methods off;' ],
    [ 'a tool' => 1, "tool t {\n description x;\n return hi;\n}" ],
    [ 'task_methods' => 0, 'task_methods on;' ],
    [ 'task_tools' => 0, 'task_tools on;' ],
    [ 'a rule' => 0, "automation r {\n trigger cron \@daily;\n agent a x;\n}" ],
    [ 'one of b' => 1, "automation r {\n trigger cron \@daily;\n agent b;"
            . "\n}\ntask_agent b {\n exec true;\n}" ],
    [ 'the default\'s rule' => 1, "automation r {\n trigger cron \@daily;\n"
            . " agent '';\n}\ntask_agent b {\n exec true;\n default;\n}" ],
) {
    my ($name, $is_said, $more) = @$case;
    my $body = "$agent #!\n" . ($more // '');
    my ($status, $out) = $tg->test_conf($body);
    my $line = line_of($body) - 2;
    my ($said) = grep {/\[warn\] task_agent "/} split /\n/, $out;
    is $status, 0, "an agent and $name: allowed" or diag $out;
    like $said // '', $is_said
        ? qr/"a" gets no tasks: .*add "task_methods on".*test\.conf:$line$/
        : qr/^$/, 'what can start it';
    unlike $out, qr/task_agent "b" gets/, 'the other one has tasks';
}

# In an included file, NGINX's own message names the file.
$tg->file('part.conf', "\n\ndescripton x;\n");
my ($failed, $both) = $tg->test_conf("tool a {\n include part.conf;\n}");
isnt $failed, 0, 'a misspelled directive in an included file';
like $both, qr/unknown directive "descripton" in .*part\.conf:3$/m, 'its place';
like $both, qr/"descripton" is not .* mean "description"\?$/m, 'and the hint';

# A server keeps its config if the next one is rejected.
$tg->conf("tool a {\n return hi;\n}");
$tg->start;
for my $case (
    [ "tool a {\n return hi\n}", qr/"return" is not terminated; a ";" is/ ],
    [ 'toll a { return hi; }', qr/"toll" is not a directive of this block; / ],
) {
    my ($body, $hint) = @$case;
    $tg->reload_fails($body);
    $tg->wait_log($hint);
    my $client = $tg->connect;
    is text_of($client->call_tool('a')), 'hi', 'the old config still answers';
}
$tg->allow_log(qr/unexpected|unknown directive|is probably|did you mean/);
$tg->stop;

sub line_of {
    my ($body) = @_;
    my $text = $tg->conf_text($body);
    return scalar grep {1} split /^/, substr $text, 0, 1 + index $text, '#!';
}

# Number of arguments of a directive, and what was probably meant.
for my $case (
    [ "tool a {\n description Says hi;\n return hi;\n}",
        qr/"description" takes 1 argument, not 2; .*between quotes.*conf:\d+/ ],
    [ "tool a {\n description Says it's me;\n return hi;\n}",
        qr/"description" takes 1 argument, not 3; .*between quotes/ ],
    [ "tool a {\n description = hi;\n return hi;\n}",
        qr/"description" takes 1 argument, not 2; remove the "=" or ":"/ ],
    [ "tool a {\n return hi;\n description;\n}",
        qr/"description" takes 1 argument, not 0; one is missing/ ],
    [ "tool a {\n http GET http://127.0.0.1/;\n header 'A: b';\n}",
        qr/"header" takes 2 arguments, not 1; write a blank, not ":" or/ ],
    [ "tool a {\n http http://127.0.0.1/;\n}",
        qr/"http" takes 2 to 3 arguments, not 1; one is missing/ ],
    [ "tool a {\n exec true;\n env A b c;\n}",
        qr/"env" takes 1 to 2 arguments, not 3; / ],
    [ "tool a {\n exec;\n}", qr/"exec" takes at least 1 argument, not 0; / ],
    [ "tool a {\n clients all;\n}",
        qr/"clients" takes no argument, not 1; remove / ],
    [ "tool a b {\n return hi;\n}",
        qr/"tool" takes 1 argument, not 2; write one name, without blanks/ ],
    [ "tool {\n return hi;\n}",
        qr/"tool" takes 1 argument, not 0; write a name before the "\{"/ ],
    [ "tool a {\n input_schema {\"type\":\"object\"};\n return hi;\n}",
        qr/"input_schema" is not a block, .*JSON, .*between single quotes/ ],
    [ "tool a {\n exec echo {{name}};\n}", qr/"exec" is not a block, but/ ],
    [ "prompt a {\n argument x pattern=^[a-f]{7}\$;\n return hi;\n}",
        qr/"argument" is not a block, .*the whole word .*'pattern=\^\[a-f\]/ ],
    [ "prompt a {\n argument x pattern='^[a-f]{7}\$';\n return hi;\n}",
        qr/"argument" is not a block, .*the whole word .*'pattern=\^\[a-f\]/ ],
    [ "resource_files /usr;", qr/"resource_files" has no uri=; write what / ],
    [ "skills /usr uri=;", qr{"skills" needs what the .*"uri=skill://team/"} ],
    [ "skills /none;", qr{"/none" of "skills" cannot be used.*No such file} ],
    [ "skills /etc/passwd;", qr{"/etc/passwd" of "skills" is not a folder} ],
    [ "skills /usr match=a;", qr/invalid parameter "match=a" of "skills"; / ],
    [ "skills /usr recursive;", qr/invalid parameter "recursive" of "skills"/ ],
    [ "skills /usr max=0;", qr/invalid "max=0" of "skills"; write the number/ ],
    [ "skills /usr hide=[;", qr/invalid pattern in "hide=\[" of "skills": / ],
    [ "skills /usr;\nskills /usr;", qr{duplicate "uri=skill://" of "skills"} ],
    [ "skills /usr;\nskills /etc uri=skill://a/;",
        qr{"uri=skill://a/" of "skills" begins with "skill://" .*before that} ],
    [ "resource {\n return hi;\n}",
        qr/"resource" takes 1 argument, not 0; write a URI before the "\{"/ ],
    [ "resource_template {\n return hi;\n}",
        qr/"resource_template" takes .*; write a template before the "\{"/ ],

    # JSON that is not valid for any values of its variables.
    (map {
        [ "tool a {\n output json;\n return '$_';\n}",
            qr/tool "a" never returns valid JSON, whatever .* correct the/ ]
    } '{"a":"$tool_arg_x"', '{"a":"q \" $tool_arg_x"}', '{$tool_arg_x}',
        '["$tool_client_name",]'),

    # Values from other programs' configs.
    [ "tool a {\n return hi;\n}\nlisten /run/x.sock;",
        qr{"/run/x\.sock" is the path .* write "listen unix:/run/x\.sock"} ],
    [ "tool a {\n exec 'ls -l';\n}",
        qr/"ls -l" of "exec" cannot be run; .*separate words, with/ ],
    [ "tool a {\n exec A=b true;\n}",
        qr/"A=b" of "exec" cannot be run; write "env NAME VALUE;"/ ],
    [ "tool a {\n exec cd /;\n}",
        qr/"cd" of "exec" .* a shell command, not.* "cwd PATH;"/ ],
    [ "tool a {\n exec export A=b;\n}",
        qr/"export" of "exec" .* a shell command, not.* "exec sh -c/ ],
    [ "tool a {\n pass /x.sock;\n}",
        qr/"pass" directive needs .*"unix:\/PATH"/ ],
    [ "tool a {\n pass http://127.0.0.1;\n}",
        qr/"pass" directive needs .*"http METHOD URL"/ ],
    [ "tool a {\n return hi;\n"
            . " input_schema '{\xe2\x80\x9ca\xe2\x80\x9d:1}';\n}",
        qr/not valid JSON: .* replace the typographic quotes in it by " in/ ],
    [ "$tasks\ntask_agent a {\n exec true;\n}\nautomation r {\n"
            . " trigger cron 0 3 * * *;\n agent a;\n}",
        qr/invalid parameter "3" in "trigger"; .*five fields in quotes/ ],
) {
    my ($body, $pattern) = @$case;
    conf_fails($tg, $body, qr/\[emerg\].*$pattern/m);
}

# Errors of NGINX, and warnings.
for my $case ((map { [ 'emerg', @$_ ] } @mistakes),
    (map { [ 'warn', @$_ ] } @advice))
{
    my ($level, $name, $pattern, $body) = @$case;
    my ($status, $out) = $tg->test_conf($body);
    my $hint = qr/is not a directive of this block|is probably missing/;
    my @said = grep {/\[$level\].*$hint/} split /\n/, $out;

    is $status == 0, $level eq 'warn', "$name: status" or diag $out;

    if (!defined $pattern) {
        is "@said", '', 'no hint';
        next;
    }

    # On stderr and in the log.
    my %seen;
    is scalar(grep { !$seen{ s/^.*?\]\s*|\d+#\d+: //gr }++ } @said), 1,
        'one hint' or diag $out;
    like $said[0] // $out, $pattern, 'what was meant';

    if ($body =~ /#!/) {
        my $line = line_of($body);
        like $said[0] // $out, qr/at the end of line $line\b/, 'and where';
    }
}

done_testing;
