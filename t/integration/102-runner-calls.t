#!/usr/bin/perl
# The runner as a server: many calls and clients at once, and clients that send
# garbage, do not read, or close.

use Toolgate::Test qw(Runner);

my $tg = Toolgate::Test->new;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;

# Responses are sent as programs end, each for its own request.
my $go = $tg->dir . '/go';
my $slow = $c->request('exec',
    Toolgate::Runner::sh("until [ -e $go ]; do sleep 0.01; done; echo ok"));
my %want;
for my $i (1 .. 200) {
    my $argv = [ '/bin/echo', "$i" ];
    my $id = $c->request('exec', { tool => 't', argv => $argv });
    $want{$id} = "$i\n";
}
my $wrong = 0;
for (1 .. 200) {
    my $reply = $c->recv_json;
    my $want = delete $want{ $reply->{id} };
    $wrong++ if !defined $want || $reply->{result}{text} ne $want;
}
is $wrong, 0, '200 calls at once, each answered once with its own output';
$tg->file('go', '');
is $c->reply($slow)->{result}{text}, "ok\n", 'the slow one when it is done';

# More than a megabyte in both directions.
my $text = join '', map {"line $_ \x{e9}\n"} 1 .. 200000;
my $reply = Toolgate::Runner::exec($c, ['/bin/cat'],
    stdin => $text, max_output => 33554432);
ok $reply->{result}{text} eq $text, 'several megabytes through cat';

# Garbage.
$c->send_line('{"jsonrpc":"2.0","id":1');
is $c->recv_json->{error}{code}, -32700, 'invalid JSON';
is $c->rpc('nope')->{error}{code}, -32601, 'unknown method';
is $c->rpc('exec', { argv => 1 })->{error}{code}, -32602, 'wrong params';
is $c->rpc('exec')->{error}{code}, -32602, 'no params';
$c->notify('exec', { tool => 't', argv => ['/bin/true'] });
is $c->rpc('status')->{result}{connections}, 1, 'a notification has no answer';

# A client cannot affect another one's calls.
my $d = $runner->connect;
my ($params, $pids) = Toolgate::Runner::stubborn($tg->dir);
my $id = $c->request('exec', $params);
my @pids = $pids->();
$d->notify('$/cancelRequest', { id => $id });
$d->rpc('status');
is scalar(grep { is_alive($_) } @pids), 3,
    'another client cannot cancel by the same id';
my $mine = $d->request('exec', Toolgate::Runner::sh('sleep 1000'));
$d->close;
wait_for { $c->rpc('status')->{result}{running} == 1 }
    "the other client's program to end";
is scalar(grep { is_alive($_) } @pids), 3, 'its end is not that of ours';
$c->notify('$/cancelRequest', { id => $id });
wait_for { !grep { is_alive($_) } @pids } 'the tree to end';
wait_for { $c->rpc('status')->{result}{running} == 0 } 'the slot to be free';
pass 'cancelled by who asked';

# A client does not read: its responses wait, others are served.
my $deaf = $runner->connect;
my $big = Toolgate::Runner::sh('yes 0123456789 | head -c 8000000',
    max_output => 8000000);
my %open = map { $deaf->request('exec', $big) => 1 } 1 .. 20;
is Toolgate::Runner::exec($c, [ '/bin/echo', 'hi' ])->{result}{text}, "hi\n",
    'the others are served';
for (1 .. 20) {
    # Not decoded: that would take too long.
    my $line = $deaf->recv_line(60);
    my ($answered) = $line =~ /"id":(\d+)/;
    delete $open{$answered}
        if $line =~ /\A\{.*0123456789\\n.*",(?:"\w+":\d+,?){3}\}\}\z/s;
    cmp_ok length $line, '>', 8000000, 'an answer is whole';
}
is join(' ', keys %open), '', 'each request has one';
$deaf->request('exec', $big) for 1 .. 20;
$deaf->close;
wait_for {
    my $status = $c->rpc('status')->{result};
    return $status->{running} + $status->{queued} == 0
        && $status->{connections} == 1;
} 'what it left to end';
pass 'and gone, it leaves nothing';

# More than a frame may hold.
my $huge = $runner->connect;
$huge->send_raw('{"jsonrpc":"2.0","id":1,"method":"exec","params":{"x":"');
$huge->send_raw('x' x 67108864, 180);
$huge->send_raw("\"}}\n");
is $huge->recv_json(180)->{error}{code}, -32600, 'a frame beyond 64 MiB';
is $huge->rpc('status')->{result}{version}, 3, 'the next one is served';

done_testing;
