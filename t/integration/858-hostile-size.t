#!/usr/bin/perl
# Responses that exceed their client's maximum: the runner replaces them and
# sends no more to the worker. Arguments that are too large for a program: the
# worker rejects them without the runner.

use Toolgate::Test plain_too => 'it measures memory';

# Returns the peak growth of a process during some code, in KiB.
sub grown {
    my ($pid, $do) = @_;
    my $before = rss_kb($pid);
    open my $fh, '>', "/proc/$pid/clear_refs" or die "clear_refs: $!\n";
    syswrite $fh, "5\n" or die "clear_refs: $!\n";
    $do->();
    my ($peak) = (slurp("/proc/$pid/status") // '') =~ /^VmHWM:\s*(\d+)/m;
    return $peak - $before;
}

my $tg = Toolgate::Test->new(workers => 1);
my $x = sub {
    my ($n, $head, $tail) = @_;
    return "printf '%s' '$head'; head -c $n /dev/zero | tr '\\0' x;"
        . " printf '%s' '$tail'";
};
my $server = $tg->file('server.pl', <<'END', 0755);
use strict;
use warnings;
$| = 1;
while (my $line = readline) {
    my ($id) = $line =~ /"id":(\d+)/ or next;
    my $result = $line =~ /"initialize"/
        ? '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},'
        . '"serverInfo":{"name":"s","version":"1"}}'
        : $line =~ /"tools.list"/
        ? '{"tools":[{"name":"big","inputSchema":{"type":"object"}}]}'
        : $line =~ /"tools.call"/
        ? '{"content":[{"type":"text","text":"' . 'x' x 20_000_000 . '"}]}'
        : undef;
    print qq({"jsonrpc":"2.0","id":$id,),
        defined $result ? qq("result":$result}\n)
        : qq("error":{"code":-32601,"message":"no"}}\n);
}
END
# A backend: a call has the size of its response.
my $backend = $tg->file('backend.pl', <<'END', 0755);
use strict;
use warnings;
use IO::Socket::UNIX;
$SIG{CHLD} = 'IGNORE';
alarm 600;
my $listener = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 8) or die;
chmod 0777, $ARGV[0];
while (my $conn = $listener->accept) {
    next if fork;
    while (my $line = <$conn>) {
        my ($id) = $line =~ /"id":(\d+)/ or next;
        my $n = $line =~ /"n":(\d+)/ ? $1 : 0;
        print $conn qq({"jsonrpc":"2.0","id":$id,"result":["),
            'x' x $n, qq("]}\n);
    }
    exit;
}
END
my %script = (
    text   => $x->(20_000_000, '', ''),
    json   => $x->(20_000_000, '["', '"]'),
    result => $x->(
        20_000_000, '{"content":[{"type":"image","mimeType":"image/png",'
            . '"data":"', '"}]}'),
    fits => $x->(9_000_000, '', ''),
    once => 'head -c 3000000 /dev/zero',
    none => $x->(20_000_000, '{"a":"', ''),
);
my %output = (json => 'json', result => 'result', none => 'json');
my $conf = join "\n", map {
    $tg->file("$_.sh", $script{$_});
    my $output = $output{$_} ? "output $output{$_};" : '';
    "tool $_ { exec sh %%DIR%%/$_.sh; max_output 32m; $output }"
} sort keys %script;
$tg->conf(<<"END")->start;
$conf
tool word {
    exec env V=\$tool_arg_v printf %s \$tool_arg_x;
    env W \$tool_arg_w;
}
tool ask {
    http GET http://127.0.0.1:1/;
    query q \$tool_arg_x;
}
tool pass {
    pass unix:%%DIR%%/backend protocol=jsonrpc method=get;
    output json;
    max_output 32m;
}
mcp_server s {
    exec perl $server;
    max_output 32m;
    prefix s_;
}
END
my $client = $tg->connect;
is text_of($client->call_tool('word', { x => 'a' })), 'a',
    'a program that can be started';
my ($worker) = $tg->worker_pids;
my $pid = fork // die "fork: $!";
exec 'perl', $backend, $tg->dir . '/backend' if $pid == 0;
wait_for { -e $tg->dir . '/backend' } 'the backend';
my $runner = $tg->runner_pid;

# Much less than what is rejected, and more than all else.
my $little = 8192;
my ($kb, $reply);

# --- arguments ------------------------------------------------------------

for my $name (qw(x v w)) {
    $kb = grown(
        $runner,
        sub {
            $reply = $client->call_tool('word', { $name => 'x' x 10_000_000 });
        });
    ok $reply->{result}{isError}, "$name: a word that is too long";
    is text_of($reply), 'word could not be started: its arguments and '
        . 'environment are larger than the system allows; pass large values '
        . 'on its standard input.', "$name: why";
    memory_below $kb, $little, "$name: the runner is not asked";
}
my $most = 32 * POSIX::sysconf(POSIX::_SC_PAGESIZE()) - 1;
is length text_of($client->call_tool('word', { x => 'x' x $most })), $most,
    'the longest word';
ok $client->call_tool('word', { x => 'x' x ($most + 1) })->{result}{isError},
    'one byte more';
is text_of($client->call_tool('word', { x => 'a' })), 'a', 'the next one';

# So is a URL that cannot be sent.
$kb = grown(
    $runner,
    sub { $reply = $client->call_tool('ask', { x => '/' x 3_000_000 }) });
ok $reply->{result}{isError}, 'a URL that is too long';
like text_of($reply), qr/URL has more than 8000000 bytes/, 'why';
memory_below $kb, $little, 'the runner is not asked';
like text_of($client->call_tool('ask', { x => '/' x 2_000_000 })),
    qr/cannot be reached/, 'a shorter one is tried';

# --- answers --------------------------------------------------------------

wait_for { ($client->call_tool('s_big')->{error}{code} // 0) == -32603 }
    'the server';

sub refused {
    my ($name, $size, $what) = @_;
    my $reply;
    my $kb = grown($worker, sub { $reply = $client->call_tool($name) });
    is $reply->{error}{code}, -32603, "$what is refused";
    is $reply->{error}{message},
        "The answer has $size bytes, more than the 10485760 that this "
        . 'connection carries; ask for less.', "$what: why";
    memory_below $kb, $little, "$what: the worker gets nothing of it";
}

refused(text => 20_000_000, 'a text');
refused(once => 18_000_000, 'a text that escapes make too large');
refused(json => 20_000_004, 'JSON');
refused(none => 20_000_006, 'what is no JSON');
refused(result => 20_000_063, 'a result');
refused(s_big => 20_000_039, 'a result of an MCP server');
is length text_of($client->call_tool('fits')), 9_000_000, 'what fits is sent';

# In `ipc`, only the texts of a result count.
my $ipc = $tg->connect;
$kb = grown($worker, sub { $reply = $ipc->ipc_call('s_big') });
is $reply->{error}{type}, 'IPCMessageSizeError', 'a result in ipc is refused';
like $reply->{error}{message}, qr/has 20000000 bytes, more than the 10485760/,
    'and why';
memory_below $kb, $little, 'the worker gets nothing of it';
is text_of($tg->connect->ipc_call('result')), '', 'an image has no text';

# --- a backend of `pass` ---------------------------------------------------

is text_of($client->call_tool('pass', { n => 3 })), '["xxx"]', 'a backend';
$reply = $client->call_tool('pass', { n => 20_000_000 });
is $reply->{error}{message},
    'The answer has 20000004 bytes, more than the 10485760 that this '
    . 'connection carries; ask for less.', 'an answer that is too large';
$kb = grown($worker,
    sub { $reply = $client->call_tool('pass', { n => 60_000_000 }) });
ok $reply->{result}{isError}, 'one that is larger than any output';
is text_of($reply), "pass: the backend's answer has more than the maximum of "
    . '33554432 bytes (max_output); ask for less.', 'why';
memory_below $kb, 45_000, 'the rest of it is not held';
is text_of($client->call_tool('pass', { n => 3 })), '["xxx"]', 'the next one';
kill TERM => $pid;
waitpid $pid, 0;

done_testing;
