#!/usr/bin/perl
# What nginx -t adds to NGINX's own message: the directive that was probably
# meant, and the line at whose end a ";" is probably missing.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $tasks = 'task_store sqlite:tasks.db;';

# A name, the hint (undef: none), and the body of a server.  "#!" ends the line
# where a ";" is missing.
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
        'the end of a tool', qr/"return" has no end; a ";" is probably missing/,
        "tool a {\n return hi #!\n\n}"
    ],
    [
        'the end of a task_agent', qr/"exec" has no end; a ";" is/,
        "$tasks\ntask_agent a {\n exec true #!\n}"
    ],
    [
        'a directive of a server',
        qr/"tool_protocol" has "tool" as an argument; a ";" is .* before "tool/,
        "tool_protocol mcp\ntool a {\n return hi;\n}"
    ],
);

# A ";" that is missing behind a directive that takes any number of words.
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

# The place in an included file is that of NGINX's own message.
$tg->file('part.conf', "\n\ndescripton x;\n");
my ($failed, $both) = $tg->test_conf("tool a {\n include part.conf;\n}");
isnt $failed, 0, 'a misspelled directive in an included file';
like $both, qr/unknown directive "descripton" in .*part\.conf:3$/m, 'its place';
like $both, qr/"descripton" is not .* mean "description"\?$/m, 'and the hint';

# A server goes on with its config if the next one is refused.
$tg->conf("tool a {\n return hi;\n}");
$tg->start;
for my $case (
    [ "tool a {\n return hi\n}", qr/"return" has no end; a ";" is probably/ ],
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

# Those that NGINX refuses, and those that it does not.
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
