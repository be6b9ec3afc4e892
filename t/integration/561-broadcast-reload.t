#!/usr/bin/perl
# Broadcasts in a storm of reloads: clients in old workers, in new ones and
# between them get each broadcast once, in its caller's order, and each response
# counts all clients.

use Toolgate::Test;

use constant CLIENTS => 24;
use constant CALLERS => 3;

my $reloads = $ENV{TOOLGATE_STORM_RELOADS} // 25;
my $tg = Toolgate::Test->new(workers => 3);
my $body = <<'END';
    listen unix:%%SOCKET%%;
    listen unix:%%DIR%%/proxied.sock proxy_protocol;
    tool_send_timeout 15m;
    method tell { broadcast event; }
    method pid { return $pid; }
    method hold { exec sleep $tool_arg_s; output text; timeout 15m; }
END
$tg->conf($body)->start;

my (@clients, %worker);
while (@clients < CLIENTS || keys %worker < 3) {
    my $client = $tg->connect;
    $worker{ $client->rpc('pid')->{result} }++;
    push @clients, $client;
}
my @callers = map { $tg->connect } 1 .. CALLERS;
my @relay = map { $tg->connect } 1 .. 4;
for my $client (@relay) {
    $client->send_line(
        { kind => 'mcp_request', id => 1, method => 'tools/list' });
    $client->recv_json;
}
$_->rpc('pid') for @callers;
my $told = @clients + @callers + @relay;

# Some have running calls all the time, short ones and long ones.
my (@holds, %held);
for my $i (0 .. 7) {
    my $client = $clients[$i];
    $client->notify('notifications/toolgate/hello') if $i == 7;
    push @holds, [ $client, $client->request('hold', { s => 3600 }) ]
        if $i < 3;
}

# Sends the next one by each caller, and checks the previous one's result.
my (@n, @ids, %wrong);
sub send_next {
    for my $c (0 .. CALLERS - 1) {
        push @{ $ids[$c] },
            $callers[$c]->request('tell', { c => $c, n => ++$n[$c] });
        while (@{ $ids[$c] } > 4) {
            my $reply = $callers[$c]->reply(shift @{ $ids[$c] });
            my $count = $reply->{result}{clients}
                // "error: $reply->{error}{message}";
            $wrong{$count}++ if $count ne $told;
        }
    }
    my $i = 3 + rand 4;
    $held{$i} //= $clients[$i]->request('hold', { s => 0.1 });
}

for my $n (1 .. $reloads) {
    my $from = $tg->log_size;
    $tg->signal_reload('HUP');
    my $until = 0;
    while (1) {
        send_next();
        my @moved = $tg->log($from) =~ /gracefully shutting down/g;
        last if @moved >= 3 && $until++ > 5;
        select undef, undef, undef, 0.003;
    }
    for my $i (keys %held) {
        is $clients[$i]->reply($held{$i})->{error}, undef, 'a call moved'
            if $n % 5 == 0;
        delete $held{$i} if $n % 5 == 0;
    }
}
send_next() for 1 .. 5;
for my $c (0 .. CALLERS - 1) {
    $callers[$c]->reply($_) for @{ $ids[$c] };
}
is_deeply \%wrong, {}, "each broadcast reached $told clients";
diag "broadcasts: @n";

# Reads all broadcasts, by caller.
sub hears {
    my ($client, $name) = @_;
    my @next = (1) x CALLERS;
    my $faults = 0;
    while (grep { $next[$_] <= $n[$_] } 0 .. CALLERS - 1) {
        my $event = $client->recv_where(
            sub { ($_[0]{method} // '') eq 'event' }, undef,
            "$name: one more than @next");
        my ($c, $n) = @{ $event->{params} }{qw(c n)};
        $faults++ if $n != $next[$c];
        $next[$c] = $n + 1;
    }
    return $faults;
}

is hears($clients[$_], "client $_"), 0, "client $_: each once, in order"
    for 0 .. $#clients;
is hears($callers[$_], "caller $_"), 0, "caller $_: each once, in order"
    for 0 .. $#callers;
is hears($relay[$_], "relay $_"), 0, "relay $_: each once, in order"
    for 0 .. $#relay;
$_->[0]->notify('$/cancelRequest', { id => $_->[1] }) for @holds;
for my $client (@clients, @callers) {
    ok $client->rpc('pid')->{result}, 'still the same connection';
    ok !(grep { $_->{method} } @{ $client->{aside} }), 'and nothing twice';
}

# Sessions that cannot move stay in their old worker, and get the new ones.
my $proxied = $tg->connect($tg->dir . '/proxied.sock');
$proxied->send_raw("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n");
my $old = $proxied->rpc('pid')->{result};
my $id = $proxied->request('hold', { s => 3600 });
$tg->reload;
isnt $callers[0]->rpc('pid')->{result}, $old, 'a caller is in a new worker';
is $callers[0]->rpc('tell', { n => 'late' })->{result}{clients}, $told + 1,
    'one more client receives it';
is $proxied->notification('event')->{params}{n}, 'late', 'in an old worker';
$proxied->notify('$/cancelRequest', { id => $id });
ok $proxied->at_eof, 'which leaves with its last call';
wait_for {
    $callers[0]->rpc('tell', { n => 'last' })->{result}{clients} == $told
} 'one less';

# The clients of a killed worker do not count any more.
wait_for { $tg->worker_pids(all => 1) == 3 } 'the old workers to end';
my $own = $callers[0]->rpc('pid')->{result};
my ($victim, @more);
do {
    push @more, $tg->connect;
    $victim = $more[-1]->rpc('pid')->{result};
} while $victim == $own && @more < 1000;
my $lost = grep { $_->rpc('pid')->{result} == $victim } @clients, @callers,
    @more;
$told += @more;
$tg->allow_log(qr/exited on signal 9/);
kill KILL => $victim;
wait_for {
    my $left = $callers[0]->rpc('tell')->{result}{clients};
    return $left <= $told - $lost && $left >= $told - $lost - @relay;
} 'its clients to be forgotten';

done_testing;
