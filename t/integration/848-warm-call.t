# A warm call on the fast path: no allocation, one read, one write, and no other
# system call, whatever number of requests one read brings.

use Toolgate::Test qw(Faults);

my $calls = 20;

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->conf(<<'END')->start;
tool echo {
    description  "Answers with its text.";
    input_schema '{"type":"object","properties":{"text":{"type":"string"}},
                   "required":["text"]}';
    return       $tool_arg_text;
}
END
my ($worker) = $tg->worker_pids;
$faults->calm($worker);
# Eight calls are one time slice, but maybe not on any machine in 50
# microseconds.
$faults->stop_clock;

my $call =
    '"params":{"name":"echo","arguments":{"text":"%s"}}}';
my %request = (
    jsonrpc => qq({"jsonrpc":"2.0","id":%d,"method":"tools/call",$call\n),
    relay   => qq({"kind":"mcp_request","id":%d,"method":"tools/call",$call\n),
    ipc     => qq({"id":%d,"method":"call_tool",$call),
);

# Returns the number of complete responses in these bytes.
sub answers {
    my ($dialect, $bytes) = @_;
    return $bytes =~ tr/\n// if $dialect ne 'ipc';
    return length $bytes >= 4 && length $bytes == 4 + unpack 'N', $bytes;
}

# Sends calls in one write, and reads all responses.
sub talk {
    my ($client, $dialect, $size, $depth) = @_;
    my $text = 'a' x $size;
    my $bytes = join '', map { sprintf $request{$dialect}, $_, $text }
        1 .. $depth;
    $bytes = pack 'N/a*', $bytes if $dialect eq 'ipc';

    # Input that a worker reads while it is written would come in two reads.
    if ($size > 16_000) {
        stopped(sub { syswrite $client, $bytes }, $worker);
    } else {
        syswrite $client, $bytes;
    }

    my $got = '';
    while (answers($dialect, $got) < $depth) {
        sysread $client, $got, 131_072, length $got
            or die "$dialect: the connection ended\n";
    }
    my $n = () = $got =~ /"text":"\Q$text\E"/g;
    die "$dialect: wrong answers\n" if $n != $depth;
}

sub counts {
    return map { $faults->made($_) } qw(allocs recv send epoll others);
}

for my $work ([ 64, 1 ], [ 64, 8 ], [ 4096, 1 ], [ 16_000, 1 ], [ 65_536, 1 ])
{
    my ($size, $depth) = @$work;
    for my $dialect (qw(jsonrpc relay ipc)) {
        next if $dialect eq 'ipc' && $depth > 1;
        my $client = IO::Socket::UNIX->new(Peer => $tg->socket_path)
            or die "connect: $!";
        talk($client, $dialect, $size, $depth) for 1 .. $calls;
        my @before = counts();
        talk($client, $dialect, $size, $depth) for 1 .. $calls;
        my @after = counts();
        my @made = map { $after[$_] - $before[$_] } 0 .. $#after;

        my $name = "$dialect, $depth × $size bytes";
        is $made[0], 0, "$name: nothing is allocated";
        is_deeply [ @made[ 1, 2 ] ], [ $calls, $calls ],
            '... one read and one write each';
        # A worker that was stopped logs it.
        is_deeply [ @made[ 3, 4 ] ], [ 0, 0 ], '... and nothing else is called'
            if $size <= 16_000;
    }
}

done_testing;
