#!/usr/bin/perl
# Requests of a parent to the agent through the bridge: the agent has the
# capability, each side has its own ids, and nobody waits if the other side
# closes.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $bridge = $tg->bridge;
my $conn = $parent->accept;
my $tool = \&Toolgate::Parent::tool;
my $text = \&Toolgate::Parent::text_result;
my $hello = 'notifications/toolgate/hello';
my $cancelled = 'notifications/cancelled';

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }

sub greet {
    is $conn->recv_json->{method}, $hello, 'hello, at first without a word';
    answer(request('initialize'), {
        protocolVersion => '2025-11-25',
        serverInfo      => { name => 'p', version => '1' },
        capabilities    => { tools => {} },
    });
    is $conn->recv_json->{method}, 'notifications/initialized', 'initialized';
    answer(request('tools/list'), { tools => [ $tool->('one') ] });
}

sub ask {
    my ($id, $method, $params) = @_;
    $conn->send_line({ jsonrpc => '2.0', id => $id, method => $method,
        params => $params });
}

sub told {
    my ($id) = @_;
    my $message = $conn->recv_json;
    is $message->{id}, $id, 'under its id';
    return $message;
}

greet();
my %form = (message => 'Which?', requestedSchema => { type => 'object' });

ask(1, 'elicitation/create', \%form);
is told(1)->{error}{code}, -32601, 'an agent that has not said anything';

$bridge->rpc('initialize', {
    protocolVersion => '2025-06-18',
    capabilities    => { elicitation => {}, roots => { listChanged => 1 } },
});
my $call = $bridge->request('tools/call', { name => 'one' });
my $said = $conn->recv_json;
is $said->{method}, $hello, 'before its first call, what it can be asked';
is_deeply $said->{params}, { capabilities => { elicitation => {},
    roots => {} } }, 'is said';
my $running = request('tools/call');

# --- there and back ---

ask('a', 'elicitation/create', \%form);
my $asked = $bridge->recv_json;
is $asked->{method}, 'elicitation/create', 'the agent is asked';
is_deeply $asked->{params}, \%form, 'what the parent asks';
ask(7, 'roots/list');
my $roots = $bridge->recv_json;
is $roots->{method}, 'roots/list', 'and once more';
isnt $roots->{id}, $asked->{id}, 'under another id';
$bridge->send_line('{"jsonrpc":"2.0","id":' . $roots->{id}
    . ',"result":{"roots":[ ],"x":1.0}}');
is $conn->recv_line, '{"jsonrpc":"2.0","id":7,"result":{"roots":[],"x":1.0}}',
    'its answer, as it came';
$bridge->send_line({ jsonrpc => '2.0', id => $asked->{id},
    error => { code => -5, message => 'No.' } });
is_deeply told('a')->{error}, { code => -5, message => 'No.' }, 'its error';

ask(8, 'sampling/createMessage', { messages => [] });
is told(8)->{error}{code}, -32601, 'not what it did not say';
ask(9, 'ping');
is_deeply told(9)->{result}, {}, 'the bridge itself is there';
is_deeply $bridge->rpc('ping')->{result}, {}, 'the agent received none of it';

# --- nobody waits any more ---

ask(10, 'roots/list');
$roots = $bridge->recv_json;
$conn->send_line({ jsonrpc => '2.0', method => $cancelled,
    params => { requestId => 10 } });
my $word = $bridge->recv_json;
is $word->{method}, $cancelled, 'the parent thought better of it';
is $word->{params}{requestId}, $roots->{id}, 'the agent receives the id';
$bridge->send_line({ jsonrpc => '2.0', id => $roots->{id}, result => {} });

ask($_, 'roots/list') for 100 .. 132;
is told(132)->{error}{code}, -32603, 'one too many at once';
my @ids = map { $bridge->recv_json->{id} } 100 .. 131;
$bridge->send_line({ jsonrpc => '2.0', id => $ids[31], result => {} });
is_deeply told(131)->{result}, {}, 'the others wait';

# --- the parent has closed ---

answer($running, $text->('x'));
ok $bridge->reply($call)->{result}, 'the call has ended';
$conn->close;
my %left = map { $_ => 1 } @ids[ 0 .. 30 ];
for (0 .. 30) {
    $word = $bridge->recv_json;
    delete $left{ $word->{params}{requestId} } if $word->{method} eq $cancelled;
}
is_deeply \%left, {}, 'all that it asked is taken back';
$conn = $parent->accept;
greet();
$call = $bridge->request('tools/call', { name => 'one' });
is_deeply $conn->recv_json->{params},
    { capabilities => { elicitation => {}, roots => {} } },
    'the next one learns it, too';
answer(request('tools/call'), $text->('y'));
ok $bridge->reply($call)->{result}, 'and serves';

$bridge->close;
is $bridge->wait_exit, 0, 'it ends with its agent';

done_testing;
