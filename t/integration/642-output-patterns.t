#!/usr/bin/perl
# Patterns of toolgate_output that take very long to match: each ends soon with
# an error, and neither tasks nor other searches wait, also if their clients
# have closed.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $text = "start\n" . 'a' x 200 . "\n" . 'a' x 16384 . "\nneedle\n";
$tg->file('all', $text);
$tg->conf(<<"END_OF_CONF")->start;
task_methods on;
task_agent a { exec cat; stdin \$task_prompt; default; }
tool many { exec cat $dir/all; max_output 1k spill; }
END_OF_CONF

my $c = $tg->connect;
my ($key) = text_of($c->call_tool('many')) =~ /"output":"(\w{32})"/;
ok $key, 'there is a large output';
my $id = $c->rpc('task.submit', { prompt => 'x' })->{result}{taskId};
ok $id, 'and a store of tasks';

my @evil = (
    '(a*)*' x 40 . '[xy]',
    '(a|b)*a' . '.' x 240 . '[xy]',
    '([ab]+)*[xy]',
    '(?:.*a){20}[xy]',
    '(?:a|a?)+[xy]',
    '(.*)\1*[xy]',
    '.*.*.*.*.*.*.*[xy]',
);

# By clients that close at once: more than any pool has threads.
for my $pattern (@evil, @evil) {
    my $gone = $tg->connect;
    $gone->request('tools/call', { name => 'toolgate_output',
        arguments => { output => $key, pattern => $pattern } });
    $gone->rpc('ping');
    $gone->close;
}

my $list = $c->rpc('task.list');
is $list->{result}[0]{id}, $id, 'task.list answers';
ok $c->rpc('task.submit', { prompt => 'y' })->{result}{taskId},
    'task.submit, too';
my $found = $c->call_tool('toolgate_output',
    { output => $key, pattern => '^ne{2}d' });
is $found->{result}{content}[0]{text}, "4:needle\n", 'and a search';
$found = $c->call_tool('toolgate_output',
    { output => $key, pattern => "^needle\x{0}?" });
is $found->{result}{content}[0]{text}, "4:needle\n", 'also one for a NUL';

# By clients that stay: an error that says what to do.
my %id = map {
    $_ => $c->request('tools/call', { name => 'toolgate_output',
        arguments => { output => $key, pattern => $_ } })
} @evil;
$id{''} = $c->request('task.stats');
for my $pattern (@evil) {
    my $answer = $c->reply($id{$pattern});
    ok $answer->{result}{isError}, "$pattern is an error";
    like $answer->{result}{content}[0]{text},
        qr/ takes too many steps on line [123],.* with "line": [234]\./,
        'with the reason, and how to continue the search';
}
ok defined $c->reply($id{''})->{result}{total}, 'meanwhile tasks are served';

# Their remains do not keep the runner.
for my $pattern (@evil, @evil) {
    my $gone = $tg->connect;
    $gone->request('tools/call', { name => 'toolgate_output',
        arguments => { output => $key, pattern => $pattern } });
    $gone->rpc('ping');
}
my ($runner) = $tg->runner_pids;
ok $runner, 'there is a runner';
$tg->stop;
wait_for { !kill 0, $runner } 'the runner to exit';
pass 'it exits with NGINX';
done_testing;
