#!/usr/bin/perl
# A real MCP server over Streamable HTTP, from npm, and clients of MCP's own SDK
# of both eras: what the server sends, and that they see nothing of its sessions
# when it is started anew.

use Toolgate::Test timeout => 600;
use Toolgate::Node;

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
my @names;
for (1 .. 2) {
    my $seen = 0;
    wait_for {
        my $client = $tg->connect;
        @names = map { $_->{name} }
            @{ $client->rpc('tools/list')->{result}{tools} };
        $seen++ if "@names" =~ /all_echo.*own_echo.* n$/;
        return $seen > 20;
    } 'the tools of both';
}
ok !(grep {/get-env/} @names), 'but those that are hidden';

my @nodes = map {
    my $node = Toolgate::Node->new($tg, $_, $tg->bridge_path,
        '--grace', 600, $tg->socket_path);
    is $node->event('ready')->{era}, $_, "a client of the $_ era";
    { era => $_, node => $node };
} qw(legacy modern);

sub call {
    my ($client, $id, $name, %more) = @_;
    $client->{node}->tell(do => 'call', id => $id, name => $name, %more);
}

sub result {
    my ($client, $id) = @_;
    return $client->{node}->recv_where(
        sub { $_[0]{event} =~ /^(?:result|error)$/ && $_[0]{id} == $id },
        undef, "result $id");
}
sub text { return $_[0]{result}{content}[0]{text} // $_[0]{message} }

my $id = 100;
for my $client (@nodes) {
    my $era = $client->{era};
    my @ids = map {
        call($client, ++$id, ('all_echo', 'own_echo')[ $_ % 2 ],
            arguments => { message => "m$_" });
        $id
    } 1 .. 20;
    is join(' ', map { text(result($client, $_)) } @ids),
        join(' ', map {"Echo: m$_"} 1 .. 20), "$era: each has its own answer";
    call($client, ++$id, 'all_get-tiny-image');
    my ($image) = grep { $_->{type} eq 'image' }
        @{ result($client, $id)->{result}{content} };
    is $image->{mimeType}, 'image/png', "$era: an image";
    call($client, ++$id, 'all_get-structured-content',
        arguments => { location => 'New York' });
    ok exists result($client, $id)->{result}{structuredContent}{temperature},
        "$era: structured content, which the SDK has checked";
    call($client, ++$id, 'all_get-sum', arguments => { a => 2, b => 'x' });
    ok result($client, $id)->{result}{isError}, "$era: a wrong argument";
    call($client, ++$id, 'all_trigger-long-running-operation',
        arguments => { duration => 1, steps => 3 }, progress => 1);
    my @steps = map {
        $client->{node}->event('progress')->{progress}{progress}
    } 1 .. 2;
    is "@steps", '1 2', "$era: progress";
    like text(result($client, $id)), qr/completed/, "$era: and its end";
    call($client, ++$id, 'all_trigger-long-running-operation',
        arguments => { duration => 600, steps => 600 });
    my $long = $id;
    call($client, ++$id, 'all_echo', arguments => { message => 'between' });
    is text(result($client, $id)), 'Echo: between', "$era: another one between";
    $client->{node}->tell(do => 'cancel', id => $long);
    is result($client, $long)->{event}, 'error', "$era: cancelled";
}

# Another server in its place, which knows nothing of these sessions.
stop_server();
start_server();
for my $client (@nodes) {
    for my $name (qw(all own)) {
        call($client, ++$id, "${name}_echo", arguments => { message => 'new' });
        is text(result($client, $id)), 'Echo: new',
            "$client->{era}: $name goes on when the server was started anew";
    }
}
$tg->reload(body(2));
for my $client (@nodes) {
    call($client, ++$id, 'all_echo', arguments => { message => 'after' });
    is text(result($client, $id)), 'Echo: after',
        "$client->{era}: and after a reload";
    is $client->{node}->oops, '', "$client->{era}: nothing to complain of";
    $client->{node}->leave;
}
stop_server();
$tg->allow_log(qr/could not be started: it cannot be reached/);
done_testing;
