#!/usr/bin/perl
# Many calls of every handler without such a test: they leave no process,
# descriptor or memory, in the worker, the runner or behind; nor do clients that
# cancel or close. TOOLGATE_TEST_CALLS is the number of each.

use Toolgate::Test qw(Many McpWeb Web), plain_too => 'it measures memory',
    timeout => $ENV{TOOLGATE_TEST_CALLS} ? 36_000 : 3600;

my $is_san = Toolgate::Test::is_san();
# Sanitizers find at once what is wrong; only memory needs many calls.
my $calls = $ENV{TOOLGATE_TEST_CALLS} // ($is_san ? 1_000 : 30_000);
my $warm_up = $is_san ? 300 : 5_000;
# Programs take a hundred times as long, and servers in Perl ten times.
my %calls = $ENV{TOOLGATE_TEST_CALLS} ? ()
    : (exec => $is_san ? 100 : 1_500, url_echo => $calls / 10);
my $there = Toolgate::Test->new(workers => 1);
$there->conf(<<'END')->start;
tool echo { description "Says it."; return $tool_arg_key; }
END
my $tg = Toolgate::Test->new(workers => 1);
my $web = Toolgate::Web->new($tg, is_silent => 1);
# Nobody calls it while other tools are called.
my @patient = ('idle=36000');
my $mcp = Toolgate::McpWeb->new($tg, 'silent', @patient, '--', @patient);
my $path = $there->socket_path;
$tg->conf(<<"END")->start;
mcp_server child { exec @{[ $tg->bridge_path ]} $path; idle off; }
mcp_server there { pass unix:$path; }
mcp_server url { url @{[ $mcp->url ]}; idle off; }
tool http { http GET @{[ $web->url ]}/nap/0/\$tool_arg_key; }
tool exec { exec printf %s \$tool_arg_key; stdin ""; }
tool return { return \$tool_arg_key; }
tool tell { broadcast told; }
tool who { clients; }
END
# One is a child of the runner's, one runs by itself, one uses HTTP.
my @tools = qw(return exec http child_echo there_echo url_echo);
my ($worker) = $tg->worker_pids;
my ($behind) = $there->worker_pids;
my $client = $tg->connect;
wait_for {
    my %has = map { $_->{name} => 1 }
        @{ $client->rpc('tools/list')->{result}{tools} };
    return !grep { !$has{$_} } @tools;
}
'the tools of the servers';
calls($client, 'exec', 100);
my $runner = $tg->runner_pid;
my $status = Toolgate::Client->connect($tg->state_dir . '/runner-3.sock');

# Returns a process's own memory, in KiB: without pages that workers share.
sub memory {
    my ($pid) = @_;
    return (slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m)[0];
}

sub sizes {
    return {
        'memory of the worker'      => memory($worker),
        'memory of the runner'      => memory($runner),
        'descriptors of the worker' => fd_count($worker),
        'descriptors of the runner' => fd_count($runner),
        'descriptors behind'        => fd_count($behind),
        'processes'                 => scalar keys %{ $tg->processes },
    };
}

# Waits until clients are gone, and there is room for calls.
sub settle {
    wait_for {
        return if text_of($client->call_tool('who')) !~ /\A\{"count":1,/;
        my $now = $status->rpc('status')->{result};
        return !$now->{running} && !$now->{queued};
    }
    'the last calls to end';
}

sub leave_all {
    my ($tool) = @_;
    leave($tg, $tool);
    settle();
}

# Each is answered, and sent to the only client.
sub broadcasts {
    my ($n) = @_;
    my ($told, $answered) = (0, 0);
    for (my $from = 1; $from <= $n; $from += 100) {
        $client->send_raw(requests(100, $from, 'tell'));
        for (1 .. 200) {
            my $line = $client->recv_line;
            $told++ if $line =~ /"method":"told","params":\{"key":"k\d+"\}/;
            $answered++ if $line =~ /"text":"\{\\"clients\\":1\}"/;
        }
    }
    return "$told told, $answered answered";
}

# First the maximum number of connections, and their buffers.
leave_all($_), calls($client, $_, $calls{$_} ? 300 : $warm_up) for @tools;
broadcasts(1000);
my $more = 3072;
my ($before, $after) = ({}, sizes());

# Allocators keep the memory of a first peak; a leak grows each time.
for my $round (1 .. 3) {
    $before = $after;
    for my $tool (@tools) {
        leave_all($tool);
        my ($n, $start) = ($calls{$tool} // $calls, time);
        is calls($client, $tool, $n), undef, "$n calls of $tool";
        diag "$n calls of $tool: ", time - $start, ' s';
    }
    is broadcasts($calls), "$calls told, $calls answered",
        "$calls calls of broadcast";
    settle();
    wait_for {
        $after = sizes();
        # 64 concurrent calls have left a connection each, or none; the HTTP
        # server has a process for each.
        return !grep { !/^memory/ && $after->{$_} > $before->{$_} + 72 }
            keys %$after;
    }
    'descriptors and processes to be those of before';
    last if $is_san
        || !grep { /^memory/ && $after->{$_} >= $before->{$_} + $more }
        keys %$after;
}
for my $name (sort keys %$after) {
    diag "$name: $before->{$name}, then $after->{$name}";
    memory_below $after->{$name}, $before->{$name} + $more, "$name: no more"
        if $name =~ /^memory/;
}

done_testing;
