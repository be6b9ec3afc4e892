#!/usr/bin/perl
# tool_max_inflight: number of running calls of a connection; the next one is
# rejected with the reason; each connection has its own.

use POSIX ();

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $wait = 'exec sh -c "until [ -e %%DIR%%/go ]; do sleep 0.02; done; '
    . 'echo done"; timeout 600s;';
my $tools = "tool wait { $wait } tool now { return ok; } "
    . "method wait { $wait output text; }";
my $conf = join '',
    map {"server { listen unix:%%DIR%%/$_.sock; tool_max_inflight $_;\n"
        . "tool_runner @{[ $tg->runner_path ]}; tool_state_dir %%STATE%%;\n"
        . "$tools }\n"} 1, 3;
$conf .= "server { listen unix:%%DIR%%/default.sock;\n"
    . "tool_runner @{[ $tg->runner_path ]}; tool_state_dir %%STATE%%;\n"
    . "method block { exec cat %%DIR%%/fifo; timeout 600s; output text; }\n"
    . "tool queue { $wait concurrency 4 queue=400; }\n"
    . "tool now { return ok; } }\n";
POSIX::mkfifo($tg->dir . '/fifo', 0600) or die "mkfifo: $!";
$tg->conf($conf, server => 0)->start(socket => $tg->dir . '/1.sock');

for my $name (qw(legacy modern relay)) {
    for my $n (1, 3) {
        unlink $tg->dir . '/go';
        my $socket = $tg->dir . "/$n.sock";
        my @ways =
            map { Toolgate::Way->new($name, $tg->connect($socket)) } 1 .. 2;
        my @open = map { [ $_, $_->start('wait') ] } (@ways) x $n;
        for my $way (@ways) {
            my $answer = $way->call('wait');
            is Toolgate::Way::kind($answer), 'result',
                'call ' . ($n + 1) . " of $n, $name";
            like $answer->{text}, qr/\b$n\b.*tool_max_inflight|
                tool_max_inflight.*\b$n\b/x, "and why, $name";
        }
        $tg->file('go', '');
        is $_->[0]->finish($_->[1])->{text}, "done\n", "the others go on, $name"
            for @open;
        is $ways[0]->call('wait')->{text}, "done\n",
            "there is room again, $name";
    }
}

# A call that ends at once needs no slot; a rejected method has a code.
unlink $tg->dir . '/go';
my $c = $tg->connect($tg->dir . '/1.sock');
my $id = $c->request('wait');
is text_of($c->call_tool('now')), 'ok',
    'what ends at once is served'
    for 1 .. 3;
my $error = $c->rpc('wait')->{error};
is $error->{code}, -32603, 'a method too many';
like $error->{message}, qr/tool_max_inflight/, 'and why';

# A cancelled call frees its slot.
$c->notify('$/cancelRequest', { id => $id });
$id = $c->request('wait');
$c->rpc('ping');
is $c->rpc('wait')->{error}{code}, -32603, 'the new one runs';
$tg->file('go', '');
is $c->reply($id)->{result}, "done\n", 'to its end';

# ipc has one at a time anyway; pipelined calls wait.
my $ipc = Toolgate::Way->new(ipc => $tg->connect($tg->dir . '/1.sock'));
$ipc->start('wait') for 1 .. 5;
is $ipc->finish->{text}, "done\n", 'ipc, one after the other' for 1 .. 5;

# The default is enough for 400 calls at once; requests after them are read.
$c = $tg->connect($tg->dir . '/default.sock');
my @blocked = map { $c->request('block') } 1 .. 400;
$c->notify('$/cancelRequest', { id => $_ }) for @blocked[ 0 .. 398 ];
ok $c->rpc('ping')->{result}{pong}, '400 at once: none is refused';
wait_for { 1 == grep {/fifo/} values %{ $tg->processes } }
    'the cancellations behind them to be read';
pass 'the cancellations behind them are read';

# As many through a bridge: all run before one has ended.
unlink $tg->dir . '/go';
my $bridge = $tg->bridge([ $tg->dir . '/default.sock' ]);
$bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
my %open = map { $_ => 1 }
    map { $bridge->request('tools/call', { name => 'queue' }) } 1 .. 400;
is text_of($bridge->call_tool('now')), 'ok', 'a bridge with 400 at once';
$tg->file('go', '');
my $text = '';
for (1 .. 400) {
    my $answer = $bridge->recv_json;
    delete $open{ $answer->{id} };
    $text .= text_of($answer) // 'nothing';
}
is scalar(keys %open), 0, 'each of them is answered';
is $text, "done\n" x 400, 'with what it had asked for';
$bridge->stop;

done_testing;
