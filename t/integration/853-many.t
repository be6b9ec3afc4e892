#!/usr/bin/perl
# Many calls that the runner makes, of an HTTP API and of MCP servers, one that
# it starts and one that is there: they leave no process, no descriptor and no
# memory, in the worker, in the runner or behind; nor do clients that cancel
# theirs or go.  TOOLGATE_TEST_CALLS says how many of each.

use Toolgate::Test timeout => 3600;
use Toolgate::Many;
use Toolgate::Web;

my $is_san = Toolgate::Test::is_san();
my $calls = $ENV{TOOLGATE_TEST_CALLS} // ($is_san ? 10_000 : 100_000);
my $there = Toolgate::Test->new(workers => 1);
$there->conf(<<'END')->start;
tool echo { description "Says it."; return $tool_arg_key; }
END
my $tg = Toolgate::Test->new(workers => 1);
my $web = Toolgate::Web->new($tg, is_silent => 1);
my $path = $there->socket_path;
$tg->conf(<<"END")->start;
mcp_server child { exec @{[ $tg->bridge_path ]} $path; idle off; }
mcp_server there { pass unix:$path; }
tool http { http GET @{[ $web->url ]}/nap/0/\$tool_arg_key; }
END
my @tools = qw(child_echo there_echo http);
my ($worker) = $tg->worker_pids;
my ($behind) = $there->worker_pids;
my $client = $tg->connect;
wait_for {
    my %has = map { $_->{name} => 1 }
        @{ $client->rpc('tools/list')->{result}{tools} };
    return !grep { !$has{$_} } @tools;
}
'the tools of the servers';
my $runner = slurp($tg->state_dir . '/runner-3.lock') + 0;
my $status = Toolgate::Client->connect($tg->state_dir . '/runner-3.sock');

sub sizes {
    return {
        'memory of the worker'      => rss_kb($worker),
        'memory of the runner'      => rss_kb($runner),
        'descriptors of the worker' => fd_count($worker),
        'descriptors of the runner' => fd_count($runner),
        'descriptors behind'        => fd_count($behind),
        'processes'                 => scalar keys %{ $tg->processes },
    };
}

# What clients left is gone, and there is room for calls.
sub settle {
    wait_for {
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

# First as many connections as there may be, and their buffers.
leave_all($_), calls($client, $_, 5000) for @tools;
my $before = sizes();
for my $tool (@tools) {
    leave_all($tool);
    my $start = time;
    is calls($client, $tool, $calls), undef, "$calls calls of $tool";
    diag "$calls calls of $tool: ", time - $start, ' s';
}
settle();
# AddressSanitizer keeps 256 MiB of what was freed.
my $more = $is_san ? 448 * 1024 : 2048;
my $after;
wait_for {
    $after = sizes();
    # 64 calls run at once, and have left a connection each, or none yet; of
    # the HTTP server that is a process.
    return !grep { !/^memory/ && $after->{$_} > $before->{$_} + 72 }
        keys %$after;
}
'descriptors and processes to be those of before';
for my $name (sort keys %$after) {
    diag "$name: $before->{$name}, then $after->{$name}";
    cmp_ok $after->{$name}, '<', $before->{$name} + $more, "$name: no more"
        if $name =~ /^memory/;
}

done_testing;
