#!/usr/bin/perl
# A client with batches that each wait for one slow call: their responses count
# as the client's memory.

use Toolgate::Test plain_too => 'it measures memory';

my $tg = Toolgate::Test->new(workers => 1);
my $text = 'x' x 3500;
$tg->conf(
    join '',
    'method hang { exec sleep 600; timeout 600s; } tool hi { return hi; }',
    map {"tool t$_ { description '$text'; return hi; }\n"} 1 .. 28
)->start;
my ($worker) = $tg->worker_pids;

# 100 lists of 100 KB, and a call without a response.
my $lists = join ',',
    map {qq({"jsonrpc":"2.0","id":"l$_","method":"tools/list"})} 1 .. 100;
my $batch = qq([{"jsonrpc":"2.0","id":%d,"method":"hang"},$lists]);
my $greedy = $tg->connect;
$greedy->send_line(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{'
        . '"protocolVersion":"2025-03-26","capabilities":{},'
        . '"clientInfo":{"name":"g","version":"1"}}}');
is $greedy->recv_json->{id}, 0, 'the client is there';
# It may be closed before it has sent all.
eval { $greedy->send_raw(sprintf "$batch\n", $_) for 1 .. 45 };
my $closed = qr/client closed: the clients of this worker use more than 256/;
wait_for { $tg->log =~ $closed } 'the worker to close it';
pass 'who lets it keep too much is closed';
is $tg->connect->call_tool('hi')->{result}{content}[0]{text}, 'hi',
    'others are served';
my ($peak) = slurp("/proc/$worker/status") =~ /^VmHWM:\s+(\d+)/m;
memory_below $peak, 340 * 1024, 'nor did the worker keep more';

done_testing;
