#!/usr/bin/perl
# A disk without space for a large output: the call fails as without storing,
# nothing of it is left, and neither the runner nor stored outputs are affected.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool many  { exec seq $tool_arg_n; max_output 4k spill; }
tool fails { exec sh -c 'seq 100000; exit 1'; max_output 4k spill; }
END
my $c = $tg->connect;

sub many { return text_of($c->call_tool(many => { n => $_[0] })) }

sub page {
    my ($output) = @_;
    return text_of($c->call_tool(toolgate_output => { output => $output }));
}

sub files { return map { -s } glob $tg->state_dir . '/spill/*' }

my ($kept) = many(10_000) =~ /\{"output":"(\w{32})"/;
ok $kept, 'with room an output is kept';
my @before = files();
my $runner = $tg->runner_pid;

# Above a file's size limit the kernel reports an error like a full disk's.
sub room {
    my ($bytes) = @_;
    my ($status, $out, $err) = run_command({}, 'prlimit', '--pid', $runner,
        "--fsize=$bytes:");
    is $status, 0, 'the limit of the runner' or diag $err;
}

for my $bytes (0, 60_000) {
    room($bytes);
    like many(100_000),
        qr/^many printed more than 4096 bytes \(max_output\) and was stopped/,
        "room for $bytes bytes: the error that it was";
    my $reply = $c->call_tool('fails');
    ok $reply->{result}{isError}, 'a failure is one';
    unlike text_of($reply), qr/"output":"/, 'and nothing says it is kept';
    is_deeply [ files() ], \@before, 'nothing of them stays';
    like page($kept), qr/^1\n2\n3\n/, 'what was kept is there';
    is many(10), join('', map {"$_\n"} 1 .. 10), 'the runner serves';
}

room('unlimited');
like many(100_000), qr/\[the whole output has \d+ bytes in 100000 lines;/,
    'with room again it is kept';
is $tg->runner_pid, $runner, 'the same runner';

done_testing;
