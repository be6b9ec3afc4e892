#!/usr/bin/perl
# kill -9 of the runner: every running call gets its dialect's error at once,
# all its processes are ended, and the next call works; also if its supervisor
# is killed as well.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
# A program with a grandchild in its own session, which ignores SIGTERM.
$tg->file('stubborn', <<'END', 0755);
#!/bin/sh
trap '' TERM
setsid sh -c 'trap "" TERM; while :; do sleep 3603; done' &
while :; do sleep 3602; done
END
$tg->conf(<<'END')->start;
tool hi { exec echo hi; }
tool nap { exec %%DIR%%/stubborn; timeout 2h; }
method nap { exec sleep 3601; timeout 2h; }
END

sub runs {
    my ($wanted, $what) = @_;
    wait_for {
        my $all = join "\n", sort values %{ $tg->processes };
        return $wanted == (() = $all =~ /^\S*sleep 360\d$/mg);
    } $what;
}

sub relay {
    my ($client, $id, $name) = @_;
    $client->send_line({
        kind   => 'mcp_request',
        id     => $id,
        method => 'tools/call',
        params => { name => $name, arguments => {} },
    });
}

my ($mcp, $rpc, $ipc, $relay) = map { $tg->connect } 1 .. 4;
is text_of($mcp->call_tool('hi')), "hi\n", 'a program runs';
my $first = $tg->runner_pid;

for my $who ('the runner', 'its supervisor') {
    my $tool = $mcp->request('tools/call', { name => 'nap' });
    my $method = $rpc->request('nap');
    $ipc->send_ipc({ method => 'call_tool', params => { name => 'nap' } });
    relay($relay, 5, 'nap');
    # Two sleeps for each of three tools, one of the method.
    runs(7, 'all programs to run');
    my $runner = $tg->runner_pid;
    my $supervisor = parent_of($runner);
    ok grep({ $_ == $runner } $tg->runner_pids), "$who: it is there";
    ok grep({ $_ == $supervisor } $tg->runner_pids), "$who: its supervisor too";

    kill KILL => $who eq 'the runner' ? $runner : $supervisor;

    my $reply = $mcp->reply($tool);
    like text_of($reply), qr/toolgate-runner exited while.*Try again/,
        "$who, MCP: it says what happened";
    ok $reply->{result}{isError}, "$who, MCP: as the tool's error";
    $reply = $rpc->reply($method);
    is $reply->{error}{code}, -32603, "$who, a method: an internal error";
    like $reply->{error}{message}, qr/toolgate-runner exited while/,
        "$who, a method: it says what happened";
    $reply = $ipc->recv_ipc;
    is $reply->{error}{type}, 'ConnectionError', "$who, ipc: its type";
    like $reply->{error}{message}, qr/toolgate-runner exited while/,
        "$who, ipc: it says what happened";
    $reply = $relay->recv_json;
    is $reply->{id}, 5, "$who, relay: the request";
    is $reply->{error}{code}, -32603, "$who, relay: an internal error";

    # At once again: the first worker starts another one.
    relay($relay, 6, 'hi');
    is text_of($mcp->call_tool('hi')), "hi\n", "$who, MCP: the next works";
    is $rpc->rpc('ping')->{result}{pong}, JSON::PP::true, "$who: a ping too";
    is text_of($ipc->ipc_call('hi')), "hi\n", "$who, ipc: the next works";
    is text_of($relay->recv_json), "hi\n", "$who, relay: the next works";
    isnt $tg->runner_pid, $runner, "$who: by another runner";
    runs(0, 'all old programs to end');
    wait_for {
        !grep { $_ == $runner || $_ == $supervisor }
            $tg->runner_pids
    } 'the old runner to be gone';
}
# Both at once: a worker that waits for a response notices, and its new runner
# ends the remaining processes.
{
    my $tool = $mcp->request('tools/call', { name => 'nap' });
    runs(2, 'both programs to run');
    my $runner = $tg->runner_pid;
    # Stopped, neither can handle the other's end.
    my @both = ($runner, parent_of($runner));
    kill $_ => @both for qw(STOP KILL);
    like text_of($mcp->reply($tool)), qr/toolgate-runner exited while/,
        'both: it says what happened';
    runs(0, 'both: all old programs to end');
    is $mcp->call_tool('hi')->{result}{isError} ? 1 : 0, 0,
        'both: the next works';
    like $tg->log, qr/\d+ process.* left by a runner that was killed.*; killed/,
        'both: the log says it';
}
# Another process accepts the worker's next connection and closes it, as a
# killed runner may, whose socket exists a moment longer.
{
    my $tool = $mcp->request('tools/call', { name => 'nap' });
    runs(2, 'both programs to run once more');
    my $runner = $tg->runner_pid;
    my @both = ($runner, parent_of($runner));
    kill STOP => @both;
    my $path = $tg->state_dir . '/runner-3.sock';
    unlink $path or die "$path: $!";
    my $dying = IO::Socket::UNIX->new(Local => $path, Listen => 1)
        or die "$path: $!";
    chmod 0666, $path;
    kill KILL => @both;
    my $last = $dying->accept;
    unlink $path;
    close $_ for $last, $dying;
    like text_of($mcp->reply($tool)), qr/toolgate-runner exited while/,
        'a word less: it says what happened';
    runs(0, 'all old programs to end without a call');
}
isnt $tg->runner_pid, $first, 'it was never the first one again';
like $tg->log, qr/toolgate-runner exited with \d+ calls? in flight/,
    'the log says it';

done_testing;
