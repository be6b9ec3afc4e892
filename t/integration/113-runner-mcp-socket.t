#!/usr/bin/perl
# MCP servers behind sockets, and of MCP's modern era.

use Toolgate::Test qw(Runner McpServer);
use IO::Socket::INET;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;

sub answer { return $c->reply(call($c, @_))->{result} }

# A Unix socket, and TCP.
my $port = do {
    my $probe = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
        or die "listen: $!";
    $probe->sockport;
};
for my $case ([ "$dir/mcp.sock", "unix:$dir/mcp.sock" ],
    [ $port, "127.0.0.1:$port" ]) {
    my ($listen, $pass) = @$case;
    my ($key) = watch($c, pass => $pass);
    my $state = state_of($c, $key, 'failed');
    like $state->{error},
        qr/^files could not be started: it cannot be reached: (?:no|conn)/,
        "$pass: no process listens";
    my $server = $tg->spawn({}, @{ stand_in('listen', $listen) });
    state_of($c, $key, 'ready');
    is answer($key, 'pid')->{result}{content}[0]{text}, $server->pid,
        "$pass: it is called when it is there";
    my $id = call($c, $key, 'die');
    my $reply = $c->reply($id);
    is $reply->{result}{failure}, 'lost', "$pass: it goes";
    like $reply->{result}{message}, qr/^files closed the connection\n/,
        "$pass: which is said";
    wait_for { !$server->is_running } 'it to end';
    unlink $listen if $listen =~ m{/};
    $c->rpc('mcp_unwatch', { key => $key });
}

# The modern era.
my ($key) = watch($c, exec => stand_in('modern'));
state_of($c, $key, 'ready');
my $meta = {
    progressToken => 1,
    'x/trace' => 't',
    'io.modelcontextprotocol/protocolVersion' => '2099-01-01',
    'io.modelcontextprotocol/clientCapabilities' =>
        { extensions => { 'x/tasks' => {} }, elicitation => {} },
    'io.modelcontextprotocol/logLevel' => 'debug',
};

sub meta_of {
    my ($params) = @_;
    return answer($key, 'echo', %$params)->{result}{structuredContent}{_meta};
}

my $heard = meta_of({ meta => $meta });
is $heard->{'io.modelcontextprotocol/protocolVersion'}, '2026-07-28',
    'the version is the one that is spoken';
is_deeply $heard->{'io.modelcontextprotocol/clientCapabilities'},
    { elicitation => {} }, 'the client is the one that calls';
is $heard->{'io.modelcontextprotocol/logLevel'}, 'debug', 'with what it wants';
is $heard->{'io.modelcontextprotocol/clientInfo'}{name}, 'toolgate',
    'and ours is the name where it gave none';
is $heard->{'x/trace'}, 't', 'what others have there is passed on';
$heard = meta_of({});
is_deeply $heard->{'io.modelcontextprotocol/clientCapabilities'}, {},
    'an older client can do nothing of that';

# A request for input, and its answer.
my $result = answer($key, 'input', meta => $meta)->{result};
is $result->{resultType}, 'input_required', 'a question is passed on';
is_deeply $result->{inputRequests}{name}{params}, { message => 'Who?' },
    'as it is';
my $answers = { name => { action => 'accept', content => { a => 1 } } };
$result = answer($key, 'input', meta => $meta, inputResponses => $answers,
    requestState => $result->{requestState})->{result};
is_deeply $result->{structuredContent}{inputResponses}, $answers,
    'and so is the answer';
is $result->{structuredContent}{requestState}, 'opaque "state"',
    'with the state';

kill TERM => $runner->supervisor;
$runner->wait_gone;
unlink glob "$dir/state/mcp/*";
rmdir "$dir/state/mcp";
done_testing;
