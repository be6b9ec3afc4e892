#!/usr/bin/perl
# Lines about calls in syslog, and their loss if nobody listens.

use Socket qw(SOCK_DGRAM);
use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $path = $tg->dir . '/syslog';

sub listener {
    my $syslog = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path)
        or die "syslog: $!";
    chmod 0666, $path;
    return $syslog;
}

my $bare = 'nohostname';
my $syslog = listener();
$tg->conf(<<"END", stream => <<'STREAM')->start;
tool_log syslog:server=unix:$path,facility=daemon,severity=warn,tag=calls,$bare;
tool_log syslog:server=unix:$path,tag=mine own if=\$is_long;
tool_log beside.log;
tool hi { return hi; }
END
tool_log_format own '$tool_name [$tool_arg_x]';
map $tool_arg_x $is_long { "~^[^b]*b?[^x]{5}" 1; }
STREAM
my $c = $tg->connect;

sub heard {
    $syslog->recv(my $text, 65536);
    return $text;
}

$c->call_tool(hi => { x => 'abc' });
my $time = qr/\w{3} [ \d]\d \d\d:\d\d:\d\d/;
like heard(), qr/\A<28>$time calls: \d{4}-\S+ tool="hi" status=ok [^\n]*\z/,
    'a message, without a newline';
$c->call_tool(hi => { x => "a\nbcdef" });
heard();
like heard(), qr/\A<190>.* mine: hi \[a\\x0Abcdef\]\z/, 'another one, by if=';

# Nobody listens: calls continue, and losses are reported.
$syslog->close;
unlink $path or die "unlink: $!";
my $beside = slurp($tg->dir . '/beside.log') =~ tr/\n//;
is text_of($c->call_tool('hi')), 'hi', 'a call continues';
$c->call_tool('hi') for 1 .. 4;
is slurp($tg->dir . '/beside.log') =~ tr/\n//, $beside + 5,
    'other logs have it';
$tg->wait_log(
    qr/\[error\].* "syslog" cannot be written; 1 line was lost so far/);
pass 'it is said';
$syslog = listener();
wait_for {
    $c->call_tool('hi');
    $tg->log =~ /"syslog" can be written again; \d+ lines? w\w+ lost/;
} 'it to be written again';
like heard(), qr/ calls: .* tool="hi"/, 'it is heard again';

# NGINX's own code for syslog reports it, too.
$tg->allow_log(qr/connect\(\) failed \(2:/);
done_testing;
