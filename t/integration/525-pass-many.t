#!/usr/bin/perl
# A hundred thousand passed-on calls, in each protocol, leave no memory and no
# descriptor; nor do clients that cancel them or close.

use strict;
use warnings;

use Toolgate::Test qw(Many), plain_too => 'it measures memory';

# Sanitizers find at once what is wrong; only memory needs many calls.
my $is_san = Toolgate::Test::is_san();
my $calls = $is_san ? 500 : 25_000;
my $there = Toolgate::Test->new(workers => 1);
$there->conf(<<'END')->start;
tool echo { description "Says it."; return $tool_arg_key; }
END
my @protocols = qw(ipc jsonrpc mcp relay);
my $tg = Toolgate::Test->new(workers => 1);
my $backend = $there->socket_path;
$tg->conf(join '', 'tool who { clients; }', map {
    "tool $_ { pass unix:$backend protocol=$_ name=echo; }\n"
} @protocols)->start;
my ($worker) = $tg->worker_pids;
my ($behind) = $there->worker_pids;

my $client = $tg->connect;

# Clients leave calls, which must make room for others.
sub leave_some {
    my ($tool) = @_;
    leave($tg, $tool);
    # Abandoned calls may still fill the connection.
    like text_of($client->call_tool($tool, { key => 'k' })),
        qr{\Ak\z|too much data is waiting|tool_max_inflight},
        "a call in $tool meanwhile";
    wait_for {
        text_of($client->call_tool('who')) =~ /\A\{"count":1,/
            && text_of($client->call_tool($tool, { key => 'k' })) eq 'k'
    } "room for calls in $tool";
}

leave_some($_), calls($client, $_, $is_san ? 100 : 2500) for @protocols;
my @fds = (fd_count($worker), fd_count($behind));
my ($grown, $most) = (0, 2048);
# Allocators keep the memory of a peak, as when clients leave while the worker
# is behind; a leak grows each time.
for (1 .. 3) {
    my $before = rss_kb($worker);
    for my $tool (@protocols) {
        leave_some($tool);
        is calls($client, $tool, $calls), undef, "$calls calls in $tool";
    }
    $grown = rss_kb($worker) - $before;
    last if $is_san || $grown < $most;
}
memory_below $grown, $most, 'the worker has not grown';

# In ipc, a cancelled call ends its connection, so there may be fewer.
wait_for { fd_count($worker) <= $fds[0] + 8 } 'its descriptors';
wait_for { fd_count($behind) <= $fds[1] + 8 } 'those of the backend';
pass 'nor has it more descriptors';

done_testing;
