#!/usr/bin/perl
# The command line and the bridge over TLS, with NGINX's own `listen … ssl`,
# names and both sides' certificates verified.

use Toolgate::Test qw(Tls);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $build = Toolgate::Test::build_dir();

# --- certificates -----------------------------------------------------------

certify($dir, $_) for qw(ca other);
certify($dir, 'server', ca => 'ca', alt => 'IP:127.0.0.1,DNS:tools.test');
certify($dir, 'client', ca => 'ca', alt => 'DNS:agent.test');
$tg->file('both.pem', slurp("$dir/client.pem") . slurp("$dir/client.key"));

# --- the server -------------------------------------------------------------

my ($port, $strict);

sub server {
    my ($listen, $more) = @_;
    return <<"END";
server {
    listen         $listen;
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir %%STATE%%;
    $more
}
END
}

sub conf {
    my ($n) = @_;
    my $tools = <<"END";
    tool n    { description "N."; return $n; }
    tool who  { description "Who.";
                return '\$ssl_client_s_dn \$ssl_server_name'; }
    tool echo { description "Says it again."; return \$tool_arg_text; }
END
    my $ssl = <<"END";
    ssl_certificate        $dir/server.pem;
    ssl_certificate_key    $dir/server.key;
    ssl_client_certificate $dir/ca.pem;
END
    return (
        server('unix:%%SOCKET%%', $tools)
            . server("127.0.0.1:$port ssl",
            "$ssl ssl_verify_client optional;\n$tools")
            . server("127.0.0.1:$strict ssl",
            "$ssl ssl_verify_client on;\n$tools"),
        server => 0);
}

start_on_ports($tg, sub {
    ($port, $strict) = (free_port(), free_port());
    return conf(1);
});
my $at = "tls:127.0.0.1:$port";
my @ca = ('--ca', "$dir/ca.pem");
my @own = ('--cert', "$dir/client.pem", '--key', "$dir/client.key");

# --- the command line -------------------------------------------------------

sub call {
    my (@args) = @_;
    my $option = ref $args[0] ? shift @args : {};
    return $tg->cli({ cwd => $dir, %$option }, 'call', @args);
}

sub works {
    my ($name, $says, @args) = @_;
    my ($status, $out, $err) = call(@args);
    is $status, 0, "$name: status" or diag $err;
    is $out, $says, "$name: the answer";
}

sub fails {
    my ($name, $pattern, @args) = @_;
    my ($status, $out, $err) = call(@args);
    is $status, 2, "$name: status";
    is $out, '', "$name: nothing is answered";
    like $err, $pattern, "$name: why";
}

works('a CA of ours', 1, 'n', '--socket', $at, @ca);
works('from the environment', 1,
    { env => { TOOLGATE_SOCKET => $at, TOOLGATE_CA => 'ca.pem' } }, 'n');
works('what the system trusts', 1, { env => { SSL_CERT_FILE => 'ca.pem' } },
    'n', '-s', $at);
fails('what it does not trust',
    qr/^toolgate: no connection to \Q$at\E: its certificate is not trusted: /,
    'n', '-s', $at);
fails('another CA', qr/its certificate is not trusted: /, 'n', '-s', $at,
    '--ca', 'other.pem');
works('another name', " tools.test", 'who', '-s', $at, @ca,
    '--tls-name', 'tools.test');
fails('a wrong name', qr/its certificate is not valid for else\.test/, 'n',
    '-s', $at, @ca, '--tls-name=else.test');
fails('a name that it does not have',
    qr/its certificate is not valid for localhost/,
    'n', '-s', "tls:localhost:$port", @ca);
works('an own certificate', 'CN=client ', 'who', '-s', $at, @ca, @own);
works('and key in one file', 'CN=client ', 'who', '-s', $at, @ca, '--cert',
    'both.pem');
works('where it is demanded', 1, 'n', '-s', "tls:127.0.0.1:$strict", @ca, @own);
fails('and not shown', qr/require a client certificate \(--cert FILE/, 'n',
    '-s', "tls:127.0.0.1:$strict", @ca);
fails('the key of another', qr/server\.key is not the key of that certificate/,
    'n', '-s', $at, @ca, @own[ 0, 1 ], '--key', 'server.key');
fails('a certificate that is not there', qr/none\.pem is not a certificate/,
    'n', '-s', $at, @ca, '--cert', 'none.pem');
fails('TLS without saying so', qr/If it speaks TLS, write tls:HOST:PORT/, 'n',
    '-s', "127.0.0.1:$port");
my $none = free_port();
fails('nobody there', qr/nothing listens on tls:127\.0\.0\.1:$none: /, 'n',
    '-s', "tls:127.0.0.1:$none", @ca);

my $large = 'x' x 4_000_000;
my ($status, $out, $err) = call({ stdin => qq({"text":"$large"}) }, 'echo',
    '-s', $at, @ca, '-');
is $status, 0, 'large arguments and a large answer: status' or diag $err;
ok $out eq $large, 'both are whole';

# --- the bridge -------------------------------------------------------------

my $bridge = $tg->bridge([ '--grace', 600, @ca, @own, $at ]);
$bridge->rpc('initialize',
    { protocolVersion => '2025-11-25', capabilities => {} });
$bridge->notify('notifications/initialized');
is text_of($bridge->call_tool('who')), 'CN=client ', 'a bridge: a call';
is length text_of($bridge->call_tool('echo', { text => $large })),
    length $large, 'and a large one';
my @calls = map { $bridge->request('tools/call',
    { name => 'echo', arguments => { text => "$_" . 'y' x 2000 } }) }
    1 .. 20;
is_deeply [ map { text_of($bridge->reply($_)) =~ /^(\d+)/ } @calls ],
    [ 1 .. 20 ], 'many at once';

# Its session cannot move; the bridge reconnects, and the agent notices nothing.
for my $n (2, 3) {
    $tg->reload(conf($n));
    wait_for { text_of($bridge->call_tool('n')) eq $n } "the config $n";
    pass "a reload: the new config answers ($n)";
}
$bridge->stop;

$bridge = $tg->bridge([ '--ca', "$dir/other.pem", $at ]);
like $bridge->rpc('tools/list')->{error}{message},
    qr/Toolgate cannot be reached at \Q$at\E: its certificate is not trusted: /,
    'a bridge that does not trust it says so';
$bridge->stop;

# --- what agents are told to start ------------------------------------------

($status, $out, $err) = run_command({
        cwd => $dir,
        env => { %{ $tg->san_env }, TOOLGATE_SOCKET => $at,
            TOOLGATE_TLS_NAME => 'tools.test' } },
    "$build/toolgate", 'config', 'claude', '--ca', 'ca.pem', @own);
is $status, 0, 'config: status' or diag $err;
my $entry = Toolgate::Client->decode($out)->{mcpServers}{toolgate};
is_deeply $entry->{args}, [ @ca, @own, '--tls-name', 'tools.test', $at ],
    'config: all that the bridge needs';
$bridge = $tg->bridge($entry->{args});
is text_of($bridge->call_tool('who')), 'CN=client tools.test',
    'which works';
$bridge->stop;
($status, $out, $err) = $tg->cli('config', 'codex', '-s', $at, @ca);
is $status, 0, 'config.toml: status' or diag $err;
like $out, qr/^args = \["--ca", "\Q$dir\E\/ca\.pem", "\Q$at\E"\]$/m, 'likewise';
($status, $out, $err) = $tg->cli('config', 'claude', @ca);
is $status, 2, 'certificates without TLS: status';
like $err, qr/certificates are only for TLS; write tls:HOST:PORT/, 'and why';

done_testing;
