#!/usr/bin/perl
# `pass`: a call's _meta reaches the backend, except for what belongs to a
# connection; a modern client's answers to an input request reach it, too; and
# the _meta of results returns.

use Toolgate::Test qw(Backend Parent Way);

my $tg = Toolgate::Test->new(workers => 1);
my @backends = Toolgate::Backend->all($tg);
my %backend = map { $_->protocol => $_ } @backends;
my $modern_path = $tg->dir . '/modern';
my $modern = Toolgate::Parent->new($modern_path);
$tg->conf(join '',
    (map { "tool $_->{protocol} { description d; "
            . $_->pass('name=there') . ' }' } @backends),
    "tool modern { description d; pass unix:$modern_path protocol=mcp; }",
    "tool texts { description d; pass unix:$modern_path protocol=mcp;"
        . ' output text; }',
    'method m { ' . $backend{mcp}->pass('name=there') . ' }')->start;

my $key = 'io.modelcontextprotocol/';
my %meta = (
    'a.b/c'        => [ 1, { d => undef } ],
    traceparent    => 'anything',
    progressToken  => 'mine',
    "${key}future" => 1,
);
my $result = {
    content => [ { type => 'text', text => 'x' } ],
    _meta   => { 'x/y' => { z => "\x{1f600}" } },
};

for my $protocol (qw(ipc jsonrpc mcp relay)) {
    for my $way (Toolgate::Way->all($tg)) {
        my $name = "$protocol, " . $way->name;
        my $call = $way->start($protocol, { n => 1 }, _meta => \%meta);
        my $request = $backend{$protocol}->heard;
        my %sent = %{ delete $request->{params}{_meta} // {} };
        my %expected = map { $_ => $meta{$_} } qw(a.b/c traceparent);
        %expected = () if $protocol eq 'ipc';
        isnt delete $sent{progressToken}, 'mine', "$name: a token of its own";
        is_deeply \%sent, \%expected, "$name: the rest";
        is_deeply $request->{params},
            { name => 'there', arguments => { n => 1 } },
            "$name: nothing else changes";
        $backend{$protocol}->answer($request, result => $result);
        my $answer = $way->finish($call);
        is $answer->{text}, 'x', "$name: the result";
        is_deeply $answer->{result}{_meta}{'x/y'}, $result->{_meta}{'x/y'},
            "$name: its _meta"
            if $way->name ne 'ipc';
        $way->client->close;
    }
}

my $client = $tg->connect;
my $id = $client->request('m', { _meta => { k => 1 } });
my $request = $backend{mcp}->heard;
is $request->{params}{arguments}{_meta}{k}, 1, 'params are arguments';
$backend{mcp}->text($request, '"x"');
is $client->reply($id)->{result}, 'x', 'of a method';

# --- a backend of the modern era --------------------------------------------

my $way = Toolgate::Way->new('modern', $tg->connect);
my $ask = {
    resultType    => 'input_required',
    requestState  => 's "1"',
    inputRequests => { who => { method => 'roots/list' } },
};
my $caps = { roots => {}, extensions => { x => {} } };
my $call = $way->start('modern', {},
    _meta => { %meta, "${key}clientCapabilities" => $caps });
my $conn = $modern->accept;
Toolgate::Parent::give($conn, 'server/discover',
    { supportedVersions => ['2026-07-28'], capabilities => {} });
$request = Toolgate::Parent::request($conn, 'tools/call');
my $sent = $request->{params}{_meta};
is $sent->{"${key}protocolVersion"}, '2026-07-28', 'in its era';
is_deeply $sent->{"${key}clientCapabilities"}, { roots => {} },
    'what the client can be asked';
is $sent->{"${key}future"}, 1, 'and all that MCP has reserved';
is_deeply $sent->{'a.b/c'}, $meta{'a.b/c'}, 'and what it has not';
Toolgate::Parent::answer($conn, $request, $ask);
my $asked = $way->client->reply($call)->{result};
is_deeply { map { $_ => $asked->{$_} } keys %$ask }, $ask, 'it asks first';

my $told = { who => { roots => [] } };
$call = $way->start('modern', {},
    inputResponses => $told, requestState => $ask->{requestState});
$request = Toolgate::Parent::request($conn, 'tools/call');
is_deeply $request->{params}{inputResponses}, $told, 'the answer arrives';
is $request->{params}{requestState}, 's "1"', 'with the state';
Toolgate::Parent::answer($conn, $request, $result);
is $way->finish($call)->{text}, 'x', 'and is answered';

# Whatever becomes of its results; a client without the capability gets the
# reason.
$call = $way->start('texts');
Toolgate::Parent::give($conn, 'tools/call', $ask);
is $way->client->reply($call)->{result}{resultType}, 'input_required',
    'one whose texts are wanted may ask, too';
my $legacy = Toolgate::Way->new('legacy', $tg->connect);
for my $tool (qw(modern texts)) {
    $call = $legacy->start($tool);
    Toolgate::Parent::give($conn, 'tools/call', $ask);
    like $legacy->finish($call)->{text}, qr/input from its user .* 2026-07-28/,
        "$tool: a legacy client receives the reason";
}

done_testing;
