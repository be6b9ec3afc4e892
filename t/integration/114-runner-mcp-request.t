#!/usr/bin/perl
# Requests of an MCP server to its client, and the maximum size of results.

use Toolgate::Test qw(Runner McpServer);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;
my ($key) = watch($c, exec => stand_in(), share => 'connection');
list_of($c, $key);

# Calls an instance of one connection, in which the server sends requests.
sub ask {
    my ($instance, $can, @methods) = @_;
    return call($c, $key, 'ask', instance => $instance, capabilities => $can,
        arguments => { methods => \@methods });
}

sub answers {
    my ($reply) = @_;
    return $reply->{result}{result}{structuredContent}{answers};
}

sub told {
    my ($client, $ask, %with) = @_;
    return $client->rpc('told', { ask => $ask->{ask}, %with });
}

# Several requests in one call, one after the other.
my %can = (elicitation => {}, roots => {});
my $id = ask('conn:1', \%can, qw(elicitation/create sampling/createMessage
    roots/list elicitation/create));
my $ask = $c->notification('ask')->{params};
is $ask->{id}, $id, 'the client of the call is asked';
is $ask->{method}, 'elicitation/create', 'what the server asks';
is_deeply $ask->{params}, {}, 'with what it says';
my %accept = (action => 'accept', content => { name => 'Ann' });
ok told($c, $ask, result => \%accept)->{result}, 'its answer is taken';
is told($c, $ask, result => \%accept)->{error}{code}, -32602, 'but once';
my $next = $c->notification('ask')->{params};
is $next->{method}, 'roots/list', 'then what the client can be asked next';
cmp_ok $next->{ask}, '>', $ask->{ask}, 'as another question';
told($c, $next, result => { roots => [] });
$ask = $c->notification('ask')->{params};
told($c, $ask, error => { code => -1, message => 'no' });
my $answers = answers($c->reply($id));
is_deeply $answers->[0], \%accept, 'the server gets the answer as it is';
is $answers->[1]{code}, -32601, 'what the client cannot be asked is refused';
like $answers->[1]{message}, qr/does not support this/, 'with a reason';
is_deeply $answers->[2], { roots => [] }, 'folders are the client\'s';
is_deeply $answers->[3], { code => -1, message => 'no' },
    'an error of the client is one';

# A client without capabilities gets no requests.
$answers = answers($c->reply(ask('conn:2', {}, 'elicitation/create')));
is $answers->[0]{code}, -32601, 'a client that can be asked nothing';

# The call ends meanwhile.
$id = ask('conn:1', {}, 'elicitation/create');
$ask = $c->notification('ask')->{params};
$c->notify('$/cancelRequest', { id => $id });
is told($c, $ask, result => {})->{error}{code}, -32602,
    'no call waits for this answer any more';
$id = ask('conn:1', {}, 'elicitation/create');
$ask = $c->notification('ask')->{params};
my $dies = call($c, $key, 'die', instance => 'conn:1');
is $c->notification('unask')->{params}{ask}, $ask->{ask},
    'when the server dies, that is said';
is $c->reply($_)->{result}{failure}, 'lost', 'with the call' for $id, $dies;

# The call is moving to another worker.
my $go = "$dir/go";
my $d = $runner->connect;
watch($d, key => $key, exec => ['/bin/true']);
$id = call($c, $key, 'ask', instance => 'conn:1',
    arguments => { methods => ['elicitation/create'], until => $go });
$c->rpc('status');
ok $c->rpc('release', { id => $id, key => 'k' x 32 })->{result}, 'released';
$tg->file('go', '');
wait_for { !-e $go } 'the server to ask';
my $adopted = $d->request('adopt', { key => 'k' x 32 });
$ask = $d->notification('ask')->{params};
is $ask->{id}, $adopted, 'who adopts the call asks';
told($d, $ask, result => \%accept);
is_deeply answers($d->reply($adopted))->[0], \%accept, 'and answers';

# A request is sent before another worker adopts the call.
$id = ask('conn:1', {}, 'elicitation/create');
$ask = $c->notification('ask')->{params};
$c->rpc('release', { id => $id, key => 'l' x 32 });
$adopted = $d->request('adopt', { key => 'l' x 32 });
ok told($d, $ask, result => \%accept)->{result},
    'an answer may come from another worker than the one that asked';
is_deeply answers($d->reply($adopted))->[0], \%accept, 'it is the same';

# Maximum size of a result.
my $result = $c->reply(call($c, $key, 'kinds', instance => 'conn:1',
    max_output => 100))->{result};
is $result->{failure}, 'output', 'a result that is too large';
is $result->{message}, 'files_kinds returned more than 100 bytes (max_output);'
    . ' ask for less.', 'says how large it may be';
is $c->rpc('mcp_call', { tool => 't', key => $key, name => 'x',
    max_output => -1 })->{error}{code}, -32602, 'which is a number';

kill TERM => $runner->supervisor;
$runner->wait_gone;
unlink glob "$dir/state/mcp/*";
rmdir "$dir/state/mcp";
done_testing;
