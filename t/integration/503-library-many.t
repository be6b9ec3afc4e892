#!/usr/bin/perl
# Many calls of libraries: a hundred thousand leave no memory and no descriptor;
# clients cancel and close while threads answer; and threads that nobody ended
# continue while the worker exits.

use Toolgate::Test qw(Many Native), plain_too => 'it measures memory';

my $is_san = Toolgate::Test::is_san();
my $tg = Toolgate::Test->new(workers => 1);
Toolgate::Native->probe($tg->dir . '/probe.so', 'one');
$tg->conf(<<'END')->start;
tool_max_inflight 65536;
tool echo { library probe.so probe_echo; }
tool race { library probe.so probe_race 0 $tool_arg_key; timeout 600s; }
tool wait {
    library probe.so probe_later $tool_arg_s $tool_arg_key;
    timeout 600s;
}
END
my ($worker) = $tg->worker_pids;

my $client = $tg->connect;
# Except races, sanitizers find at once what is wrong; only memory needs many
# calls.
my %calls = $is_san ? (echo => 2_000, race => 10_000)
    : (echo => 80_000, race => 20_000);
calls($client, $_, $calls{$_} / 10) for sort keys %calls;

# The last thread has answered, and may be ending, with its memory.
sub threads_end {
    wait_for { slurp("/proc/$worker/status") =~ /^Threads:\s+1$/m }
        'the threads to end';
}
threads_end();
my $fds = fd_count($worker);
my ($grown, $most) = (0, 2048);
# Allocators keep the memory of as many threads as there were at once; a leak
# grows each time.
for (1 .. 3) {
    my $before = rss_kb($worker);
    for my $tool (sort keys %calls) {
        is calls($client, $tool, $calls{$tool}), undef,
            "$calls{$tool} calls of $tool";
    }
    threads_end();
    $grown = rss_kb($worker) - $before;
    last if $is_san || $grown < $most;
}
memory_below $grown, $most, 'the worker has not grown';
is fd_count($worker), $fds, 'nor has it more descriptors';

# --- cancellation at any moment ---------------------------------------------

# Calls of a few milliseconds, which are cancelled about when their threads
# answer; then the whole client closes.
my $rounds = $is_san ? 10 : 40;
my ($answered, $sent) = (0, 0);
for my $round (1 .. $rounds) {
    my $hasty = $tg->connect;
    my @ids = map {
        $hasty->request('tools/call', {
            name      => 'wait',
            arguments => { s => $_ % 4 / 1000, key => "h$round-$_" },
        })
    } 1 .. 40;
    $sent += @ids;
    select undef, undef, undef, $round % 5 / 1000;
    $hasty->notify('notifications/cancelled', { requestId => $_ })
        for grep { $_ % 2 } @ids;
    my %seen;
    my %open = map { $_ => 1 } grep { $_ % 2 == 0 } @ids;
    while ($round % 2 && %open) {
        my $reply = $hasty->recv_json;
        $answered++;
        is ++$seen{ $reply->{id} }, 1, 'answered twice'
            if $seen{ $reply->{id} };
        delete $open{ $reply->{id} };
    }
    $hasty->close;
}
cmp_ok $answered, '>=', 20 * $rounds / 2,
    'those that were not cancelled are answered';
is text_of($client->call_tool('echo', { a => 1 })), '{"a":1}',
    'and the worker continues';
wait_for { return slurp("/proc/$worker/status") =~ /^Threads:\s+1$/m }
    'all threads to end';
is fd_count($worker), $fds, 'no descriptor is left of them';
my $ended = $tg->log_size;
$tg->stop;
like $tg->log($ended), qr/calls (\d+), ended \1,/, 'each call has ended, once';

# --- the worker exits -------------------------------------------------------

my $haunted = Toolgate::Test->new;
Toolgate::Native->probe($haunted->dir . '/probe.so', 'one');
my $body = <<'END';
tool haunt { library probe.so probe_haunt; timeout 1s; }
tool echo { library probe.so probe_echo; }
END
$haunted->conf($body)->start;
$client = $haunted->connect;
for (1 .. 20) {
    like text_of($client->call_tool('haunt')), qr/^boo$|within 1000 ms/,
        'what threads say of calls that they do not have';
    is text_of($client->call_tool('echo', { a => $_ })),
        qq({"a":$_}), 'is of no harm'
        if $_ > 10;
    $haunted->reload($body) if $_ % 4 == 0;
}
$client->close;
$haunted->stop(signal => 'QUIT');
unlike slurp($haunted->dir . '/error.log'),
    qr/exited on signal|exited with code [^0]/,
    'a worker ends well, whatever threads it has';

done_testing;
