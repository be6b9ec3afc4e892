#!/usr/bin/perl
# Tools with `task` and a secret: while a task waits and runs the secret is in
# the store, which only the workers' user can read, and in no message; when the
# task has ended, it is removed.

use Toolgate::Test;

use File::Find;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $state = $tg->state_dir;
my $secret = 'hush-' . join '', map { int rand 10 } 1 .. 30;
chmod 0600, $tg->file('secret', "$secret\n");
my $conf = <<"CONF";
task_methods on;
task_tools on;
tool say {
    description "Knows it.";
    exec sh -c 'while [ -e $dir/run ]; do sleep 0.01; done; printenv A | wc -c'
        sh \$tool_arg_what;
    input_schema '{"type":"object","properties":{"what":{"type":"string"}}}';
    env A file=$dir/secret;
    concurrency 1;
    task required;
}
automation all {
    trigger event pattern=^task;
    notify "{{type}} {{payload}} {{payload.job}}";
}
CONF
$tg->conf($conf)->start;
my $c = $tg->connect;
my $hears = $tg->connect;
$_->rpc('ping') for $c, $hears;
$tg->file('run', '');

# Returns which messages and files contain it.
my $said = '';
sub say_all {
    for my $id (@_) {
        $said .= $c->encode($c->rpc($_, { taskId => $id }))
            for qw(task.get task.output);
        $said .= ($tg->cli('task', 'get', $id, '--json'))[1];
    }
    $said .= $c->encode($c->rpc($_))
        for qw(task.list task.stats daemon.status automation.status
        toolgate.status tools/list);
    $said .= ($tg->cli(@$_))[1]
        for [qw(task list --json)], [qw(daemon status)], ['status'];
}
sub files_with {
    my @files;
    find({ no_chdir => 1, wanted => sub {
        push @files, $File::Find::name
            if -f && (slurp($_) // '') =~ /\Q$secret/;
    } }, $state);
    return sort @files;
}

my @ids = map { $_->{structuredContent}{taskId} } map {
    my $result = $c->result_of('tools/call', name => 'say',
        arguments => { what => 'x' x 20_000 });
    $said .= $c->encode($result);
    $result;
} 1 .. 2;
wait_for {
    $c->result_of('task.get', taskId => $ids[0])->{pid};
} 'the first one to run';
say_all(@ids);
my @files = files_with();
cmp_ok scalar @files, '>', 0, 'it stands in the store';
like $_, qr{/tasks\.db[^/]*$}, 'nowhere else' for @files;
is mode_of($_) =~ s/ .*//r, '0600', 'which nobody else may read' for @files;

# When the runner is killed, and when the next one has it.
kill KILL => $tg->runner_pids;
$tg->allow_log(qr/toolgate-runner/);
wait_for { eval { $c->result_of('task.get', taskId => $ids[1])->{pid} } }
    'the second one to run';
say_all(@ids);
unlink "$dir/run";
is_deeply $c->result_of('task.wait', taskId => $ids[1])->{result}{content},
    [ { type => 'text', text => 1 + length($secret) . "\n" } ],
    'it had the secret';
say_all(@ids);
$hears->recv_where(sub {
    my $told = $hears->encode($_[0]);
    $said .= $told;
    return $told =~ /task\.completed.*$ids[1]/ && $told =~ /automation\.notify/;
}, undef, 'the rule to tell of the end');
unlike $said, qr/\Q$secret/, 'nobody is told';
like $said, qr/"$ids[0]"/, 'of what there is';
$tg->stop;
wait_for { !$tg->runner_pids } 'the runner to leave';
is_deeply [ files_with() ], [], 'what has ended is no secret any more';
unlike slurp("$dir/error.log"), qr/\Q$secret/, 'nor in the log';

done_testing;
