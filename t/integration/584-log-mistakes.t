#!/usr/bin/perl
# Mistakes in logs of calls and their formats: nginx -t finds each, with its
# line and the correction.

use POSIX ();
use Toolgate::Test;

my $tg = Toolgate::Test->new;
POSIX::mkfifo($tg->dir . '/fifo', 0600) or die "mkfifo: $!\n";

# Expected message, and the body of the server after "tool_log ".
my %log = (
    'fifo' => qr/fifo" is a FIFO without a reader, .*; start its/,
    ''                        => qr/invalid number of arguments/,
    '/dev/null nope'          => qr/unknown format "nope"; write "default"/,
    '/dev/null later'          => qr/unknown format "later".* defined before/,
    '/dev/null x=1'            => qr/invalid "x=1" .*; write "buffer=SIZE"/,
    '/dev/null json more'      => qr/invalid "more" .*; write "buffer=SIZE"/,
    '/dev/null buffer=x'       => qr/invalid "buffer=x" .*; write a size/,
    '/dev/null buffer=65m'     => qr/invalid "buffer=65m" .* at most 64m/,
    '/dev/null buffer=1k flush=x' => qr/invalid "flush=x" .*; write a time/,
    '/dev/null flush=1s'       => qr/has a "flush" but no "buffer"; add/,
    '/dev/null if=1'           => qr/invalid "if=1" .*; write one variable/,
    '/dev/null if=$a$b'        => qr/invalid .*; write one variable/,
    '/dev/null if=$nope'       => qr/unknown variable "\$nope"/,
    '/tmp/$tool_name'          => qr/has a variable.* or select lines/,
    'off json'                 => qr/takes nothing after "off"/,
    'syslog:server=127.0.0.1 buffer=1k' => qr/has no buffer; remove "buffer"/,
    'syslog:nope'              => qr/unknown syslog parameter "nope"/,
    "off;\ntool_log /dev/null" => qr/has both "off" and something else/,
    "/dev/null;\ntool_log off" => qr/has both "off" and something else/,
    "/dev/null buffer=1k;\ntool_log /dev/null" =>
        qr/is already used with another "buffer"/,
);
for my $text (sort keys %log) {
    conf_fails_at($tg, "tool_log $text; #!\ntool a { return 1; }",
        $log{$text});
}

my %format = (
    'a'                  => qr/invalid number of arguments/,
    'json x'             => qr/duplicate format "json"/,
    'default x'          => qr/duplicate format "default"/,
    "a x;\ntool_log_format a x" => qr/duplicate format "a"/,
    'a escape=x y'       => qr/invalid "escape=x" .*; write escape=default/,
    'a escape=json'      => qr/invalid "escape=json" .* and then the format/,
    'a "$"'              => qr/"\$" starts a variable's name.* write "\$\$"/,
    'a $nope'            => qr/unknown variable "\$nope"/,
    'a ${tool_arg_a.b}' => qr/cannot be logged; log the whole/,
);
for my $text (sort keys %format) {
    conf_fails($tg, 'tool a { return 1; }', $format{$text},
        "tool_log_format $text", stream => "tool_log_format $text;\n");
}

# In a wrong block; a file may be used twice in the same way.
my ($status, $out) =
    $tg->test_conf('tool_log_format a b; tool a { return 1; }');
like $out, qr/"tool_log_format" directive is not allowed here/, 'a server';
($status, $out) = $tg->test_conf(<<'END');
tool_log /dev/null json buffer=1k;
access_log /dev/null x;
tool a { return 1; tool_log /dev/null buffer=1k; }
method m { return 1; tool_log off; }
END
like $out, qr/unknown log format "x"/, 'beside an access_log';
($status, $out) = $tg->test_conf(<<'END', stream => "log_format x y;\n");
tool_log /dev/null json buffer=1k;
access_log /dev/null x buffer=2k;
tool a { return 1; tool_log /dev/null buffer=1k; }
method m { return 1; tool_log off; }
END
is $status, 0, 'one that writes to the same file' or diag $out;

done_testing;
