#!/usr/bin/perl
# A reload while clients use much memory: batches that wait for a slow call, and
# beginnings of messages. A session's memory is in one worker or the other,
# never twice, and the old one frees it.

use strict;
use warnings;

use Toolgate::Test qw(Hang), plain_too => 'it measures memory';

my $tg = Toolgate::Test->new(workers => 1);
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my ($stays, $goes) = map { $tg->dir . "/$_.sock" } qw(stays goes);
my $text = 'x' x 3500;
my $many = join '',
    map {"tool t$_ { description '$text'; return hi; }\n"} 1 .. 28;

sub server {
    my ($socket, $n) = @_;
    return <<"END";
server {
    listen         unix:$socket;
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir %%STATE%%;
    method n { return $n; }
    method hang { $handler output text; }
    $many
}
END
}

sub memory {
    my ($pid, $what) = @_;
    my ($kb) = (slurp("/proc/$pid/status") // '') =~ /^$what:\s+(\d+)/m;
    return $kb // 0;
}

# One session with batches of 8 MiB each; many with a small part of a message,
# on the heap, and one after them that does not move.
my $batches = 7;
my $inside = 80;
my $lists = join ',',
    map {qq({"jsonrpc":"2.0","id":"l$_","method":"tools/list"})} 1 .. $inside;
my $parts = 250;
my $part = '{"jsonrpc":"2.0","id":7,"method":"n","params":{"x":"'
    . 'x' x 60_000;

$tg->conf(server($stays, 0) . server($goes, 0), server => 0)
    ->start(socket => $stays);
my ($old) = $tg->worker_pids;
my @anchors = map { $tg->connect($goes) } 1 .. 2;
$anchors[$_]->request('hang', { key => "anchor$_" }) for 0, 1;
$hang->started("anchor$_") for 0, 1;
my $before = memory($old, 'VmRSS');

my $greedy = $tg->connect($stays);
$greedy->send_line(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{'
        . '"protocolVersion":"2025-03-26","capabilities":{},'
        . '"clientInfo":{"name":"g","version":"1"}}}');
is $greedy->recv_json->{id}, 0, 'the client is there';
for my $n (1 .. $batches) {
    $greedy->send_line(
        qq([{"jsonrpc":"2.0","id":"b$n","method":"hang",)
            . qq("params":{"key":"b$n"}},$lists]));
    $hang->started("b$n");
}
my @others = map { $tg->connect($stays) } 1 .. $parts;
is scalar(grep { $_->rpc('n')->{result} == 0 } @others), $parts,
    'all are served';
$_->send_raw($part) for @others;
$anchors[1]->send_raw($part);
wait_for { memory($old, 'VmRSS') - $before > 66 * 1024 }
'the worker to have it all';
is $greedy->rpc('n')->{result}, 0, 'it is served';
my $held = memory($old, 'VmRSS') - $before;

$tg->conf(server($stays, 1), server => 0);
my ($peak, $new, $from) = (0, undef, $tg->log_size);
kill HUP => $tg->master_pid;
wait_for {
    ($new) = grep { $_ != $old } $tg->worker_pids if !$new;
    my $sum = memory($old, 'VmRSS') + ($new ? memory($new, 'VmRSS') : 0);
    $peak = $sum if $sum > $peak;
    my $gone = () = $tg->log($from) =~ /client moves to another worker/g;
    return $gone > $parts;
}
'the sessions to leave the old worker';
is $greedy->rpc('n')->{result}, 1, 'the batches are in the new worker';
$_->send_raw(qq("}}\n)) for @others;
is scalar(grep { $_->recv_json->{result} == 1 } @others), $parts,
    'so are parts of messages';

if (!Toolgate::Test::is_san()) {
    # Less than malloc_trim()'s threshold, and what sessions were.
    my ($left, $most_left) = (0, 8192 + 2048);
    wait_for { ($left = memory($old, 'VmRSS') - $before) < $most_left }
        'the old worker to give it back';
    diag "$held KiB held, the old worker keeps $left";
    cmp_ok $left, '<', $most_left, 'the old worker has given it back';
    # In addition to its current memory: a batch, and the cache of large blocks.
    my $most = $held + 2 * 8192;
    my %kb = (
        'the old worker'       => memory($old, 'VmHWM') - $before,
        'the new worker'       => memory($new, 'VmHWM') - $before,
        'both, as far as seen' => $peak - 2 * $before,
    );
    cmp_ok $kb{$_}, '<', $most, "no second copy: $_" for sort keys %kb;
    diag join ', ', map {"$_: $kb{$_} KiB"} sort keys %kb;
}

$hang->finish("b$_") for 1 .. $batches;
for my $n (1 .. $batches) {
    my $line = $greedy->recv_line;
    my $answers = () = $line =~ /"id":"l\d+","result":\{"tools":/g;
    is $answers, $inside, "batch $n is whole";
    like $line, qr/"id":"b(\d+)","result":"done b\1\\n"/, 'with what ran';
}
$hang->finish("anchor$_") for 0, 1;
is $anchors[$_]->recv_json->{result}, "done anchor$_\n",
    'who stayed is answered'
    for 0, 1;

done_testing;
