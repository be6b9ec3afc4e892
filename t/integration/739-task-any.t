#!/usr/bin/perl
# task_agent *: an agent for all names without another agent, in both stores.

use Toolgate::Test qw(Postgres);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $any = 'task_agent * { exec sh -c \'if [ "$$2" = wait ]; then '
    . "until [ -e $dir/go ]; do sleep 0.01; done; fi; "
    . 'echo "any $$1: $$2"\' sh $task_agent $task_prompt; concurrency 1; }';
my $named = 'task_agent named { exec echo named $task_agent $task_prompt; '
    . 'default; }';
my $more = 'task_agent coder-2 { exec echo own $task_agent $task_prompt; }';

sub refused { return conf_fails($tg, @_) }
refused 'task_agent * { exec true; default; }',
    qr/"\*" cannot be the "default"/, 'a default without a name';
refused 'task_agent * { exec true; } task_agent * { exec true; }',
    qr/duplicate task_agent "\*"/, 'two of them';
refused 'task_agent a* { exec true; }', qr/invalid name "a\*".*or "\*" for all/,
    'a part of a name';
my $db = Toolgate::Postgres->new(Toolgate::Test->new);

for my $store ('sqlite:' . $tg->dir . '/any.db', $db->uri) {
    my ($kind) = $store =~ /^(\w+)/;
    my $body = sub { "task_methods on; task_tools on; task_concurrency 4; "
            . "task_store $store; @_" };
    $tg->conf($body->($any, $named))->start;
    my $c = $tg->connect;
    my $submit = sub {
        my (%params) = @_;
        my $reply = $c->rpc('task.submit', \%params);
        return $reply->{result} ? $reply->{result}{taskId} : $reply->{error};
    };
    my $ended = sub {
        my ($id) = @_;
        return $c->rpc('task.wait', { taskId => $id, timeout => 60 })->{result};
    };

    my $task = $ended->($submit->(prompt => 'hi', agent => 'coder-1'));
    is_deeply [ @{$task}{qw(state agent result)} ],
        [ 'completed', 'coder-1', 'any coder-1: hi' ], "$kind: any name";
    is $ended->($submit->(prompt => 'hi', agent => 'named'))->{result},
        'named named hi', "$kind: a declared one beside it";
    is $ended->($submit->(prompt => 'hi'))->{agent}, 'named',
        "$kind: the default is as before";
    is $submit->(prompt => 'hi', agent => $_)->{code}, -32602,
        "$kind: $_ is no name" for 'a b', 'a.b', 'tool:x', '*', 'x' x 65;
    is scalar @{ $c->rpc('task.list', { agent => 'coder-1' })->{result} }, 1,
        "$kind: lists know it";
    my ($tool) = grep { $_->{name} eq 'task_submit' }
        @{ $c->rpc('tools/list')->{result}{tools} };
    is $tool->{inputSchema}{properties}{agent}{type}, 'string',
        "$kind: agents may name any";

    # concurrency is for all its names; other agents do not wait.
    my $first = $submit->(prompt => 'wait', agent => 'coder-1');
    wait_for {
        $c->rpc('task.get', { taskId => $first })->{result}{pid};
    } 'the first to run';
    my @more = map { $submit->(prompt => 'hi', agent => "coder-$_") } 2, 3;
    is $ended->($submit->(prompt => 'hi', agent => 'named'))->{state},
        'completed', "$kind: a declared one has its own places";
    is $c->rpc('task.get', { taskId => $_ })->{result}{state}, 'queued',
        "$kind: $_ waits" for @more;

    # One of the names gets its own agent.
    $tg->reload($body->($any, $named, $more));
    is $ended->($more[0])->{result}, 'own coder-2 hi',
        "$kind: an agent of that name has it now";
    $tg->file('go', '');
    is $ended->($first)->{result}, 'any coder-1: wait', "$kind: it ends";
    is $ended->($more[1])->{result}, 'any coder-3: hi', "$kind: and the next";

    # Without it, waiting tasks of its names fail.
    unlink "$dir/go";
    $first = $submit->(prompt => 'wait', agent => 'coder-1');
    wait_for {
        $c->rpc('task.get', { taskId => $first })->{result}{pid};
    } 'the first to run';
    my $orphan = $submit->(prompt => 'hi', agent => 'coder-4');
    $tg->reload($body->($named));
    like $ended->($orphan)->{error}, qr/agent is no longer configured/,
        "$kind: without it they fail";
    $tg->file('go', '');
    is $ended->($first)->{state}, 'completed',
        "$kind: a running task continues";
    is $submit->(prompt => 'hi', agent => 'coder-4')->{code}, -32602,
        "$kind: and others are refused";
    unlink "$dir/go";
    $tg->stop;
    wait_for { !$tg->runner_pids } 'the runner to leave';
}
done_testing;
