#!/usr/bin/perl
# Callers' values in code: nginx -t rejects a command line with one within the
# text of code, and the correction that it proposes works. It warns of values
# that a program may take for options.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;

# Programs that may not be installed; nothing runs them.
mkdir "$dir/bin" or die "mkdir: $!\n";
for my $name (qw(zsh ksh ruby php8.2 node ssh sqlite3 psql mysql sudo docker
    kubectl busybox claude git jq make parallel wrapper pwsh)) {
    $tg->file("bin/$name", "#!/bin/sh\n");
    chmod 0755, "$dir/bin/$name" or die "chmod: $!\n";
}
$tg->file('bin/mine', "#!/bin/sh\nprintf '[%s]' \"\$@\"\n");
chmod 0755, "$dir/bin/mine" or die "chmod: $!\n";
symlink '/bin/sh', "$dir/bin/other" or die "symlink: $!\n";

sub in_dir {
    my ($text) = @_;
    return $text =~ s{(^|[ |])~/}{$1$dir/bin/}gr;
}

# A command line, its interpreter, and the expected correction.
my $shell = qr/"sh -c '\.\.\. "\$1"' sh \$tool_arg_x", with "\$\$1" for/;
my @code = (
    [ 'sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ 'bash -ec "echo $tool_arg_x"', 'bash', $shell ],
    [ '/bin/dash -c "echo $tool_arg_x"', 'dash', $shell ],
    [ '~/zsh -o pipefail -c "echo $tool_arg_x"', 'zsh', $shell ],
    [ '~/ksh -c "echo ${tool_arg_x.y}"', 'ksh', qr/sh \$\{tool_arg_x\.y\}"/ ],
    [ '~/other -c "echo $tool_arg_x"', 'dash|bash|sh', $shell ],
    [ 'sh -c "echo $tool_arguments"', 'sh', qr/sh \$tool_arguments"/ ],
    [ 'sh -c "echo $tool_json_x"', 'sh', qr/sh \$tool_json_x"/ ],
    [ 'sh -c "$tool_arg_y $tool_arg_x"', 'sh', qr/sh \$tool_arg_y"/ ],
    [
        'python3 -c "print(\'$tool_arg_x\')"', 'python3',
        qr/"python3 -c '\.\.\. sys\.argv\[1\] \.\.\.' \$tool_arg_x"/
    ],
    [
        'perl -ne "print if /$tool_arg_x/"', 'perl',
        qr/"perl -e '\.\.\. \$ARGV\[0\] \.\.\.' -- \$tool_arg_x"/
    ],
    [ '~/ruby -e "puts \'$tool_arg_x\'"', 'ruby', qr/"ruby -e .* \$tool_arg/ ],
    [ '~/php8.2 -r "echo \'$tool_arg_x\';"', 'php8.2', qr/"php -r .* \$tool/ ],
    [ '~/node -e "f(\'$tool_arg_x\')"', 'node', qr/"node -e .* \$tool_arg_x/ ],
    [ '~/node --eval=f($tool_arg_x)', 'node', qr/"node -e .* \$tool_arg_x/ ],
    [ 'awk "/$tool_arg_x/" f', 'awk', qr/"env NAME \$tool_arg_x;".*ENVIRON/ ],
    [
        '~/ssh host "ls $tool_arg_x"', 'ssh',
        qr/'xargs -0r PROGRAM --'" with "stdin \$tool_arg_x;"/
    ],
    [ '~/ssh host ls $tool_arg_x', 'ssh', qr/all words after the host into/ ],
    [
        '~/sqlite3 a.db "SELECT \'$tool_arg_x\'"', 'sqlite3',
        qr/bind it as a parameter.*execute.* \$tool_arg_x/
    ],
    [
        '~/psql -c "SELECT \'$tool_arg_x\'"', 'psql',
        qr/parameter of psql, "psql -v x=\$tool_arg_x"/
    ],
    [ '~/mysql -e "SELECT \'$tool_arg_x\'"', 'mysql', qr/as a parameter of/ ],
    [ 'env -i A=b sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ 'env -S "sh -c" "echo $tool_arg_x"', 'sh', $shell ],
    [ 'env -S "sh -c \'echo $tool_arg_x\'"', 'env', qr/a separate word/ ],
    [ 'nice -n 5 timeout 9 ~/sudo sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ '~/docker exec -i box sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ '~/kubectl exec pod -- sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ '~/busybox sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ 'find /srv -exec sh -c "echo $tool_arg_x" ";"', 'sh', $shell ],
    [ 'xargs -0 sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ 'bash +x -c "echo $tool_arg_x"', 'bash', $shell ],
    [ 'sh -c "echo $tool_client_version"', 'sh', qr/sh \$tool_client_version/ ],
    [ 'sh -c "echo $tool_client_via"', 'sh', qr/sh \$tool_client_via/ ],
    [
        '~/docker run --rm --entrypoint sh -v a:b image -c "ls $tool_arg_x"',
        'sh', $shell
    ],
    [ '~/wrapper -- sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ 'python3 x.py sh -c "echo $tool_arg_x"', 'sh', $shell ],
    [ '~/parallel "ls $tool_arg_x" ::: a', 'parallel', qr/"env NAME / ],
    [ '~/pwsh -Command ls $tool_arg_x', 'pwsh', qr/"env NAME / ],
    [ '~/make NAME=$tool_arg_x', 'make', qr/"env NAME / ],
    [ '~/git -c "alias.a=!ls $tool_arg_x" a', 'git', qr/"env NAME / ],
    [
        '~/ssh -o "ProxyCommand=nc $tool_arg_x 22" host ls', 'ssh',
        qr/\$tool_arg_x/
    ],
    [
        '~/jq ".[\\"$tool_arg_x\\"]" f', 'jq',
        qr/"jq --arg x \$tool_arg_x '\.\.\. \$x \.\.\.'", with "\$\$x" for/
    ],
    [ 'sh -c "echo $far"', 'sh', qr/the caller's "\$far"/ ],
    [ 'sh -c "echo $near"', 'sh', qr/the caller's "\$near"/ ],
    [ 'sh -c "echo $named"', 'sh', qr/the caller's "\$named"/ ],
    [ 'sh -c "echo $again"', 'sh', qr/the caller's "\$again"/ ],
    [ 'sh -c "echo $part"', 'sh', qr/the caller's "\$part"/ ],
);
my $stream = <<'END';
map $tool_arg_x $again { default a-$named; }
map $tool_arg_x $named { default ''; ~^(.*)x "$1"; }
map $tool_arg_x $flag  { default ''; on --all; }
map $tool_arg_x $y     { ~^(?<part>.*)$ 1; }
include conf.d/*.conf;
map $far $near         { default $far; }
END
mkdir "$dir/conf.d" or die "mkdir: $!\n";
$tg->file('conf.d/maps.conf',
    'map $tool_arg_x $far { default "$tool_arg_x"; }');

for my $case (@code) {
    my ($line, $name, $remedy) = @$case;
    my $said = qr/"exec" puts the caller's "[^"]+" into code that "(?:$name)"/;
    conf_fails_at($tg,
        "tool a {\n description d;\n exec " . in_dir($line) . "; #!\n}",
        [ qr/\[emerg\].*$said runs/, $remedy ], $line, stream => $stream);
}

# On arg lines, in tasks.
for my $body ("tool a { exec sh;\n arg -c;\n arg 'echo \$tool_arg_x' if=\$x; }",
    'tool a { exec sh; arg -c "echo $tool_arg_x" each; }',
    'method a { exec sh -c "echo $tool_arg_x"; }',
    'task_agent a { exec sh -c "echo $task_prompt"; default; }',
    'task_agent a { exec env sh -c "ls $task_cwd"; default; }',
    'task_agent * { exec sh -c "ls $task_agent"; }') {
    conf_fails($tg, $body,
        qr/puts the caller's "\$t\w+" into code that "sh" runs/, undef,
        stream => 'map $tool_arg_x $x { default 1; }');
}

# Allowed, without a warning.
for my $line ('sh -c $tool_arg_x', 'sh -c "${tool_arg_x}"',
    q{sh -c 'echo "$$1"' sh $tool_arg_x}, 'sh -c "echo $tool_name $flag"',
    '~/ssh host $tool_arg_z', '~/psql -c $tool_arg_x',
    'python3 -c "import sys" $tool_arg_x', 'grep -c -e "a $tool_arg_x" -- f',
    'sed -n "$tool_arg_n,$$p" /etc/passwd', 'echo "sh -c $tool_arg_x"',
    'sed -n "/$tool_arg_z/p" /etc/passwd', '~/jq ".[$tool_arg_n]" f',
    '~/jq --arg x "a $tool_arg_x" ".[$$x]" f', '~/make TAG=$tool_arg_z all',
    '~/parallel gzip ::: "a $tool_arg_x"', 'grep -e sh -c "a $tool_arg_x" f',
    'env "A=$tool_arg_x" sh -c "echo $$A"',
    '~/docker run --entrypoint python3 image x.py -c "conf/$tool_arg_x"',
    'find /srv -name python -cnewer "ref/$tool_arg_x"',
    '~/wrapper -- ~/ssh "a $tool_arg_x"') {
    my ($status, $out) = $tg->test_conf(
        'tool a { description d; input_schema \'{"type":"object","properties":'
            . '{"x":{"type":"string"},"n":{"type":"integer"},'
            . '"z":{"pattern":"^[a-z]"}},"required":["x","n","z"]}\'; exec '
            . in_dir($line) . '; }', stream => $stream);
    is $status, 0, "$line is allowed" or diag $out;
    unlike $out, qr/\[warn\]/, 'without a warning';
}

# Code on the standard input.
my $sql = q{stdin "SELECT * FROM t WHERE a = '$tool_arg_x'";};
for my $case ([ '{}', 1 ], [ '{"type":"string"}', 1 ],
    [ '{"type":"string","pattern":"^[a-z]+$$"}', 0 ],
    [ '{"enum":["a","b"]}', 0 ], [ '{"type":"integer"}', 0 ]) {
    my ($schema, $is_warned) = @$case;
    $schema =~ s/\$\$/\$/g;
    my ($status, $out) = $tg->test_conf(
        "tool a { description d; exec $dir/bin/sqlite3 a.db; $sql input_schema"
            . " '{\"type\":\"object\",\"properties\":{\"x\":$schema}}'; }");
    is $status, 0, "stdin with $schema loads" or diag $out;
    is $out =~ /\[warn\].*"stdin" puts the caller's "\$tool_arg_x" into code/,
        $is_warned ? 1 : '', $is_warned ? 'with a warning' : 'without one';
}

for my $body ('task_agent a { exec sh -c "ls $task_agent"; default; }',
    'task_agent * { exec sh -c $task_agent; }',
    'task_agent * { exec ls --x $task_agent; }') {
    my ($status, $out) = $tg->test_conf($body);
    is $status, 0, "$body loads" or diag $out;
    unlike $out, qr/"\$task_agent"/, 'without a warning';
}

for my $case ([ 'sh; stdin "ls $task_cwd"' => 1 ],
    [ 'sh; stdin $task_prompt' => 0 ], [ 'cat; stdin "a $task_prompt"' => 0 ],
    [ 'bash -s a; stdin "a $task_prompt"' => 1 ]) {
    my ($body, $is_warned) = @$case;
    my ($status, $out) =
        $tg->test_conf("task_agent a { exec $body; default; }");
    is $status, 0, "a task with $body loads" or diag $out;
    is $out =~ /\[warn\].*"stdin" puts the caller's "\$task_\w+" into code/,
        $is_warned ? 1 : '', $is_warned ? 'with a warning' : 'without one';
}

# A rule's event in a prompt that is code.
for my $case ([ 'sh -c $task_prompt', 'wc {{path}}' => 1 ],
    [ 'sh -c $task_prompt', 'date' => 0 ],
    [ q{sh -c 'wc "$$1"' sh $task_prompt}, '{{path}}' => 0 ]) {
    my ($exec, $prompt, $is_warned) = @$case;
    my ($status, $out) = $tg->test_conf(
        "task_agent a { exec $exec; default; }\nautomation r {\n"
            . " trigger file $dir glob=*.md;\n agent a '$prompt';\n}");
    is $status, 0, "a rule with $prompt for $exec loads" or diag $out;
    is $out =~ /\[warn\] rule "r" puts values of its event .*test\.conf:\d+/,
        $is_warned ? 1 : '', $is_warned ? 'with a warning' : 'without one';
}

# Possible options: the schema of x, the words, and whether there is a warning.
my $must = '"type":"string"';
my @options = (
    [ $must, '~/git log $tool_arg_x', 1 ],
    [ $must, '~/git log ${tool_arg_x}..HEAD', 1 ],
    [ $must, '~/git log -- $tool_arg_x', 0 ],
    [ $must, '~/git log --end-of-options $tool_arg_x', 0 ],
    [ $must, '~/git log --author=$tool_arg_x', 0 ],
    [ $must, '~/git log --author $tool_arg_x', 0 ],
    [ $must, '~/git log ./$tool_arg_x', 0 ],
    [ $must, '~/sudo -n -- ~/git log $tool_arg_x', 1 ],
    [ $must, 'python3 script.py $tool_arg_x', 1 ],
    [ '"type":"integer"', '~/git log $tool_arg_x', 0 ],
    [ '"type":["integer","null"]', '~/git log $tool_arg_x', 0 ],
    [ '"enum":["a","b"]', '~/git log $tool_arg_x', 0 ],
    [ '"enum":["a","-b"]', '~/git log $tool_arg_x', 1 ],
    [ '"const":"a"', '~/git log $tool_arg_x', 0 ],
    [ '"pattern":"^[^-]"', '~/git log $tool_arg_x', 0 ],
    [ '"pattern":"^[\\\\\\\\w.-]+$"', '~/git log $tool_arg_x', 1 ],
    [ '"pattern":"[a-z]"', '~/git log $tool_arg_x', 1 ],
    [ '"$ref":"#/$defs/n"', '~/git log $tool_arg_x', 0 ],
    [ '"anyOf":[{"type":"integer"},{"enum":["all"]}]',
        '~/git log $tool_arg_x', 0 ],
    [ '"anyOf":[{"type":"integer"},{"type":"string"}]',
        '~/git log $tool_arg_x', 1 ],
    [ '"items":{"pattern":"^[a-z]"}',
        "~/git log; arg \$tool_arg_x each", 0 ],
    [ '"items":{"type":"string"}', "~/git log; arg \$tool_arg_x each", 1 ],
    [ $must, '~/git log; arg -- $tool_arg_x', 0 ],
    [ $must, '~/git log; arg --; arg $tool_arg_x', 0 ],
    [ $must, '~/git log; arg -- if=$tool_has_x; arg $tool_arg_x', 1 ],
    [ $must, '~/git log; arg -n if=$tool_has_x; arg $tool_arg_x', 1 ],
    [ $must, '~/git log; validate off; arg $tool_arg_x', 1 ],
    [ '"type":"integer"', '~/git log $tool_arg_x; validate off', 1 ],
);
for my $case (@options) {
    my ($schema, $line, $is_warned) = @$case;
    my ($status, $out) = $tg->test_conf(
        'tool a { description d; exec ' . in_dir($line) . '; input_schema '
            . "'{\"type\":\"object\",\"properties\":{\"x\":{$schema}},"
            . '"required":["x"],"$defs":{"n":{"type":"integer"}}}\'; }');
    is $status, 0, "$line with $schema loads" or diag $out;
    my $said = qr/"\$\{?tool_arg_x\}?" may begin with "-", .*"--" before it/;
    is $out =~ /\[warn\].*$said, or "--OPTION=.*"pattern"/,
        $is_warned ? 1 : '', $is_warned ? 'with a warning' : 'without one';
}
my ($status, $out) = $tg->test_conf(
    "task_agent a { exec $dir/bin/claude \$task_prompt; default; }");
is $status, 0, 'a task with a prompt that may be an option loads';
like $out, qr/\[warn\].*"\$task_prompt" may begin with "-", and "claude"/,
    'with a warning';
unlike $out, qr/input_schema/, 'which has no schema';

# The correction for a pipe.
($status, $out) = $tg->test_conf(
    'tool a { description d; exec cat f "|" wc; }');
like $out, qr/"\|" of "exec" .*"exec sh -c '.*"\$1".*' sh \$tool_arg_NAME"/,
    'the advice about a pipe leads to the safe form';
($status, $out) = $tg->test_conf(
    'task_agent a { exec cat f "|" wc; default; }');
like $out, qr/\[warn\].*"\|" of "exec"/, 'a pipe in a task is warned of';

# --- the corrections work ---------------------------------------------------

$tg->conf(<<'END', stream => <<'STREAM')->start;
tool raw    { output json; return '{"a":$raw}'; }
tool name   { output json; return '{"a":$tool_client_name}'; }
tool shell  { exec sh -c 'printf "<%s>" "$$1"' sh $tool_arg_x; }
tool python { exec python3 -c 'import sys; print(sys.argv[1])' $tool_arg_x; }
tool perl   { exec perl -e 'print $$ARGV[0]' -- $tool_arg_x; }
tool awk    {
    exec awk 'BEGIN { printf "%s", ENVIRON["X"] }';
    env  X $tool_arg_x;
}
tool xargs  { exec sh -c 'xargs -0r printf "<%s>"'; stdin $tool_arg_x; }
tool json {
    output json;
    return '{"a":"<$tool_arg_x>","b":$tool_arg_x,"c":$tool_json_x,
             "d":"$tool_json_x","n":$tool_client_uid,"e":"${tool_arg_o.p}"}';
}
tool result {
    output result;
    return '{"content":[{"type":"text","text":"$tool_arg_x"}]}';
}
tool text   { return '{"a":"$tool_arg_x"}'; }
tool whole  { output json; return $tool_arg_x; }
method m    { return '["$tool_arg_x"]'; }
END
map $tool_arg_x $raw { default $tool_arg_x; none ''; }
STREAM

my $client = $tg->connect;
my $evil = "'; id; \"\$(id)\"; x' -e \n{}";
for my $case ([ shell => "<$evil>" ], [ python => "$evil\n" ],
    [ perl => $evil ], [ awk => $evil ], [ xargs => "<$evil>" ]) {
    my ($name, $text) = @$case;
    is text_of($client->call_tool($name => { x => $evil })), $text,
        "$name: a value is a value";
}

# In JSON, too.
for my $value ('","admin":true,"x":"', "\\", "\x{1}\n\"", '') {
    my $json = $client->encode($value);
    is_deeply $client->call_tool(
        json => { x => $value, o => { p => $value } })
        ->{result}{structuredContent},
        { a => "<$value>", b => $value, c => $value, d => $json, n => $>,
            e => $value }, "return in JSON: $json";
    is_deeply $client->call_tool(result => { x => $value })->{result}{content},
        [ { type => 'text', text => $value } ], 'in a result';
    is_deeply $client->rpc(m => { x => $value })->{result}, [$value],
        'of a method';
}
is_deeply $client->call_tool('json')->{result}{structuredContent},
    { a => '<>', b => undef, c => undef, d => 'null', n => $>, e => '' },
    'what is missing is null outside of quotes';

# Outside of quotes a value is one value, from any source.
for my $case ([ '{"x":[1]}', { x => [1] } ], [ '"y"', 'y' ], [ 1, 1 ]) {
    is_deeply $client->call_tool(raw => { x => "$case->[0]" })
        ->{result}{structuredContent}, { a => $case->[1] }, "raw $case->[0]";
}
for my $x ('1,"admin":true', '1}', 'none', 'word') {
    my $result = $client->call_tool(raw => { x => $x })->{result};
    ok $result->{isError}, "raw $x is an error";
    like $result->{content}[0]{text},
        $x eq 'none' ? qr/not one valid JSON value/
        : qr/outside quotes .* is not a single JSON value/, 'and why';
}
my $named = $tg->connect;
$named->rpc('initialize', {
    protocolVersion => '2025-06-18',
    capabilities    => {},
    clientInfo      => { name => '1,"admin":true', version => '1' },
});
ok $named->call_tool('name')->{result}{isError}, 'so is the name of a client';

is text_of($client->call_tool(text => { x => '"' })), '{"a":"""}',
    'text is no JSON';
is_deeply $client->call_tool(whole => { x => '{"y":[1]}' })
    ->{result}{structuredContent}, { y => [1] }, 'a value alone is JSON itself';

done_testing;
