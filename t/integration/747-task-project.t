#!/usr/bin/perl
# docs/examples/daemon.conf in a project's folder, with a command line of the
# daemon that it replaces: that one reads the pid and socket, sends its
# requests, closes, and stops the daemon by its pid.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = slurp(Toolgate::Test::top() . '/docs/examples/daemon.conf');

# --- as documented

my @commands = $conf =~ /^#     (nginx .*)$/mg;
is @commands, 3, 'how it is started, reloaded and stopped';
$conf =~ s{^load_module .*\n}{}mg;
$conf =~ s{/srv/project\b}{$dir}g;
$conf =~ s{\bexec    claude -p (\$task_prompt)}{exec echo Agent: $1}
    or die 'another agent';
$conf =~ s{\bexec    claude -p --agent}{exec echo} or die 'another agent';
my $own = $tg->conf_text('', server => 0);
my $runner = $tg->runner_path;
$conf =~ s{(server \{)}{$1\ntool_runner $runner;};
mkdir "$dir/.aiwg" or die "mkdir: $!";
$tg->file('.aiwg/nginx.conf', join '',
    (grep {/^(?:load_module|user|env) /} $own =~ /^.*\n/mg), $conf);

sub nginx {
    my ($command, @more) = @_;
    my ($bin) = $tg->nginx_command;
    $command =~ s{/srv/project/}{$dir/};
    return ($bin, (split / /, $command =~ s/^nginx //r), @more);
}
my ($start, $reload, $quit) = @commands;

sub run {
    my ($status, $out, $err) = run_command({ env => $tg->nginx_env }, @_);
    is $status, 0, "@_[-2 .. -1]" or diag $out . $err;
}

# In the new folder of a project there is nothing yet.
run(nginx($start), '-t');
rmdir "$dir/.aiwg/daemon" if unlink "$dir/.aiwg/daemon/daemon.log";
ok !-e "$dir/.aiwg/daemon", 'nginx -t leaves a log at most';

# In the foreground, because the harness ends its processes.
my $server;
sub start {
    $server = $tg->spawn({ env => $tg->nginx_env, stderr => "$dir/stderr" },
        nginx($start, '-g', 'daemon off;'));
    wait_for { cli('ping') } 'the daemon';
}

# --- the command line

my ($pid_file, $socket) = map {"$dir/.aiwg/$_"} 'daemon.pid',
    'daemon/daemon.sock';

sub pid { return (slurp($pid_file) // '') =~ /^(\d+)/ ? $1 : undef }

# Sends a request on its own connection, and ignores notifications. Then both
# sides close.
sub ask {
    my ($method, $params) = @_;
    my $c = Toolgate::Client->connect($socket);
    my $reply = $c->rpc($method, $params // {});
    $c->shutdown_write;
    eval { $c->recv_line while 1 };
    return ($c->at_eof ? '' : 'it did not close: ') . "$reply->{error}{message}"
        if $reply->{error};
    return $reply->{result};
}

sub cli {
    my ($method, $params) = @_;
    my $pid = pid() or return;
    return is_alive($pid) && -S $socket ? ask($method, $params) : undef;
}

# A client of AIWG's only listens: it never sends a byte.
my $silent;
start();
is mode_of("$dir/.aiwg/daemon"), "0700 $> " . ($) + 0), 'the folder';
is mode_of($socket), "0600 $> " . ($) + 0), 'the socket';
my $ping = cli('ping');
ok $ping->{pong}, 'ping';
like $ping->{timestamp}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'when';

$silent = Toolgate::Client->connect($socket);
wait_for { cli('daemon.status')->{subsystems}{ipc}{clients} >= 2 }
    'the silent client to be known';
my $status = cli('daemon.status');
is $status->{health}, 'healthy', 'status';
ok $status->{subsystems}{ipc}{clients} >= 1, 'its clients';
is $status->{subsystems}{supervisor}{maxConcurrency}, 3, 'how many tasks';
my $task = cli('task.submit', { prompt => 'Fix tests', priority => 0 });
is_deeply $task, { taskId => 'task-0000', state => 'queued' }, 'task submit';
is $silent->notification("task.$_")->{params}{taskId}, 'task-0000',
    "a silent client is told: $_" for qw(queued started completed);
is_deeply $silent->notification('event.taskCompleted'), { jsonrpc => '2.0',
    method => 'event.taskCompleted', params => { taskId => 'task-0000' } },
    "in the daemon's format";
ok $silent->rpc('ping')->{result}{pong}, 'and may ask at last';
my $chat = cli('chat.send', { message => 'hello' });
is_deeply $chat, { taskId => 'task-0001' }, 'chat';
wait_for { cli('task.stats')->{completed} == 2 } 'both to be done';
is cli('task.get', { taskId => 'task-0000' })->{result}, 'Agent: Fix tests',
    'task get';
is_deeply [ map {"$_->{id} $_->{state} $_->{prompt}"}
        @{ cli('task.list', { limit => 20 }) } ],
    [ 'task-0001 completed hello', 'task-0000 completed Fix tests' ],
    'task list';
my $other = cli('task.submit', { prompt => 'hi', agent => 'test-runner' });
wait_for { cli('task.stats')->{completed} == 3 } 'another agent to be done';
is cli('task.get', $other)->{result}, 'test-runner hi', 'an agent of any name';
like cli('task.cancel', { taskId => 'task-0000' }),
    qr/^Task not cancellable/, 'task cancel';
like cli('task.get', { taskId => 'none' }), qr/^Task not found/, 'no such task';
like slurp("$dir/.aiwg/daemon/daemon.log"), qr/start worker process/, 'the log';
run(nginx($reload));
is cli('task.stats')->{total}, 3, 'reload';

# --- stop: the process is gone within its ten seconds, or it would be killed

my $pid = pid();
is $pid, $server->pid, 'the pid is that of the daemon';
kill TERM => $pid;
is $server->wait_exit, 0, 'stop';
ok !-e $pid_file, 'its pid file is gone';
ok !-e $socket, 'and its socket';
is cli('ping'), undef, 'which the command line sees';

# --- and again; daemon.stop ends the tasks, and not the daemon

start();
is cli('task.stats')->{completed}, 3, 'what was done is known';
is_deeply cli('daemon.stop'), { stopping => JSON::PP::true }, 'daemon.stop';
is cli('daemon.status')->{health}, 'stopping', 'it stops';
like cli('task.submit', { prompt => 'x' }), qr/^Subsystem unavailable: /,
    'nothing more is taken';
run(nginx($quit));
is $server->wait_exit, 0, 'quit';

done_testing;
