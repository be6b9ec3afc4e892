#!/usr/bin/perl
# Which prompts, resources and templates of MCP servers are offered, and how a
# URI finds its server.

use Toolgate::Test qw(Status);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 1);
my $top = Toolgate::Test::top();

# Contents that say which URI the server was asked for.
sub contents {
    my @uris = @_;
    return contents =>
        { map { $_ => [ { uri => $_, text => "read $_" } ] } @uris };
}

# Returns the command of a server with these lists, see t/servers/mcp.pl.
sub server {
    my ($name, %lists) = @_;
    my $path = $tg->file("$name.kinds", $json->encode(\%lists));
    return "$^X $top/t/servers/mcp.pl legacy kinds=$path";
}

my $git = server('git',
    resources => [ { uri => 'git+https://listed', name => 'listed' } ],
    resourceTemplates => [
        { uriTemplate => 'git+https://{host}', name => 'host' } ],
    contents('git+https://listed', 'git+https://r', 'x:unlisted'));
my $conf = "mcp_server git { exec $git; }";

# --- a URI that begins like the name of its server

$tg->conf($conf)->start;
my $client = $tg->connect;

sub read_uri { return $client->rpc('resources/read', { uri => $_[0] }) }

sub reads {
    my ($uri, $own, $what) = @_;
    is read_uri($uri)->{result}{contents}[0]{text}, "read $own",
        $what // "$uri is read";
}

sub greet {
    $client = $tg->connect;
    $client->rpc('initialize', { protocolVersion => '2025-11-25',
        capabilities => {}, clientInfo => { name => 't', version => '1' } });
    $client->notify('notifications/initialized');
}

sub subscribe { return $client->rpc('resources/subscribe', { uri => $_[0] }) }

sub subscribed {
    my ($server, $uris) = @_;
    wait_for {
        text_of($client->call_tool("${server}_subscribed")) eq $uris
    } "$server has the subscriptions '$uris'";
}

greet();
wait_for { read_uri('git+https://listed')->{result} } 'the list';
reads('git+https://listed', 'git+https://listed');
reads('git+https://r', 'git+https://r', 'the template has its own URI');
reads('git+x:unlisted', 'x:unlisted', 'a URI with the name of its server');
$client->send_line('{"jsonrpc":"2.0","id":"e","method":"resources/read",'
        . '"params":{"uri":"\u0067it\u002bx:unlisted"}}');
is $client->reply('e')->{result}{contents}[0]{text}, 'read x:unlisted',
    'also if it is escaped';
subscribe($_) for 'git+https://listed', 'git+x:unlisted';
subscribed('git', 'git+https://listed x:unlisted');

# --- what a block hides, by any URI that means the same

my @hidden = qw(x:secret.txt x:%73ecret.txt X:secret.txt x:a/../secret.txt
    x:a/./secret.txt x:a/%2e%2e/secret.txt x:a/%2E%2E%2Fsecret.txt x:a/.. x:./a
    x:a\\..\\secret.txt y:open);
my $shut = server('shut', resources => [],
    contents(@hidden, "x:se\tcret.txt", 'x:a/..b/.c', 'x:%6fpen', 'x:later'));
$tg->conf("mcp_server shut { exec $shut; resources x:*; hide x:secret*; }")
    ->reload;
greet();
wait_for { read_uri('x:a/..b/.c')->{result} } 'the list';
reads($_, $_) for 'x:a/..b/.c', 'x:%6fpen', 'x:later';
for my $uri (@hidden, "x:se\tcret.txt", 'shut+x:%73ecret.txt') {
    is read_uri($uri)->{error}{message}, 'There is no such resource.',
        "$uri is unknown";
    subscribe($uri);
}
subscribe('x:later');
subscribed('shut', 'x:later');

# --- templates that would match the URIs of other servers, and too many

my $greedy = server('greedy', resources => [],
    resourceTemplates => [
        map { { uriTemplate => $_, name => 't' } } '{+uri}', '{scheme}://x',
        'notes', map {"g:$_/{x}"} 4 .. 257 ],
    contents('g:256/a', 'g:257/a', 'x:one'));
my $plain = server('plain', resources => [],
    resourceTemplates => [ { uriTemplate => 'x:{name}', name => 't' } ],
    contents('x:one'));
$tg->conf("mcp_server greedy { exec $greedy; }\n"
        . "mcp_server plain { exec $plain; }")->reload;
$client = $tg->connect;
wait_for { read_uri('g:256/a')->{result} } 'the templates of the first';
wait_for { read_uri('x:one')->{result} } 'those of the second, which it keeps';
is read_uri('g:257/a')->{result}, undef, 'a template beyond the limit';
is_deeply [ map { $_->{why} } @{ Toolgate::Status->new($tg->connect)
            ->look->server->{mcp_servers}[0]{left_out} } ],
    [ ('its template does not begin with a scheme') x 3,
      'the list is too long' ], 'the status says what is omitted';

# --- a server that repeats itself

my $twice = server('twice',
    prompts => [ { name => 'a b' }, { name => 'a_b' } ],
    resources => [ { uri => 'x:one', name => 'first' },
        { uri => 'x:one', name => 'second' } ],
    contents('x:one'));
$conf = "mcp_server twice { exec $twice; }";
$tg->conf($conf)->reload;
$client = $tg->connect;
wait_for { read_uri('x:one')->{result} } 'its list';
my $listed = sub { $client->rpc($_[0])->{result} };
is_deeply [ map { $_->{name} } @{ $listed->('resources/list')->{resources} } ],
    ['first'], 'the first of two resources';
is_deeply [ map { $_->{name} } @{ $listed->('prompts/list')->{prompts} } ],
    ['twice_a_b'], 'the first of two prompts';
wait_for {
    grep { slurp($_) =~ /"second"/ } glob $tg->state_dir . '/mcp/*.json'
} 'the stored list';
$tg->reload("$conf tool more { return 1; }");
$client = $tg->connect;
is text_of($client->call_tool('more')), 1, 'the next config is valid';
like $tg->log, qr/resource "x:one" of .* already uses: it is omitted$/m,
    'the log says what is omitted';

done_testing;
