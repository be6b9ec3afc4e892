#!/usr/bin/perl
# A real MCP server over Streamable HTTP, from npm, and clients of MCP's own SDK
# of both eras: what the server sends, and that they see nothing of its sessions
# when it is started anew.

use Toolgate::Test qw(Everything Node);

use IO::Socket::INET;

Toolgate::Node::install();
my $tg = Toolgate::Test->new(workers => 2);
my $top = Toolgate::Test::top();
my $port = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
    ->sockport;
my $server;

sub start_server {
    $server = $tg->spawn({ env => { PORT => $port } }, 'node', '--import',
        "$top/t/clients/loopback.mjs",
        "$top/t/clients/node_modules/.bin/mcp-server-everything",
        'streamableHttp');
    wait_for {
        IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
    } 'the server';
}

sub stop_server {
    kill KILL => $server->pid;
    $server->wait_exit;
}
start_server();

sub body {
    my ($n) = @_;
    return <<"END";
mcp_server all { url http://127.0.0.1:$port/mcp; hide get-env; }
mcp_server own { url http://127.0.0.1:$port/mcp; share connection;
                 tools echo trigger-*; }
tool n { return $n; }
END
}
$tg->conf(body(1))->start;
my @names = names_in_all_workers($tg, qr/all_echo.*own_echo.* n$/);
ok !(grep {/get-env/} @names), 'but those that are hidden';

my @clients = map { sdk_client($tg, $_) } qw(legacy modern);
for my $client (@clients) {
    my @ids = map {
        $client->ask(('all_echo', 'own_echo')[ $_ % 2 ],
            arguments => { message => "m$_" })
    } 1 .. 20;
    is join(' ', map { said($client->answer($_)) } @ids),
        join(' ', map {"Echo: m$_"} 1 .. 20),
        "$client->{era}: each has its own answer";
    try_everything($client, 'all_');
}

# Another server in its place, which knows nothing of these sessions.
stop_server();
start_server();
for my $client (@clients) {
    for my $name (qw(all own)) {
        is said($client->call("${name}_echo",
            arguments => { message => 'new' })), 'Echo: new',
            "$client->{era}: $name goes on when the server was started anew";
    }
}
$tg->reload(body(2));
for my $client (@clients) {
    is said($client->call('all_echo', arguments => { message => 'after' })),
        'Echo: after',
        "$client->{era}: and after a reload";
    is $client->oops, '', "$client->{era}: nothing to complain of";
    $client->leave;
}
stop_server();
$tg->allow_log(qr/could not be started: it cannot be reached/);
done_testing;
