#!/usr/bin/perl
# Server messages in the bridge's stderr, which an agent shows or stores:
# printable text, and not without end.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);

# It must neither control the terminal nor write its own lines.
my $bridge = $tg->bridge;
my $conn = $parent->accept;
Toolgate::Parent::refuse($conn,
    Toolgate::Parent::request($conn, 'initialize'),
    -32601, "no\e[31m\r\ntoolgate-bridge: all is well\x7f\x{9b}2J \x{e9}");
ok Toolgate::Parent::is_left($conn), 'who refuses initialize is left';
$bridge->stop;
my ($line) = $bridge->stderr =~ /^(.*not a usable MCP server.*)$/m;
like $line, qr/no\\u001b\[31m\\u000d\\u000atoolgate-bridge: all is well/,
    'control characters are escaped';
like $line, qr/\\u007f\\u009b2J \x{c3}\x{a9}$/, 'all of them, and no letters';
unlike $bridge->stderr, qr/[^\x20-\x7e\n\x{80}-\x{ff}]/, 'none is left';
unlike $bridge->stderr, qr/^toolgate-bridge: all is well/m, 'nor a line';

# A closed connection may return before it is reported.
$parent->close;
$parent->listen;

# Each of these has a log line, as long as they are few.
$bridge = $tg->bridge;
$conn = $parent->serve(Toolgate::Parent::tool('one'));
$conn->send_raw("no message\n" x 20_000);
$conn->notify('notifications/mark');
$bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
is $bridge->notification('notifications/mark')->{method},
    'notifications/mark', 'all of it is read';
$bridge->stop;
my $log = $bridge->stderr;
ok $log =~ /malformed frame dropped/, 'it is logged';
ok $log =~ /too many log lines at once/, 'and said that it is not';
my $lines = () = $log =~ /^/mg;
cmp_ok $lines, '<', 5_000, 'a bounded number of lines';

# TOOLGATE_DEBUG shows everything.
$bridge = $tg->bridge([ $tg->socket_path ], { TOOLGATE_DEBUG => 1 });
$conn = $parent->serve(Toolgate::Parent::tool('one'));
$bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
$bridge->rpc('ping') for 1 .. 120;
$bridge->send_line("no\0message");
$bridge->recv_json;
$bridge->stop;
my $traced = () = $bridge->stderr =~ /agent  -> .*"ping"/g;
is $traced, 120, 'a trace is not cut';
like $bridge->stderr, qr/agent  -> no\\u0000message$/m, 'nor is its line';

done_testing;
