#!/usr/bin/perl
# A call's memory is free after its end: a worker does not grow with the number
# of calls of a connection, or of connections.

use Toolgate::Test plain_only => 'it measures memory';

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END', stream => <<'STREAM')->start;
tool echo { return '$tool_arg_text$tool_arguments$part$tool_json_n'; }
tool run { exec true $tool_arg_text $part; env TEXT $tool_arg_text; }
END
map $tool_arg_text $part {
    default          none;
    ~^(?<some>x+)(.+)$  "$some$2";
}
STREAM
my ($worker) = $tg->worker_pids;

# Backslashes, so that every value must be decoded, and no two are equal.
sub line {
    my ($id, $tool, $length) = @_;
    my $text = substr 'x\\n' x $length, 0, $length - $length % 3;
    return qq({"jsonrpc":"2.0","id":$id,"method":"tools/call","params":)
        . qq({"name":"$tool","arguments":{"n":$id,"text":"$text"}}}\n);
}

my $id = 0;
sub calls {
    my ($client, $tool, $count, $length) = @_;
    # No more requests ahead than are read before the responses.
    my $ahead = $length < 10_000 ? 50 : 1;
    while ($count > 0) {
        my $now = $count < $ahead ? $count : $ahead;
        $client->send_raw(join '',
            map { line(++$id, $tool, $length) } 1 .. $now);
        for (1 .. $now) {
            my $line = $client->recv_line(30);
            die "$tool: $line\n" if index($line, '"isError":false') < 0;
        }
        $count -= $now;
    }
}

sub grows {
    my ($name, $code, $limit) = @_;
    my $grown;
    # How much is in transit at once depends on the machine's load, and a peak's
    # memory is kept; a leak grows each time.
    for (1 .. 3) {
        my $before = rss_kb($worker);
        $code->();
        $grown = rss_kb($worker) - $before;
        last if $grown < $limit;
    }
    diag "$name: $grown KiB" if $ENV{TEST_VERBOSE};
    cmp_ok $grown, '<', $limit, "$name: the worker does not grow";
}

my $client = $tg->connect;
calls($client, 'echo', 1000, 1000);
grows('20000 calls of 1 KB', sub { calls($client, 'echo', 20_000, 1000) },
    128);
calls($client, 'run', 100, 1000);
grows('1000 programs with 1 KB', sub { calls($client, 'run', 1000, 1000) },
    256);
calls($client, 'echo', 5, 200_000);
grows('200 calls of 200 KB', sub { calls($client, 'echo', 200, 200_000) },
    2048);
grows('5000 connections', sub {
    calls($tg->connect, 'echo', 1, 1000) for 1 .. 5000;
}, 256);

done_testing;
