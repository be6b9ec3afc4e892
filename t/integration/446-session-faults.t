#!/usr/bin/perl
# Clients that send anything and close at any moment, and one that behaves: it
# gets every response, and the worker stays.

use Toolgate::Test;

# The same faults each time; another seed finds others.
my $seed = $ENV{TOOLGATE_TEST_SEED} // 7;
srand $seed;
diag "TOOLGATE_TEST_SEED=$seed" if $ENV{TEST_VERBOSE};

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool hi { return 'hi $tool_arg_n'; }
tool run { exec cat; }
tool nap { exec sleep 3600; timeout 2h; }
method m { return '[$tool_json_n]'; }
END
my ($worker) = $tg->worker_pids;
my $good = $tg->connect;
is text_of($good->call_tool(run => { n => 0 })), '{"n":0}', 'it begins well';
my $runner = $tg->runner_pid;
my $fds = fd_count($worker);

sub any { return $_[ rand @_ ] }

sub frame {
    my ($json, $dialect) = @_;
    return $dialect eq 'ipc' ? pack('N/a', $json) : "$json\n";
}

# Returns a request of any kind.
sub request {
    my ($dialect) = @_;
    my $id = any(1 .. 9, '"a"', 'null', '1.5', '{}', '""');
    my $method = any(qw(tools/call tools/list ping initialize m call_tool
        notifications/cancelled server/discover subscriptions/listen));
    my $name = any(qw(hi run nap nope), '');
    my $arguments = any('{}', '{"n":1}', '[]', '"x"', '{"n":"\ud83d"}',
        '{"n":{"a":[1,2,{"b":null}]}}', '{"n":"' . 'y' x int(rand 3000) . '"}');
    my $kind = $dialect eq 'relay' ? '"kind":"mcp_request",' : '';
    return qq({$kind"jsonrpc":"2.0","id":$id,"method":"$method",)
        . qq("params":{"name":"$name","arguments":$arguments,)
        . qq("requestId":$id,"_meta":{"progressToken":1}}});
}

# Damages bytes.
my @damage = (
    sub { $_[0] },
    sub { $_[0] },
    sub { substr $_[0], 0, rand length $_[0] },
    sub { substr $_[0], rand length $_[0] },
    sub { substr($_[0], rand length $_[0], 1) ^= "\x80"; $_[0] },
    sub { substr($_[0], rand length $_[0], 1) = chr rand 256; $_[0] },
    sub { $_[0] . join '', map { chr rand 256 } 1 .. rand 200 },
    sub { $_[0] x (1 + rand 20) },
    sub { '[' . join(',', ($_[0]) x (1 + rand 20)) . "]\n" },
);

my ($calls, $faults) = (0, 0);
my $rounds = 600;
for my $round (1 .. $rounds) {
    my $dialect = any(qw(ipc jsonrpc relay));
    my $client = $tg->connect;
    for (1 .. 1 + rand 4) {
        my $bytes = any(@damage)->(frame(request($dialect), $dialect));
        last if !defined eval { $client->send_some($bytes) };
        $faults++;
    }
    $client->fill(0) if rand > 0.5;
    shutdown $client->{out}, int rand 3 if rand > 0.7;
    $client->close if rand > 0.2;
    next if $round % 10;
    $calls++;
    my $tool = $round % 20 ? 'hi' : 'run';
    my $wanted = $tool eq 'hi' ? "hi $round" : qq({"n":$round});
    my $said = text_of($good->call_tool($tool => { n => $round }));
    die "round $round: $said\n" if $said ne $wanted;
}
pass "$calls calls in between $faults faults";

wait_for { fd_count($worker) <= $fds } 'the worker to let go';
is fd_count($worker), $fds, 'no descriptor is left';
wait_for { !grep {/sleep 3600$/} values %{ $tg->processes } }
    'their programs to end';
is_deeply [ $tg->worker_pids ], [$worker], 'the worker is the same';
is $tg->runner_pid, $runner, 'the runner too';
is text_of($good->call_tool(hi => { n => 'last' })), 'hi last', 'it ends well';
$good->shutdown_write;
ok $good->at_eof, 'nothing else was sent to it';

done_testing;
