#!/usr/bin/perl
# Files of rules: every member works, errors have file, line and column of the
# wrong member.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $path = "$dir/rules.json";
my $agent = 'task_agent a { exec true; default; }';
mkdir "$dir/watched" or die;

# Takes the text of a file, in which ^ precedes the error.
sub refused {
    my ($text, $like, $what) = @_;
    my $at = index $text, '^';
    die $what if $at < 0;
    substr $text, $at, 1, '';
    my $before = substr $text, 0, $at;
    my $line = 1 + ($before =~ tr/\n//);
    my $column = 1 + length($before =~ s/.*\n//sr);
    utf8::encode($text);
    $tg->file('rules.json', $text);
    my ($status, $out) = $tg->test_conf("$agent automation_file $path;");
    isnt $status, 0, "refused: $what";
    like $out, $like, "$what: it says what" or diag $out;
    like $out, qr/\bline $line, column $column\b/, "$what: and where"
        or diag $out;
    like $out, qr/\Q$path\E/, "$what: in which file";
}

# Returns a file of two rules, with some lines of the second one replaced.
my @lines = (
    [ id => '"r"' ], [ description => "\"\x{20ac}\"" ],
    [ trigger => '{ "type": "task.failed", "source": "tasks" }' ],
    [ conditions => '[]' ],
    [ action => '{ "type": "notify", "message": "m" }' ],
    [ cooldownMs => 5 ], [ requiresApproval => 'false' ],
    [ enabled => 'true' ],
);
sub with {
    my (%other) = @_;
    my $rule = join ",\n    ", map {
        my ($name, $value) = @$_;
        $value = $other{$name} // $value;
        $value eq '-' ? () : "\"$name\": $value"
    } @lines;
    return "{ \"version\": 1, \"rules\": [\n  { \"id\": \"first\",\n"
        . "    \"trigger\": { \"type\": \"x\" }, \"action\": "
        . "{ \"type\": \"notify\", \"message\": \"m\" } },\n  "
        . ($rule =~ /\^/ ? '' : '^') . "{ $rule }\n] }\n";
}

refused("{ \"rules\": [\n  { \"id\": \"a\", ^} ] }\n", qr/is not valid JSON/,
    'no JSON');
refused($_->[1], $_->[2], $_->[0])
    for [ 'an id of no type', with(id => '^5'), qr/id: must be a string/ ],
    [ 'no id', with(id => '-'), qr/rule 1 of .*id: must be a string of 1 to/ ],
    [ 'an id with control characters', with(id => '^"a\u0007"'), qr/id: must/ ],
    [ 'an id with a NUL', with(id => '^"a\u0000"'), qr/id: must not contain/ ],
    [ 'an id twice', with(id => '^"first"'), qr/duplicate rule "first"/ ],
    [ 'a description', with(description => '^[]'), qr/description: must be/ ],
    [ 'enabled', with(enabled => '^1'), qr/enabled: must be true or false/ ],
    [ 'requiresApproval', with(requiresApproval => '^"yes"'),
    qr/requiresApproval: must be true/ ],
    [ 'cooldownMs', with(cooldownMs => '^-1'), qr/cooldownMs: .*from 0 to/ ],
    [ 'a fraction', with(cooldownMs => '^1.5'), qr/cooldownMs: .*whole/ ],
    [ 'no trigger', with(trigger => '-'), qr/trigger: must be an object/ ],
    [ 'a trigger of no type', with(trigger => '^"cron"'), qr/trigger: must/ ],
    [ 'an empty trigger', with(trigger => '^{}'), qr/needs a type, a source/ ],
    [ 'trigger.type', with(trigger => '{ "type": ^1 }'),
    qr/trigger.type: must be a string/ ],
    [ 'trigger.source', with(trigger => "{\n \"type\": \"x\",\n"
            . '"source": ^null }'), qr/trigger.source: must be a string/ ],
    [ 'trigger.pattern', with(trigger => '{ "pattern": ^"(" }'),
    qr/trigger.pattern: / ],
    [ 'trigger.expression', with(trigger => '{ "type": "cron", '
            . '"expression": ^"0 24 * * *" }'), qr/"24" is not a valid hour/ ],
    [ 'no expression', with(trigger => '^{ "type": "cron" }'),
    qr/trigger.expression: it must have five fields/ ],
    [ 'trigger.zone', with(trigger => '{ "type": "cron", "expression": '
            . '"@daily", "zone": ^"No/Where" }'), qr/unknown time zone "No/ ],
    [ 'trigger.missed', with(trigger => '{ "type": "cron", "expression": '
            . '"@daily", "missed": ^"no" }'), qr/missed: must be run or skip/ ],
    [ 'trigger.path', with(trigger => '{ "type": "file", "path": ^"src" }'),
    qr/trigger.path: must be an absolute/ ],
    [ 'a path that is none', with(trigger => '{ "type": "file", '
            . '"path": ^"/none/here" }'),
                qr{folder or file "/none/here" does not} ],
    [ 'trigger.glob', with(trigger => '{ "type": "file", "path": "/", '
            . '"glob": ^["*.c", "["] }'), qr/trigger.glob: a \[ needs its \]/ ],
    [ 'trigger.events', with(trigger => '{ "type": "file", "path": "/", '
            . '"events": ^["move"] }'), qr/trigger.events: must be create/ ],
    [ 'trigger.debounceMs', with(trigger => '{ "type": "file", "path": "/", '
            . '"debounceMs": ^3600001 }'), qr/trigger.debounceMs: must be/ ],
    [ 'conditions', with(conditions => '^{}'), qr/conditions: must be an ar/ ],
    [ 'a condition', with(conditions => '[ ^"a" ]'),
    qr/conditions\[0\]: must be an object/ ],
    [ 'no field', with(conditions => "[ { \"field\": \"a\", \"operator\": "
            . "\"exists\" },\n ^{ \"operator\": \"exists\" } ]"),
    qr/conditions\[1\]: needs a field/ ],
    [ 'an operator', with(conditions => '[ { "field": "a", "operator": '
            . '^"is" } ]'), qr/conditions\[0\]\.operator: must be eq/ ],
    [ 'no value', with(conditions => '[ ^{ "field": "a", "operator": "eq" } ]'),
    qr/conditions\[0\]: needs a value/ ],
    [ 'a value', with(conditions => '[ { "field": "a", "operator": "eq", '
            . '"value": ^{} } ]'), qr/conditions\[0\]\.value: must be/ ],
    [ 'a number', with(conditions => '[ { "field": "a", "operator": "gt", '
            . '"value": ^"many" } ]'), qr/\.value: must be a number/ ],
    [ 'no action', with(action => '-'), qr/action: must be an object/ ],
    [ 'action.type', with(action => '{ "type": ^"run" }'),
    qr/action.type: must be agent, notify or webhook/ ],
    [ 'action.message', with(action => '^{ "type": "notify" }'),
    qr/action\.message: is missing/ ],
    [ 'action.url', with(action => '^{ "type": "webhook" }'),
    qr/action\.url: is missing/ ],
    [ 'another url', with(action => '{ "type": "webhook", "url": ^"ftp://x" }'),
    qr/action.url: / ],
    [ 'action.secret', with(action => '{ "type": "webhook", "url": "http://x", '
            . '"secret": ^"hush" }'), qr/action.secret: write "file=PATH"/ ],
    [ 'action.agent', with(action => "{ \"type\": \"agent\",\n"
            . '"agent": ^"b" }'), qr/task_agent "b", which is not defined/ ];

# Members of other types.
refused(with(conditions => '[ { "field": ^5, "operator": "eq", "value": 1 } ]'),
    qr/conditions\[0\]\.field: must be a string/, 'a field');
refused(with(action => '{ "type": "agent", "priority": ^"high" }'),
    qr/action.priority: must be a whole number/, 'action.priority');
refused(with(action => '{ "type": "agent", "prompt": ^7 }'),
    qr/action.prompt: must be a string/, 'action.prompt');

# --- all that a file may say, and that it holds

$tg->file('key', 'x', 0600);
my $json = JSON::PP->new->canonical;
$tg->file('rules.json', $json->encode([
    {
        id => 'all', description => 'All.', enabled => \1,
        requiresApproval => \0, cooldownMs => 3600000, unknown => [ {} ],
        trigger => { type => 'task.completed', source => 'tasks',
            pattern => 'comp.*:tasks$' },
        conditions => [
            { field => 'payload.priority', operator => 'eq', value => 5 },
            { field => 'priority', operator => 'equals', value => 5.0 },
            { field => 'priority', operator => 'neq', value => '5' },
            { field => 'priority', operator => 'not_equals', value => 6 },
            { field => 'prompt', operator => 'contains', value => 'ru' },
            { field => 'metadata.list', operator => 'contains', value => 'x' },
            { field => 'prompt', operator => 'matches', value => '^t.u' },
            { field => 'priority', operator => 'gt', value => 4 },
            { field => 'priority', operator => 'gte', value => 5 },
            { field => 'priority', operator => 'lt', value => 6 },
            { field => 'priority', operator => 'lte', value => 5 },
            { field => 'metadata', operator => 'exists' },
            { field => 'metadata.none', operator => 'not_exists' },
        ],
        action => { type => 'notify', message => '{{metadata.list.0}}',
            channel => 'ops' },
    },
    { id => 'off', enabled => \0, trigger => { source => 'tasks' },
        action => { type => 'agent', agent => 'a', prompt => 'p',
            priority => -1 } },
    { id => 'cron', requiresApproval => \1, trigger => { type => 'cron',
        expression => '0 3 * * *', zone => 'UTC', missed => 'run' },
        action => { type => 'webhook', url => 'http://127.0.0.1:9/x',
            message => 'm', secret => "file=$dir/key" } },
    { id => 'files', trigger => { type => 'file', path => "$dir/watched",
        glob => '*.c', events => [qw(create delete)], debounceMs => 0 },
        action => { type => 'notify', message => '{{path}}' } },
]));
$tg->conf('task_agent sh { exec sh -c $task_prompt; default; } '
        . "task_agent a { exec true; } task_methods on; automation_file $path;")
    ->start;
my $c = $tg->connect;
my $hears = $tg->connect;
$hears->rpc('ping');
my $status = $c->result_of('automation.status');
is_deeply [ map {"$_->{id}:$_->{trigger}{type}" } @{ $status->{rules} }[0, 2, 3]
    ], [qw(all:task.completed cron:cron files:file)], 'the rules';
is_deeply $status->{rules}[1]{trigger}, { source => 'tasks' }, 'in parts';
is_deeply [ map { $_->{enabled} ? 1 : 0 } @{ $status->{rules} } ],
    [ 1, 0, 1, 1 ], 'enabled';
is_deeply [ map { $_->{requiresApproval} ? 1 : 0 } @{ $status->{rules} } ],
    [ 0, 0, 1, 0 ], 'requiresApproval';
is $status->{rules}[0]{cooldownMs}, 3600000, 'cooldownMs';

sub told {
    return $hears->recv_where(sub {
        return ($_[0]{method} // '') eq 'automation.notify';
    }, 60, 'a rule')->{params};
}
$c->result_of('task.submit', prompt => 'true', priority => 5,
    metadata => { list => ['x'] });
is_deeply [ @{ told() }{qw(ruleId message channel)} ], [qw(all x ops)],
    'each of its conditions holds';
wait_for { $c->rpc('daemon.status')->{result}{subsystems}{file_watcher}{ready} }
    'files to be watched';
$tg->file('watched/a.h', '');
$tg->file('watched/a.c', '');
is told()->{message}, "$dir/watched/a.c", 'a file of its glob';

done_testing;
