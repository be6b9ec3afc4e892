#!/usr/bin/perl
# toolgate automation: rules and their executions, enabling and disabling, and
# approval.

use Toolgate::Test qw(User);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
mkdir "$dir/watched" or die;
my $conf = <<"END";
tool_socket_mode 0666;
task_agent echo { exec echo \$task_prompt; default; }
task_agent sh { exec sh -c \$task_prompt; }
task_methods on;
automation nightly {
    trigger  cron "0 3 * * *" zone=UTC;
    agent    echo "Good night.";
    cooldown 10m;
}
automation broken {
    trigger  event type=task.failed source=tasks;
    agent    echo "Mend {{payload.id}}";
    approval required;
}
automation watched {
    trigger file $dir/watched debounce=0;
    notify  "{{path}}" channel=ops;
    enabled off;
}
automation hook {
    trigger event pattern=^task.cancelled;
    webhook http://127.0.0.1:9/deep/secret;
}
END
$tg->conf($conf)->start;

my ($rc, $out, $err);
sub cli {
    ($rc, $out, $err) = $tg->cli(@_);
    return $out;
}
sub json { return Toolgate::Client->decode(cli(@_, '--json')) }
sub executions { return @{ json(qw(automation status))->{recentExecutions} } }

# --- status -----------------------------------------------------------------

my $time = qr/(?:\d+(?:\.\d+)?|\d\S*) (?:ms|s|min|h)/;
like cli(qw(automation status)), qr/^automation:\ enabled,\ rules\ 4\n\n
    RULE\ +ENABLED\ +APPROVAL\ +COOLDOWN\ +NEXT\ IN\ +TRIGGER\ +ACTION\n
    nightly\ +yes\ +-\ +10(?:\.0)?\ min\ +$time\ +cron\ 0\ 3\ \*\ \*\ \*\ +
        agent\ echo\n
    broken\ +yes\ +required\ +-\ +-\ +task\.failed\ tasks\ +agent\ echo\n
    watched\ +no\ +-\ +-\ +-\ +file\ \Q$dir\E\/watched\ +notify\ ops\n
    hook\ +yes\ +-\ +-\ +-\ +(?:event\ )?\^task\.cancelled\ +
        webhook\ http:\/\/127\.0\.0\.1:9\n\z/x, 'the rules; none has fired';
is "$rc $err", '0 ', 'that is all';
is json(qw(automation status))->{ruleCount}, 4, 'status --json';
like cli(qw(daemon status)), qr/^automation: enabled, rules 4$/m,
    'as the daemon has it';

# --- approve ----------------------------------------------------------------

sub fails {
    my ($count) = @_;
    cli(qw(task submit --agent sh), 'exit 1');
    wait_for { executions() >= $count } 'the rule to fire';
    return (executions())[-1]{executionId};
}
my $first = fails(1);
my $second = fails(2);
like cli(qw(automation status)), qr/
    \n\nEXECUTION\ +RULE\ +EVENT\ +STATUS\ +AGE\ +TASK\ +ERROR\n
    $second\ +broken\ +task\.failed\ +pending_approval\ +$time\ +-\s*\n
    $first\ +broken\ +task\.failed\ +pending_approval\ +$time\ +-\s*\n\z/x,
    'what waits for approval, the newest first';
is cli(qw(automation approve), $first), "$first was approved: task-0002\n",
    'approve';
is $rc, 0, 'done';
is cli(qw(task wait task-0002)) =~ s/after .*/after/sr,
    'task-0002 completed after', 'it is a task';
is json(qw(task get task-0002))->{prompt}, 'Mend task-0000', 'of that prompt';
is cli(qw(automation approve --deny), $second), "$second was denied\n", 'deny';
like cli(qw(automation status)), qr/^$second +broken +task\.failed +denied /m,
    'so it is denied';
like $out, qr/^$first +broken +task\.failed +submitted +$time +task-0002/m,
    'and the other one done';
cli(qw(automation approve), $first, fails(3));
is $rc, 1, 'one that does not wait any more, and one that does';
like $err, qr/-32602: executionId: no execution with this id waits/,
    'it says so';
like $out, qr/^[0-9a-f]{20} was approved: task-0004$/, 'the other is approved';
is json(qw(automation approve), fails(4))->{status}, 'submitted',
    'approve --json';
my @last = executions();
is scalar @last, 4, 'all of them';

# --- enable, disable --------------------------------------------------------

is cli(qw(automation disable broken hook)),
    "broken is disabled\nhook is disabled\n", 'disable, two of them';
is_deeply { map { ($_->{id} => $_->{enabled} ? 1 : 0) }
        @{ json(qw(automation status))->{rules} } },
    { nightly => 1, broken => 0, watched => 0, hook => 0 }, 'they are';
is cli(qw(automation enable watched)), "watched is enabled\n", 'enable';
like cli(qw(automation status)), qr/^watched +yes /m, 'it is';
is cli(qw(automation disable)), "automation is disabled\n", 'all of it';
like cli(qw(automation status)), qr/^automation: disabled, rules 4$/m, 'it is';
is_deeply json(qw(automation enable)), { enabled => JSON::PP::true },
    'enable --json';
like cli(qw(automation enable)), qr/^automation is enabled$/, 'once more';

cli(qw(automation disable nihgtly hook));
is $rc, 1, 'a rule that there is not';
is $err, 'toolgate: unknown rule "nihgtly"; did you mean nightly? '
    . "(toolgate automation status shows all rules)\n", 'it says what is near';
is $out, "hook is disabled\n", 'and continues with the next one';
cli(qw(automation enable something));
is $err, 'toolgate: unknown rule "something" (toolgate automation status '
    . "shows all rules)\n", 'or that nothing is';
is_deeply json(qw(automation enable x)), { success => JSON::PP::false },
    'as JSON';
is $rc, 1, 'with the same status';

# --- mistakes ---------------------------------------------------------------

for my $mistake (
    [ qr/automation needs a subcommand/ ],
    [ qr/unknown command "automation run"/, 'run' ],
    [ qr/automation status takes no arguments/, qw(status x) ],
    [ qr/approve which execution\?/, 'approve' ],
    [ qr/automation status does not take --deny/, qw(status --deny) ],
    [ qr/automation enable does not take --watch/, qw(enable --watch) ],
) {
    my ($like, @args) = @$mistake;
    cli('automation', @args);
    is $rc, 2, "automation @args";
    like $err, $like, 'it says why';
}
like cli(qw(help automation)), qr/^usage: toolgate automation status/, 'help';

# --- access -----------------------------------------------------------------

SKIP: {
    skip 'only root can be other users', 4 if !Toolgate::User::is_possible();
    # stderr is opened before the change of the user.
    my @run = ('perl', '-e', '$) = "54321 54321"; $( = $<  = $> = 54321; '
            . 'exec @ARGV or die', "$BUILD/toolgate", '--socket',
        $tg->socket_path, 'automation');
    for my $try ([ 'status', 0, qr/^\z/ ],
        [ 'disable', 1,
            qr/the method automation\.disable: .*task_visibility says/ ])
    {
        my ($command, $status, $like) = @$try;
        my $cli = $tg->spawn({}, @run, $command);
        is $cli->wait_exit >> 8, $status, "another user: $command";
        like $cli->stderr, $like, 'as it says';
    }
}

$tg->reload('task_agent echo { exec echo; default; } task_methods on;');
cli(qw(automation status));
is $rc, 1, 'a server without rules';
like $err, qr/-32003: Subsystem unavailable: the config has no rules/,
    'it says so';
$tg->reload('tool hi { description "Hi."; return hi; }');
cli(qw(automation status));
is $rc, 1, 'a server without tasks';
like $err, qr/not offer you the method automation\.status: the server needs/,
    'it says so';

done_testing;
