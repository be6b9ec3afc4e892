#!/usr/bin/perl
# Two thousand idle connections: the memory of each, and that all are served and
# closed.

use Toolgate::Test plain_too => 'it measures memory';

my ($limit) = slurp('/proc/self/limits') =~ /^Max open files\s+(\d+)/m;
my $count = $limit < 2200 ? $limit - 200 : 2000;
plan(skip_all => "only $limit descriptors") if $count < 200;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END', events => 'worker_connections 4096;')->start;
tool hi { return 'hi $tool_arg_name'; }
tool run { exec cat; }
END
my ($worker) = $tg->worker_pids;
my $text = 'x' x 20_000;

# The first calls need memory that is not a connection's.
text_of($tg->connect->call_tool($_ => { name => $text })) for 'hi', 'run';
sub fds { return fd_count($worker) }
# Closes of earlier clients have been handled when this one gets its second
# response; it stays.
my $last = $tg->connect;
$last->call_tool('hi') for 1, 2;
my $fds = fds();

sub costs {
    my ($name, $before) = @_;
    my $each = (rss_kb($worker) - $before) * 1024 / $count;
    diag sprintf '%s: %d bytes of memory a connection', $name, $each;
    memory_below $each, 4096, "$name: a few kilobytes a connection";
}

my $before = rss_kb($worker);
my @clients = map { $tg->connect } 1 .. $count;
wait_for { fds() >= $fds + $count } 'the worker to accept them all';
costs('silent', $before);

# They had large responses before; nothing of that is kept.
my $line = Toolgate::Client->encode({
    jsonrpc => '2.0', id => 1, method => 'tools/call',
    params => { name => 'hi', arguments => { name => $text } },
});
$_->send_line($line) for @clients;
my $served = grep {
    length $_->recv_line > 20_000
} @clients;
is $served, $count, "all of the $count are served";
costs('after a call of 20 KB', $before);

# The same with a program behind it, in all dialects.
@clients[ 0 .. 99 ] = map { $tg->connect } 0 .. 99;
for my $i (0 .. 99) {
    my $client = $clients[$i];
    my %call = (
        method => 'tools/call',
        params => { name => 'run', arguments => { name => $text } },
    );
    $i % 2
        ? $client->send_line({ kind => 'mcp_request', id => 1, %call })
        : $client->send_ipc({ %call, method => 'call_tool' });
}
$served = grep {
    my $reply = $_ % 2 ? $clients[$_]->recv_json(30)
        : $clients[$_]->recv_ipc(30);
    length text_of($reply) > 20_000;
} 0 .. 99;
is $served, 100, 'so are calls of programs';

$_->close for splice @clients, 0, $count / 2;
wait_for { fds() <= $fds + $count / 2 } 'half of them to be closed';
$served = grep {
    $_->send_line('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    $_->recv_line =~ /"result"/;
} @clients;
is $served, @clients, 'the other half stays';
$_->close for @clients;
wait_for { fds() <= $fds } 'all of them to be closed';
pass 'no descriptor is left';

@clients = map { $tg->connect } 1 .. $count;
wait_for { fds() >= $fds + $count } 'as many once more';
costs('once more', $before);
$tg->stop(signal => 'QUIT');
is grep({ $_->at_eof } @clients), $count, 'all of them are closed at the end';

done_testing;
