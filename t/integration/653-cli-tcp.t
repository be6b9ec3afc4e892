#!/usr/bin/perl
# The command line and the bridge over TCP.

use Toolgate::Test qw(Tls);

my $tg = Toolgate::Test->new;
my $port;
start_on_ports $tg, sub {
    $port = free_port();
    return "listen 127.0.0.1:$port;\nlisten unix:%%SOCKET%%;\n"
        . 'tool hi { description "Says hi."; return hi; }';
};

my ($status, $out, $err) =
    $tg->cli('call', 'hi', '--socket', "127.0.0.1:$port");
is $status, 0, 'HOST:PORT: status';
is $out, 'hi', 'HOST:PORT: the answer';
($status, $out) = $tg->cli({ env => { TOOLGATE_SOCKET => "localhost:$port" } },
    'list');
like $out, qr/^hi\n/, 'a name, from the environment';
my $none = free_port();
($status, $out, $err) = $tg->cli('ping', '-s', "127.0.0.1:$none");
is $status, 2, 'no server: status';
like $err, qr/nothing listens on 127\.0\.0\.1:$none: .*`listen` for this port/,
    'and why';
# No label of a name has this length: no lookup is needed.
my $unknown = 'x' x 64 . ':1';
($status, $out, $err) = $tg->cli('ping', '-s', $unknown);
is $status, 2, 'an unknown host: status';
like $err, qr/cannot connect to $unknown: \w/, 'and why';

($status, $out) = $tg->cli('config', 'claude', '-s', "localhost:$port");
is $status, 0, 'config with HOST:PORT: status';
like $out, qr/"localhost:$port"/, 'which stays what it is';
($status, $out) = $tg->cli('config', 'claude', '-s', 'a.sock');
like $out, qr{"/\S*/a\.sock"}, 'while a path becomes a whole one';

my $bridge = $tg->bridge(["127.0.0.1:$port"]);
$bridge->rpc('initialize',
    { protocolVersion => '2025-11-25', capabilities => {} });
is $bridge->call_tool('hi')->{result}{content}[0]{text}, 'hi',
    'a bridge over TCP';

done_testing;
