#!/usr/bin/perl
# A runner that hangs: the worker continues to serve, its own deadline answers
# the calls, and nothing is answered twice afterwards.

use Toolgate::Test;

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool_log calls.json json;
tool hi { return hi; tool_log off; }
tool run { exec echo $tool_arg_n; timeout 4s; }
method run { exec echo 1; timeout 4s; }
END
my ($mcp, $rpc, $ipc) = map { $tg->connect } 1 .. 3;
is text_of($mcp->call_tool(run => { n => 0 })), "0\n", 'it runs';
my $runner = $tg->runner_pid;

stopped(
    sub {
        my $start = time;
        my $tool = $mcp->request('tools/call',
            { name => 'run', arguments => { n => 1 } });
        my $method = $rpc->request('run');
        $ipc->send_ipc({ method => 'call_tool', params => { name => 'run' } });
        is text_of($mcp->call_tool('hi')), 'hi', 'others are served';

        # One is cancelled, one disconnects.
        my $cancelled = $mcp->request('tools/call', { name => 'run' });
        $mcp->notify('notifications/cancelled', { requestId => $cancelled });
        my $gone = $tg->connect;
        $gone->request('tools/call', { name => 'run' });
        is text_of($gone->call_tool('hi')), 'hi', 'its call is under way';
        $gone->close;

        my $reply = $mcp->reply($tool);
        ok $reply->{result}{isError}, 'MCP: a deadline';
        like text_of($reply), qr/timed out.*ask the operator/,
            'MCP: what to do';
        $reply = $rpc->reply($method);
        is $reply->{error}{code}, -32603, 'a method: a deadline';
        is $ipc->recv_ipc->{error}{type}, 'TimeoutError', 'ipc: a deadline';
        cmp_ok time - $start, '>', 8, 'not before the runner might have';
        like $tg->log, qr/toolgate-runner did not answer in time/,
            'the log says it';
    },
    $runner);

is text_of($mcp->call_tool(run => { n => 2 })), "2\n", 'MCP: it wakes up';
is $rpc->rpc('run')->{result}, 1, 'a method: it wakes up';
is text_of($ipc->ipc_call(run => { n => 3 })), "3\n", 'ipc: it wakes up';
for my $client ($mcp, $rpc, $ipc) {
    $client->shutdown_write;
    ok $client->at_eof, 'nothing was answered twice';
}
is $tg->runner_pid, $runner, 'the same runner';

# Each has a log line that names the cause.
my %lines;
my $log = slurp($tg->dir . '/calls.json');
$lines{"$1 $2"}++ while $log =~ /"status":"(\w+)","rule":(\S+?),/g;
is_deeply \%lines, {
    'ok null'           => 4,
    'cancelled null'    => 1,
    'gone null'         => 1,
    'timeout "runner"'  => 3,
}, 'a line for each call';

done_testing;
