#!/usr/bin/perl
# A hundred reloads in a row, or 40 under the sanitizers, each with another list
# of tools, while four agents call through their bridges all the time: every
# call is answered once, none fails, and nothing grows.

use Toolgate::Test plain_too => 'it measures memory';

use IO::Select;
use Time::HiRes qw(sleep time);

my $reloads = $ENV{TOOLGATE_TEST_RELOADS}
    // (Toolgate::Test::is_san() ? 40 : 100);
my $tg = Toolgate::Test->new;

sub body {
    my ($generation) = @_;
    return <<"END";
tool echo { return '\$tool_arg_n'; }
tool run { exec echo \$tool_arg_n; }
tool nap { exec sh -c 'sleep 0.2; cat'; stdin \$tool_arg_n; }
tool new$generation { return $generation; }
END
}

# --- the agents -----------------------------------------------------------

my @tools = qw(echo run echo nap);
my $stopping = 0;
my $slowest = 0;
my ($answered, $told) = (0, 0);

sub agent {
    my $bridge = $tg->bridge([ '--grace', 600, $tg->socket_path ]);
    $bridge->rpc('initialize', {
        protocolVersion => '2025-06-18',
        capabilities    => {},
        clientInfo      => { name => 'test', version => '1' },
    });
    $bridge->notify('notifications/initialized');
    return { bridge => $bridge, id => 100, open => {}, calls => 0 };
}

sub call {
    my ($agent) = @_;
    my $id = ++$agent->{id};
    my $tool = $tools[ $id % @tools ];
    $agent->{open}{$id} = time;
    $agent->{bridge}->send_line(
        qq({"jsonrpc":"2.0","id":$id,"method":"tools/call",)
        . qq("params":{"name":"$tool","arguments":{"n":"n$id"}}}));
    $agent->{calls}++;
}

# Takes available responses; each is followed by another call.
sub take {
    my ($agent) = @_;
    my $bridge = $agent->{bridge};
    $bridge->fill(0);
    die "a bridge ended:\n" . $bridge->stderr if $bridge->{eof};
    while ($bridge->{buf} =~ s/^(.*)\n//) {
        my $message = $bridge->decode($1);
        if (($message->{method} // '') eq 'notifications/tools/list_changed') {
            $told++;
            next;
        }
        my $id = $message->{id} // die "what is this: $1\n";
        my $start = delete $agent->{open}{$id}
            // die "answered twice, or never asked: $1\n";
        my $text = text_of($message);
        die "call $id failed: $1\n"
            if $message->{result}{isError} || $text !~ /^n$id\n?$/;
        my $time = time - $start;
        $slowest = $time if $time > $slowest;
        $answered++;
        call($agent) if !$stopping;
    }
}

sub serve {
    my ($agents, $until) = @_;
    my %by_handle = map { $_->{bridge}{in} => $_ } @$agents;
    my $select = IO::Select->new(map { $_->{bridge}{in} } @$agents);
    while (!$until->()) {
        take($by_handle{$_}) for $select->can_read(0.1);
        for my $agent (@$agents) {
            for my $id (keys %{ $agent->{open} }) {
                die "call $id is not answered\n"
                    . $agent->{bridge}->stderr . $tg->log
                    if time - $agent->{open}{$id} > 120;
            }
        }
    }
}

# --- the reloads ----------------------------------------------------------

# Another process reloads, this one calls.
sub meanwhile {
    my ($agents, $name, $code) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my $ok = eval { $code->(); 1 };
        print STDERR "# $name: $@" if !$ok;
        POSIX::_exit($ok ? 0 : 1);
    }
    my $status;
    serve($agents, sub {
        $status = $? if waitpid($pid, POSIX::WNOHANG()) == $pid;
        return defined $status;
    });
    is $status, 0, $name;
}

sub reloads {
    my ($agents, $from, $to) = @_;
    meanwhile($agents, "reloads $from to $to", sub {
        $tg->reload(body($_)) for $from .. $to;
    });
}

$tg->conf(body(0))->start;
my @agents = map { agent() } 1 .. 4;
for my $agent (@agents) {
    call($agent) for 1 .. 3;
}
serve(\@agents, sub { $answered > 100 });
my $runner = $tg->runner_pid;

my $first = int($reloads / 4);
my $start = time;
reloads(\@agents, 1, $first);
my ($fds, $rss) = (fd_count($tg->master_pid), rss_kb($tg->master_pid));
reloads(\@agents, $first + 1, $reloads);
my $time = time - $start;

# Without waiting for one before the next.
meanwhile(\@agents, 'signals as fast as they come', sub {
    for (1 .. 40) {
        kill HUP => $tg->master_pid;
        sleep 0.01;
    }
});

$stopping = 1;
serve(\@agents, sub { !grep { %{ $_->{open} } } @agents });
my $calls = 0;
$calls += $_->{calls} for @agents;
is $answered, $calls, "$calls calls, each answered once and well";
diag sprintf '%d reloads in %.1f s, %d calls, the slowest took %.0f ms',
    $reloads, $time, $calls, $slowest * 1000;
cmp_ok $calls, '>', $reloads * 4, 'there were calls all the time';
cmp_ok $told, '>', 0, 'the agents were notified of new tools';

# --- remains --------------------------------------------------------------

wait_for { $tg->worker_pids(all => 1) == 2 } 'the old workers to go';
# Their channels are closed when the master has reaped them.
wait_for { fd_count($tg->master_pid) <= $fds } 'the master to have no more';
my $grown = rss_kb($tg->master_pid) - $rss;
diag "the master grew by $grown KiB";
memory_below $grown, 256, 'nor does it grow';
is $tg->runner_pid, $runner, 'the runner is the same';

# Each agent sees the newest tool; its bridge was never restarted.
for my $agent (@agents) {
    my $bridge = $agent->{bridge};
    wait_for {
        my $reply = $bridge->call_tool("new$reloads");
        return ($reply->{result} // {})->{content}
            && text_of($reply) eq $reloads;
    } 'the newest tool';
    my $tools = $bridge->rpc('tools/list')->{result}{tools};
    is join(' ', map { $_->{name} } @$tools), "echo run nap new$reloads",
        'an agent sees the newest tools';
    $bridge->close;
    is $bridge->wait_exit, 0, 'its bridge ends with it';
}

done_testing;
