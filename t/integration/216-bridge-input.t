#!/usr/bin/perl
# A modern agent's calls pass the bridge unchanged: their _meta, the request of
# an input_required result, its answer and its state. Results of all kinds
# return unchanged.

use Toolgate::Test qw(Listed Parent Way);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 1);
my $far = Toolgate::Listed->new($tg, 'far', 'modern');
$far->list(qw(input params result));
$tg->conf('mcp_server far { exec ' . $far->command . '; }')->start;
wait_for { Toolgate::Way->new('legacy', $tg->connect)->list =~ /far_input/ }
    'the list';

# --- through Toolgate, to an MCP server -------------------------------------

my $bridge = $tg->bridge;
my $modern = Toolgate::Way->new('modern', $bridge);
my $key = 'io.modelcontextprotocol/';

sub call {
    my ($name, $arguments, %more) = @_;
    my $id = $modern->start($name, $arguments, %more);
    return $bridge->reply($id)->{result};
}
my $asked = call('far_input', { a => 1 },
    _meta => {
        "${key}clientCapabilities" =>
            { elicitation => { form => {} }, extensions => { x => {} } },
        "${key}clientInfo" => { name => 'agent', version => '9' },
        'a.b/c'            => [ 1, { d => undef } ],
        progressToken      => 'mine',
    });
is $asked->{resultType}, 'input_required', 'a question is passed on';
is $json->encode($asked->{inputRequests}),
    $json->encode($json->decode(<<'END')), 'as it is';
{"name":{"method":"elicitation/create","params":{"message":"Who?"}}}
END
is $asked->{requestState}, 'opaque "state"', 'with its state';

my ($told) = $far->told('tools/call');
my $meta = $told->[1]{params}{_meta};
is_deeply $meta->{"${key}clientCapabilities"},
    { elicitation => { form => {} } },
    'the server knows what the agent can be asked';
is $meta->{"${key}clientInfo"}{name}, 'agent', 'and who it is';
is_deeply $meta->{'a.b/c'}, [ 1, { d => undef } ], 'and what else it said';
isnt $meta->{progressToken}, 'mine', 'the token is its own';

my $answer = { name => { action => 'accept', content => { n => "\x{e9}" } } };
my $result = call('far_input', { a => 1 },
    inputResponses => $answer,
    requestState   => $asked->{requestState});
is $result->{resultType}, 'complete', 'answered, it is done';
is_deeply
    [ @{ $result->{structuredContent} }{qw(inputResponses requestState)} ],
    [ $answer, 'opaque "state"' ], 'the answer and the state arrived';

my $legacy = Toolgate::Way->new('legacy', $tg->bridge);
my $got = $legacy->finish($legacy->start('far_input'));
like $got->{text}, qr/input from its user .* 2026-07-28/, 'a legacy agent '
    . 'hears why';
$got = $legacy->finish(
    $legacy->start('far_params', {}, _meta => { 'a/b' => 1 }));
is $json->decode($got->{text})->{_meta}{'a/b'}, 1,
    'what its _meta has is passed on, too';

my $all = {
    content => [
        { type => 'text', text => "t\x{1f600}", annotations => { x => 0.5 } },
        { type => 'image', data => 'aGk=', mimeType => 'image/png' },
        { type => 'audio', data => 'aGk=', mimeType => 'audio/wav' },
        { type => 'resource', resource => { uri => 'a:b', blob => 'aGk=' } },
        { type => 'resource_link', uri => 'a:b', name => 'c', size => 2 },
        { type => 'of-later', x => [ {} ] },
    ],
    structuredContent => { a => [ 1, undef, 2.5 ] },
    isError           => JSON::PP::false(),
    _meta             => { 'x/y' => { z => 1 } },
    later             => 'too',
};
$result = $legacy->finish($legacy->start('far_result', { result => $all }));
is_deeply delete $result->{result}{resultType}, 'complete', 'its type';
is_deeply $result->{result}, $all, 'all kinds of contents, as they are';
$result = call('far_result', { result => $all });
is delete $result->{resultType}, 'complete',
    'the same result in the modern era';
ok delete $result->{_meta}{"${key}serverInfo"}, 'who has answered';
is_deeply $result, $all, 'and all kinds of contents';
$_->close for $bridge, $legacy->client;
$tg->stop;

# --- unchanged, and over a lost connection ----------------------------------

my $parent = Toolgate::Parent->new($tg->socket_path);
$bridge = $tg->bridge;
my $conn = $parent->serve(Toolgate::Parent::tool('t'));
my $claim = qq("${key}protocolVersion":"2026-07-28",)
    . qq("${key}clientCapabilities":{"roots":{}});
$bridge->send_line('{"jsonrpc":"2.0","id":"q","method":"tools/call","params":'
    . '{"name":"t","requestState":"\u0073\"","inputResponses":{"a":1.0},'
    . qq("_meta":{$claim,"${key}logLevel":"debug","x":1.50}}}));
my $params = '"params":{"name":"t","arguments":{},'
    . '"inputResponses":{"a":1.0},"requestState":"\u0073\""';
my $line = $conn->recv_line;
like $line, qr/\Q$params\E/, 'answers and state to the letter';
like $line, qr/"${key}logLevel":"debug","x":1\.50\}\}\}$/, 'so is _meta';
unlike $line, qr/progressToken/, 'an agent that wants no progress';

# A call that was not started is sent again, complete.
$conn->notify('notifications/toolgate/closing', { reason => 'reload' });
$conn->close;
$conn = $parent->serve(Toolgate::Parent::tool('t'));
my $again = $conn->recv_line;
is $again =~ s/"id":\d+//r, $line =~ s/"id":\d+//r, 'asked again as it was';
my %need = (requiredCapabilities => { elicitation => {} });
Toolgate::Parent::refuse($conn, $json->decode($again), -32021, 'No.', \%need);
is_deeply $bridge->reply('q')->{error},
    { code => -32021, message => 'No.', data => \%need }, 'an error as it came';
$bridge->close;
is $bridge->wait_exit, 0, 'it ends with its agent';

done_testing;
