#!/usr/bin/perl
# Mistakes in rules of automation, with their corrections, in blocks and in JSON
# files; and valid rules.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $agent = 'task_agent a { exec true; default; }';
my $cron = 'trigger cron "0 3 * * *";';
my $act = 'agent a "Do it.";';

sub refused { return conf_fails($tg, @_) }

sub rule { return "$agent automation r { $_[0] }" }

sub taken {
    my ($body, $what) = @_;
    my ($status, $out) = $tg->test_conf($body);
    is $status, 0, "taken: $what" or diag $out;
}

# --- blocks

refused rule($act), qr/automation "r" has no "trigger"/, 'no trigger';
refused rule($cron), qr/automation "r" has no action; write "agent"/,
    'no action';
refused rule("$cron $cron $act"), qr/"trigger" directive is duplicate/,
    'two triggers';
refused rule("$cron $act notify x;"), qr/"notify" directive is a second/,
    'two actions';
refused "automation r { $cron notify x; }", qr/no "task_agent"/, 'no agent';
refused rule("$cron agent b;"), qr/rule "r" refers to task_agent "b"/,
    'another agent';
refused "task_agent a { exec true; } automation r { $cron agent \"\"; }",
    qr/rule "r" names no task_agent, and no task_agent is/, 'no default';
refused rule("$cron $act") . " automation r { $cron $act }",
    qr/duplicate rule "r"/, 'two of one name';
refused "$agent automation \"\" { $cron $act }", qr/"": id: must be a string/,
    'no name';
refused rule("$cron $act title x;"), qr/"title" directive is not allowed/,
    'what is none of its directives';
refused rule("trigger cron $_->[0]; $act"), $_->[1], "cron $_->[0]"
    for [ '"* * *"' => qr/r": trigger.expression: it must have five fields/ ],
    [ '"0 25 * * *"'   => qr/"25" is not a valid hour: .* from 0 to 23/ ],
    [ '"0 0 31 4 *"'   => qr/this day does not exist/ ],
    [ '"0 0 * * * *"'  => qr/five fields/ ],
    [ '@daily zone=Europe/Nowhere' =>
        qr/unknown time zone "Europe\/Nowhere", .*install .* tzdata/ ],
    [ '@daily zone=../../../etc/passwd' => qr/zone: must be the name/ ],
    [ '@daily zone=Europe' => qr/unknown time zone "Europe"/ ],
    [ '@daily zone=tzdata.zi' => qr/zone: must be the name/ ],
    [ '@daily missed=maybe' => qr/trigger.missed: must be run or skip/ ],
    [ '@daily zone=UTC zone=UTC' => qr/"zone=UTC" in "trigger"; it is given/ ],
    [ '@daily often' => qr/invalid parameter "often".*"zone=NAME"/ ];
refused rule("trigger event $_->[0]; $act"), $_->[1], "event $_->[0]"
    for [ 'task.failed' => qr/invalid parameter "task.failed".*"type=NAME"/ ],
    [ '"pattern=("' => qr/trigger.pattern: / ],
    [ 'type=' => qr/invalid parameter "type="/ ];
refused rule("trigger cron \"\xff\"; $act"), qr{is not valid UTF-8}, "no UTF-8";
refused rule("trigger file $_->[0]; $act"), $_->[1], "file $_->[0]"
    for [ '/none/src' => qr{folder or file "/none/src" does not exist} ],
    [ '/dev/null' => qr{folder or file "/dev/null" does not exist} ],
    [ "$dir glob=[" => qr/trigger.glob: a \[ needs its \]/ ],
    [ "$dir glob=/src/*.c" => qr/trigger.glob: .*not begin with a slash/ ],
    [ "$dir events=move" => qr/trigger.events: must be create, change/ ],
    [ "$dir debounce=2x" => qr/"debounce=2x".*at most 1h/ ],
    [ "$dir debounce=2h" => qr/"debounce=2h".*at most 1h/ ],
    [ "$dir recursive" => qr/invalid parameter "recursive".*"glob=/ ];
refused rule("trigger often x; $act"), qr/unknown trigger "often"/,
    'another trigger';
refused rule("$cron $act when $_->[0];"), $_->[1], "when $_->[0]"
    for [ 'a is b' => qr/unknown operator "is" in "when"; write eq/ ],
    [ 'a eq' => qr/"when a eq" needs a value/ ],
    [ 'a exists 1' => qr/"when a exists" has no value/ ],
    [ 'a gt many' => qr/"many" of "when a gt" is not a number/ ],
    [ 'a matches "["' => qr/pattern "\[": / ],
    [ 'a matches "(?<=a+)b"' => qr/pattern / ];
refused rule("$cron $_->[0]"), $_->[1], $_->[0]
    for [ 'notify a b;' => qr/invalid parameter "b" in "notify".*in quotes/ ],
    [ 'webhook ftp://x;' => qr/action.url: / ],
    [ "$act secret file=/none;" => qr{"/none"} ],
    [ 'webhook http://x; secret hush;' => qr/"file=PATH" or "credential=/ ],
    [ "$act secret file=" . $tg->file('s1', 'x', 0600) . ';' =>
        qr/has a "secret", which only a "webhook" has/ ],
    [ 'notify x; priority 5;' => qr/has a "priority", which only an "agent"/ ],
    [ "$act priority high;" => qr/invalid number "high" in "priority"/ ],
    [ "$act priority 2147483648;" => qr/invalid number/ ],
    [ "$act priority 1; priority 2;" => qr/is duplicate/ ],
    [ "$act cooldown 1x;" => qr/invalid time "1x" in "cooldown"/ ],
    [ "$act cooldown 500d;" => qr/invalid time "500d"/ ],
    [ "$act approval REQUIRED;" => qr/invalid value "REQUIRED"/ ],
    [ "$act approval maybe;" => qr/invalid value "maybe" in "approval"/ ],
    [ "$act enabled perhaps;" => qr/invalid value "perhaps"/ ];

taken "$agent task_methods on;" . <<"END", 'all that a block may say';
automation nightly {
    description "At night.";
    trigger     cron "30 2 * * mon-fri" zone=Europe/Berlin missed=skip;
    agent       a "Fix what the night build broke.";
    priority    -5;
    enabled     off;
}
automation tests-broke {
    trigger  event type=task.failed source=tasks pattern=^task;
    when     metadata.suite eq unit;
    when     error matches "FAILED \\d+";
    when     pid exists;
    agent    a "Mend {{payload.id}}: {{payload.error}}";
    cooldown 1y;
    approval required;
}
automation on-change {
    trigger file $dir glob=*.c glob=*.h events=change,create debounce=2s;
    agent   a;
}
automation tell { trigger event source=tasks; notify "{{id}}" channel=ops; }
automation hook {
    trigger event type=task.failed;
    webhook http://127.0.0.1:9/hook "Look at {{id}}";
    secret  file=$dir/s1;
}
END

# --- unknown events and fields: the rule is accepted with a warning

sub warned {
    my ($body, $like, $what) = @_;
    my ($status, $out) = $tg->test_conf($body);
    is $status, 0, "taken: $what" or diag $out;
    my @said = grep {/\[warn\].*automation "r": /} split /\n/, $out;
    like "@said", $like, "$what: a warning" or diag $out;
}
my $none = qr/^$/;
my $event = 'trigger event type=task.failed;';

warned rule("trigger event $_->[0]; notify x;"), $_->[1], "event $_->[0]"
    for [ 'type=task.fail' => qr/trigger\.type: unknown event type "task/ ],
    [ 'type=task.fail' => qr/mean "task.failed"\? Valid are .*file\.changed/ ],
    [ 'type=commit' => qr/unknown event type "commit"; valid are task.queued/ ],
    [ 'source=task' => qr/unknown event source "task"; did you mean "tasks"/ ],
    [ 'type=cron.fired source=tasks' => qr/so the rule never fires/ ],
    [ 'pattern=^commit' => qr/so the rule never fires/ ],
    [ 'type=task.failed source=tasks pattern=^task' => $none ],
    [ 'source=schedule' => $none ], [ 'pattern=changed' => $none ];
warned rule("$_->[0] notify '$_->[1]';"), $_->[2], "$_->[0] $_->[1]"
    for [ $event, '{{eror}}', qr/action\.message: unknown.*"eror"; .*"error"/ ],
    [ $event, '{{payload.pth}}', qr/unknown field of \{\{ \}\} "pth"; / ],
    [ $event, '{{path}}', qr/unknown .*"path"; .* are id, prompt, agent/ ],
    [ $event, '{{payload.metadata.a}} {{id}} {{type}} {{ id }}', $none ],
    [ $cron,  '{{id}}',   qr/unknown .*"id"; .*job_id, scheduled, missed/ ],
    [ $cron,  '{{missed}} {{timestamp}} {{payload}}', $none ],
    [ "trigger file $dir;", '{{files.0.path}} {{count}}', $none ],
    [ "trigger file $dir;", '{{counts}}', qr/"counts"; did you mean "count"/ ],
    [ 'trigger event pattern=.;', '{{id}} {{path}} {{missed}}', $none ];
warned rule("$event when erorr exists; agent a '{{prmpt}}';"),
    qr/\[0\]\.field: .*"erorr"; did you mean "error"\?.*prompt: .*"prmpt"; did/,
    'a condition and a prompt';

# --- files

my $json = JSON::PP->new->canonical;
sub file {
    my (@rules) = @_;
    return $tg->file('rules.json', $json->encode(\@rules));
}
my %rule = (id => 'f', trigger => { type => 'task.failed' },
    action => { type => 'agent', prompt => 'Mend {{payload.id}}' });

refused "$agent automation_file $dir/none.json;", qr/none\.json/, 'no file';
$tg->file('rules.json', '{"rules": [}');
refused "$agent automation_file $dir/rules.json;", qr/rules\.json/,
    'a file that is no JSON';
$tg->file('rules.json', '{"rules": {}}');
refused "$agent automation_file $dir/rules.json;",
    qr/contains no rules; write an/,
    'a file without rules';
for ([ { trigger => {} } => qr/trigger: needs a type/ ],
    [ { action => { type => 'submit_task' } } =>
        qr/action.type: must be agent, notify or webhook/ ],
    [ { conditions => [ { field => 'a', operator => 'is' } ] } =>
        qr/conditions\[0\]\.operator: must be eq/ ],
    [ { cooldownMs => '5' } => qr/cooldownMs: must be a whole number/ ],
    [ { action => { type => 'agent', agent => 'b' } } =>
        qr/rule "f" refers to task_agent "b"/ ],
    [ { action => { type => 'webhook', url => 'http://x', secret => 'x' } } =>
        qr/action\.secret: write "file=PATH"/ ],
    [ { trigger => { type => 'cron', expression => '@daily',
        zone => 'No/Where' } } => qr/unknown time zone "No\/Where"/ ],
    [ { trigger => { type => 'file', path => '/none' } } => qr{"/none"} ])
{
    my ($more, $like) = @$_;
    file({ %rule, id => 'first' }, { %rule, %$more });
    refused "$agent automation_file $dir/rules.json;",
        [ $like, qr/rule 1 of|rule "f"/ ], $json->encode($more);
}
file(\%rule, \%rule);
refused "$agent automation_file $dir/rules.json;",
    qr/rule 1 of .*duplicate rule "f"/, 'two of one name, in a file';
file(map { { %rule, id => "r$_" } } 1 .. 257);
refused "$agent automation_file $dir/rules.json;", qr/more than 256 rules/,
    'too many';
file(map { { %rule, id => "r$_" } } 1 .. 256);
taken "$agent automation_file $dir/rules.json;", 'as many as may be';

$tg->file('rules.json', $json->encode({ version => 1, rules => [ {
    %rule,
    description => 'All that there is.', enabled => \0, requiresApproval => \1,
    cooldownMs  => 600000, name => 'unknown',
    trigger => { type => 'task.failed', source => 'tasks', pattern => 'fail' },
    conditions => [ map { { field => 'payload.priority', operator => $_,
        value => 5 } } qw(eq equals neq not_equals gt lt gte lte exists
        not_exists) ],
}, { %rule, id => 'hook', action => { type => 'webhook', url => 'http://x/y',
    secret => "file=$dir/s1" } } ] }));
taken "$agent automation_file $dir/rules.json; automation g { $cron $act }",
    'all that a file may say';

done_testing;
