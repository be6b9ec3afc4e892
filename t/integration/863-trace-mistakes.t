#!/usr/bin/perl
# Mistakes in tool_trace: nginx -t finds each, with line and correction.

use POSIX ();
use Toolgate::Test qw(Trace);

plan(skip_all => 'built without msgpack-c') if !has_msgpack();

my $tg = Toolgate::Test->new;
POSIX::mkfifo($tg->dir . '/fifo', 0600) or die "mkfifo: $!\n";
my %mistakes = (
    'fifo' => qr/fifo" is a FIFO without a reader, .*; start its/,
    ''                        => qr/invalid number of arguments/,
    'x.trace a b c'           => qr/invalid number of arguments/,
    'x.trace more'            => qr/invalid "more" .*; write "body=SIZE" or/,
    'x.trace body=x'          => qr/invalid "body=x" .*; write a size/,
    'x.trace body=2m'         => qr/invalid "body=2m" .* at most 1m/,
    'x.trace if=1'            => qr/invalid "if=1" .*; write one variable/,
    'x.trace if=$a$b'         => qr/invalid .*; write one variable/,
    'x.trace if=$nope'        => qr/unknown variable "\$nope"/,
    'x.trace if=$tool_name'   => qr/invalid .*; write a variable of the client/,
    'x.trace if=$tool_arg_a'  => qr/a frame belongs to no call/,
    '/tmp/$tool_client_uid'   => qr/is not a file path; .* "if=" selects/,
    'syslog:server=127.0.0.1' => qr/is not a file path/,
    'off body=1k'             => qr/takes nothing after "off"/,
    "off;\ntool_trace x.trace" => qr/is duplicate; a trace is written to one/,
);
for my $text (sort keys %mistakes) {
    conf_fails_at($tg, "tool_trace $text; #!\ntool a { return 1; }",
        $mistakes{$text});
}

my ($status, $out) = $tg->test_conf('tool a { return 1; tool_trace x; }');
like $out, qr/"tool_trace" directive is not allowed here/, 'not in a tool';
my $path = $tg->dir . '/calls.log';
($status, $out) = $tg->test_conf(<<"END");
tool_log $path json buffer=1k;
tool_trace $path;
tool a { return 1; }
END
like $out,
    qr/"\S+calls\.log" is already the file of a log; give the trace another/,
    'not into a log';

# No file is created with a mistake, nor by a process that only signals.
ok !glob($tg->dir . '/*.trace'), 'no file was made';
($status, $out) = $tg->test_conf(<<'END');
tool_trace /dev/null body=0 if=$tool_client_pid;
tool a { return 1; }
END
is $status, 0, 'one that is right' or diag $out;

done_testing;
