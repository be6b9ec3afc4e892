#!/usr/bin/perl
# While libraries of a new config load, the old worker accepts clients on all
# listeners of the new config: also if their sessions cannot move (TLS,
# proxy_protocol), and on those of other modules; not on removed ones. Without
# room it leaves clients to the new worker.

use IO::Socket::INET;
use IO::Socket::UNIX;

use Toolgate::Test qw(Native Tls Way);

my ($tg, $dir, $n);

sub server {
    my (%option) = @_;
    $tg = Toolgate::Test->new(workers => 1);
    ($dir, $n) = ($tg->dir, 0);
    certify($dir, 'tools');
    Toolgate::Native->probe("$dir/probe.so", 1);
    return;
}

# Returns the body of a server with tools; each listener has its own server.
sub body {
    my (@listen) = @_;
    my $tools = <<"END";
tool n { description "N."; return $n; }
tool pid { description "P."; return \$pid; }
tool slow { description "S."; library probe.so probe_slow $dir/slow; }
END
    return join '', map {<<"END"} @listen;
server {
    listen              $_;
    ssl_certificate     $dir/tools.pem;
    ssl_certificate_key $dir/tools.key;
    tool_state_dir      $dir/state;
    $tools
}
END
}

sub http {
    my (@listen) = @_;
    my $paths = join '', map {"${_}_temp_path $dir/$_;\n"}
        qw(client_body proxy fastcgi uwsgi scgi);
    my $servers = join '', map {"server { listen $_; return 200 \$pid; }\n"}
        @listen;
    return (main => "http { access_log off;\n$paths$servers }");
}

# Reloads with a worker that loads until finish_loading(). Returns it, and the
# old one, which was told to exit.
sub loading {
    my ($body, %option) = @_;
    my ($old) = $tg->worker_pids;
    $tg->file('slow', '');
    my $from = $tg->log_size;
    $tg->conf($body, server => 0, %option);
    $tg->signal_reload('HUP');
    my $new;
    wait_for {
        ($new) = $tg->log($from) =~ /start worker process (\d+)/;
        return $new && -e "$dir/slow.$new";
    } 'the new worker to load';
    wait_for { $tg->log =~ / $old#\d+: gracefully shutting down/ }
        'the old worker to be notified';
    return ($old, $new);
}

sub finish_loading { unlink "$dir/slow" or die "unlink: $!"; return }

sub tls_client {
    my ($path) = @_;
    return Toolgate::Way->new('legacy', $tg->spawn({},
        qw(openssl s_client -quiet -no_ign_eof -verify_quiet -unix), $path));
}

sub proxied_client {
    my ($path) = @_;
    my $client = $tg->connect($path);
    $client->send_raw("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n");
    return Toolgate::Way->new('legacy', $client);
}

sub http_get {
    my ($socket) = @_;
    print {$socket} "GET / HTTP/1.0\r\n\r\n" or die "write: $!";
    my $answer = do { local $/ = undef; <$socket> };
    return $answer =~ /\r\n\r\n(\d+)\z/ ? $1 : $answer;
}

sub serves {
    my ($what, $pid, $generation, %way) = @_;
    for my $name (sort keys %way) {
        is $way{$name}->call('pid')->{text}, $pid, "$what, $name: the worker";
        is $way{$name}->call('n')->{text}, $generation,
            "$what, $name: its config";
    }
    return;
}

# --- all listeners ----------------------------------------------------------

server();
my ($tls, $proxied, $web) = map {"$dir/$_.sock"} qw(tls proxied web);
my @listen = ("unix:%%SOCKET%%", "unix:$tls ssl",
    "unix:$proxied proxy_protocol");
my $gone = free_port();
$n = 1;
$tg->conf(body(@listen), server => 0,
    http("unix:$web", "127.0.0.1:$gone"))->start;
my @gone = (PeerAddr => '127.0.0.1', PeerPort => $gone);
is http_get(IO::Socket::INET->new(@gone)), ($tg->worker_pids)[0],
    'HTTP, of a port that will be gone';

$n = 2;
my ($old, $new) = loading(body(@listen), http("unix:$web"));
my %way = (
    tls     => tls_client($tls),
    proxied => proxied_client($proxied),
    plain   => Toolgate::Way->new('legacy', $tg->connect),
);
serves('while it loads', $old, 1, %way);
is http_get(IO::Socket::UNIX->new(Peer => $web)), $old,
    'while it loads, HTTP: the old worker';
ok !IO::Socket::INET->new(@gone), 'no process listens on a removed address';
ok is_alive($old) && is_alive($new), 'both workers are there';

finish_loading();
wait_for { $way{plain}->call('n')->{text} eq 2 } 'the session to move';
for my $name (qw(tls proxied)) {
    ok $way{$name}->client->at_eof, "$name: the session ends";
}
wait_for { !is_alive($old) } 'the old worker to go';
%way = (
    tls     => tls_client($tls),
    proxied => proxied_client($proxied),
    plain   => $way{plain},
);
serves('after it has loaded', $new, 2, %way);
is http_get(IO::Socket::UNIX->new(Peer => $web)), $new, 'HTTP, too';
$tg->stop;

# --- tools on TLS alone, with accept_mutex ----------------------------------

server();
($tls, $n) = ($tg->socket_path, 1);
my @mutex = (events => 'accept_mutex on;');
$tg->conf(body("unix:$tls ssl"), server => 0, @mutex)->start;
my $before = tls_client($tls);
$n = 2;
($old, $new) = loading(body("unix:$tls ssl"), @mutex);
serves('TLS alone', $old, 1, before => $before, new => tls_client($tls));
finish_loading();
ok $before->client->at_eof, 'the session ends then';
wait_for { !is_alive($old) } 'the old worker to go';
serves('TLS alone, after it has loaded', $new, 2, new => tls_client($tls));
$tg->stop;

# --- a full disk ------------------------------------------------------------

server();
$n = 1;
$tg->conf(body('unix:%%SOCKET%%'), server => 0,
    events => 'worker_connections 24;')->start;
my @clients;
do {
    push @clients, $tg->connect;
} while (eval { $clients[-1]->rpc('ping'); 1 });
cmp_ok scalar @clients, '>', 5, 'a worker has no room';
$n = 2;
($old, $new) = loading(body('unix:%%SOCKET%%'),
    events => 'worker_connections 512;');
my $waits = $tg->connect;
my $id = $waits->request('ping');
ok $waits->is_silent(0.3), 'another client is not closed';
finish_loading();
ok $waits->reply($id)->{result}, 'but served by the new worker';
wait_for { !is_alive($old) } 'the old worker to go';
$tg->stop;

done_testing;
