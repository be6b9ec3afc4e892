#!/usr/bin/perl
# `env NAME file=PATH` and `credential=NAME` of an MCP server and a task: they
# have their secrets, and nothing else has.

use Toolgate::Test;

use File::Find qw(find);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $server = "$^X " . Toolgate::Test::top() . '/t/servers/mcp.pl';
my %secret = map { $_ => "a\$b-$_-$$" } qw(server task manager);
mkdir "$dir/credentials" or die "mkdir: $!\n";
$tg->file("$_.key", "$secret{$_}\n", 0600) for qw(server task);
$tg->file('credentials/manager', "$secret{manager}\n", 0400);
# Reports that it has the secret, without showing it.
$tg->file('has', <<'END', 0755);
#!/bin/sh
[ "$SECRET" = "$(cat "$1")" ] && echo "it has $2"
END

local $ENV{CREDENTIALS_DIRECTORY} = "$dir/credentials";
$tg->conf(<<"END")->start;
mcp_server near {
    exec $server;
    env  SECRET file=server.key;
    env  OTHER credential=manager;
}
task_methods on;
task_agent do {
    exec $dir/has $dir/task.key \$task_prompt;
    env  SECRET file=task.key;
    default;
}
END
my $client = $tg->connect;
wait_for { ($tg->cli('list'))[1] =~ /^near_env/m } 'the list of the server';
my $env = text_of($client->call_tool('near_env'));
like $env, qr/^SECRET=\Q$secret{server}\E$/m, 'an MCP server has its file';
like $env, qr/^OTHER=\Q$secret{manager}\E$/m, 'and its credential';

my $task = $client->rpc('task.submit', { prompt => 'one' })->{result}{taskId};
my $got;
wait_for {
    $got = $client->rpc('task.get', { taskId => $task })->{result};
    $got->{state} !~ /queued|running/;
} 'the end of the task';
is $got->{result}, 'it has one', 'a task has its file';

# --- nothing else has it ----------------------------------------------------

my %seen = map { $_ => join '', $tg->cli($_, '--json') } qw(status ps list);
my @lines = map { slurp("/proc/$_/cmdline") // '' } $tg->master_pid,
    $tg->worker_pids, $tg->runner_pids;
$seen{'command lines'} = join "\n", @lines;
$seen{'nginx -T'} = join '', run_command({ env => $tg->nginx_env },
    $tg->nginx_command, '-T', '-p', "$dir/", '-c', 'nginx.conf', '-e',
    'dump.log');
like $seen{'nginx -T'}, qr/env  SECRET file=server\.key/, 'it is the config';
$tg->stop;
find(sub {
    $seen{$File::Find::name} = slurp($_) // '' if -f $_ && !/\.key$|^manager$/;
}, $dir);
for my $where (sort keys %seen) {
    my @found = grep { index($seen{$where}, $secret{$_}) >= 0 } keys %secret;
    is "@found", '', "not in $where";
}
cmp_ok scalar(keys %seen), '>', 8, 'which is a lot';

# --- errors -----------------------------------------------------------------

$tg->file('open', "x\n", 0644);
for my $block (
    'mcp_server a { exec cat; env T %s; }',
    'task_methods on; task_agent a { exec cat; env T %s; }',
) {
    for my $case (
        [ 'file=open', qr/secret "\S+open" can be read or changed .*chmod/ ],
        [ 'file=none', qr/none" failed \(2: No such file/ ],
        [ 'credential=../x', qr/invalid credential/ ],
    ) {
        my ($value, $pattern) = @$case;
        conf_fails($tg, sprintf($block, $value), $pattern);
    }
}

done_testing;
