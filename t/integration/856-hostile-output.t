#!/usr/bin/perl
# Outputs of programs that are costly to write as JSON, or endless: another
# client's program is answered meanwhile, and an output that exceeds a frame
# fails as soon as that is known.

use Toolgate::Test plain_too => 'it measures memory';

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool run { exec echo hello; }
tool nul { exec head -c 1000000 /dev/zero; }
tool large {
    exec sh -c 'head -c 12000000 /dev/zero; exec sleep 1000';
    max_output 32m;
}
tool endless { exec yes; timeout 3s; max_output 32m; }
tool errors { exec sh -c 'yes >&2'; timeout 2s; }
tool both {
    exec sh -c 'yes & yes >&2';
    timeout 3s;
    stderr append;
    max_output 32m;
}
END
my $caller = $tg->connect;
my $other = $tg->connect;
$other->call_tool('run');
my $runner = $tg->runner_pid;

sub run_ok {
    my $reply = $other->call_tool('run');
    return ($reply->{result}{content}[0]{text} // '') eq "hello\n";
}

# Beside many that are answered at once: once one response is there, a small one
# comes before the last.
my %nul = map { $_ => 1 }
    map { $caller->request('tools/call', { name => 'nul' }) } 1 .. 20;
my $n = 0;
while (%nul) {
    my $line = $caller->recv_line;
    my ($id) = $line =~ /"id":(\d+)/;
    my ($text) = $line =~ /"text":"((?:\\u0000)*)"/;
    delete $nul{$id} if length $text == 6_000_000;
    run_ok() or last;
    $n++;
}
is $n, 20, 'others are served between large answers';

# Twelve million NULs are 72 MB of JSON: the program need not end first.
my $text = text_of($caller->call_tool('large'));
like $text, qr/larger than 64 MiB when written as JSON|bytes/,
    'an output that no frame carries is refused at once';

# Floods that continue until they are ended.
for my $name (qw(endless errors both)) {
    my $id = $caller->request('tools/call', { name => $name });
    my ($served, $peak) = (0, rss_kb($runner));
    my $before = $peak;
    while ($caller->is_silent(0.02)) {
        run_ok() or last;
        $served++;
        my $rss = rss_kb($runner);
        $peak = $rss if $rss > $peak;
    }
    ok run_ok(), "$name: another client is served";
    my $reply = $caller->reply($id);
    ok $reply->{result}{isError}, "$name: the call fails";
    diag sprintf '%s: %d other calls, %d KiB more; %.70s', $name, $served,
        $peak - $before, text_of($reply);
    memory_below $peak - $before, 98_304, "$name: memory";
}
is $tg->runner_pid, $runner, 'the runner is the same';

done_testing;
