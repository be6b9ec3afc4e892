#!/usr/bin/perl
# A broadcast reaches each client of the server once, in its caller's order, in
# any worker and in the client's dialect; no client of another server gets it.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 3);
my $body = <<'END';
    method tell { broadcast event.happened; }
    tool shout { description "Tells all."; broadcast notifications/x/channel; }
    method pid { return $pid; }
    tool hi { description "Says hi."; return hi; }
END
# They are read one after the other, on a slow machine for minutes.
my $listen = 'tool_runner ' . $tg->runner_path . '; tool_state_dir %%STATE%%; '
    . 'tool_send_timeout 1h;';
$tg->conf("server { listen unix:%%SOCKET%%; listen unix:%%DIR%%/two.sock; "
    . "$listen $body } "
    . "server { listen unix:%%DIR%%/other.sock; $listen $body }",
    server => 0)->start;

sub meta {
    return _meta => modern_meta();
}

# Clients until each worker has some.
my (@plain, %worker);
while (keys %worker < 3) {
    my $client = $tg->connect(@plain % 2 ? $tg->dir . '/two.sock' : ());
    push @plain, $client;
    $worker{ $client->rpc('pid')->{result} }++;
}
my @legacy = map { $tg->connect } 1 .. 3;
$_->rpc('initialize', { protocolVersion => '2025-06-18' }) for @legacy;
my @relay = map { $tg->connect } 1 .. 3;
for my $client (@relay) {
    $client->send_line(
        { kind => 'mcp_request', id => 1, method => 'tools/list' });
    $client->recv_json;
}
my @modern = map { $tg->connect } 1 .. 3;
for my $client (@modern) {
    $client->request('subscriptions/listen',
        { notifications => { 'toolgate/broadcasts' => \1 }, meta() });
    is_deeply $client->recv_json->{params}{notifications},
        { 'toolgate/broadcasts' => JSON::PP::true }, 'a subscription';
}

# They are clients, too, but cannot be notified.
my $ipc = $tg->connect;
is $ipc->ipc_call('hi')->{result}{content}[0]{text}, 'hi', 'ipc';
my $stateless = $tg->connect;
$stateless->rpc('tools/list', { meta() });
my $mute = $tg->connect;
my $other = $tg->connect($tg->dir . '/other.sock');
$other->rpc('pid');

my $told = @plain + @legacy + @relay + @modern;
for my $n (1 .. 3) {
    is_deeply $plain[0]->rpc('tell', { n => $n, text => "\x{e4}\n" })->{result},
        { clients => $told }, "broadcast $n: how many were told";
}
is_deeply $plain[0]->rpc('tell')->{result}, { clients => $told },
    'one without params';
is text_of($plain[1]->call_tool('shout', { content => 'hey' })),
    qq({"clients":$told}), 'a tool';

# A call in the dialect without lines may contain line breaks.
$ipc->send_ipc(qq({"method":"call_tool","params":{"name":"shout",\n)
    . qq("arguments":{\n  "content" : "ho"\n}}}));
is $ipc->recv_ipc->{result}{content}[0]{text}, qq({"clients":$told}), 'ipc';

my @events = (
    (map { [ 'event.happened', { n => $_, text => "\x{e4}\n" } ] } 1 .. 3),
    [ 'event.happened',          {} ],
    [ 'notifications/x/channel', { content => 'hey' } ],
    [ 'notifications/x/channel', { content => 'ho' } ],
);

sub hears {
    my ($client, $name, $wrap) = @_;
    my @got = map {
        $client->recv_where(sub { exists $_[0]{method} }, undef, "event $_")
    } 0 .. $#events;
    is_deeply \@got, [ map { $wrap->(@$_) } @events ], "$name: all, in order";
    ok $client->is_silent(0), "$name: and nothing else";
}

my $rpc = sub {
    return { jsonrpc => '2.0', method => $_[0], params => $_[1] };
};
hears($_, 'plain', $rpc) for @plain;
hears($_, 'legacy', $rpc) for @legacy;
hears($_, 'relay', sub {
    return { kind => 'mcp_notification', method => $_[0], params => $_[1] };
}) for @relay;
hears($_, 'modern', sub {
    my ($method, $params) = @_;
    return $rpc->($method, { %$params,
        _meta => { 'io.modelcontextprotocol/subscriptionId' => 1 } });
}) for @modern;
is $stateless->rpc('tools/list', { meta() })->{result}{resultType}, 'complete',
    'a modern client without a subscription';
ok $other->rpc('pid')->{result}, 'one of another server';
ok $_->is_silent(0), 'is told nothing' for $stateless, $other;
is $ipc->ipc_call('hi')->{result}{content}[0]{text}, 'hi', 'ipc again';
ok $mute->is_silent(0), 'a client of unknown dialect receives nothing';
is_deeply $other->rpc('tell', {})->{result}, { clients => 1 },
    'another server has other clients';
is $other->notification('event.happened')->{params}{n}, undef,
    'the other clients receive it';
ok $plain[0]->is_silent(0), 'and no others';

# Invalid broadcasts.
like $plain[0]->rpc('tell', [1])->{error}{message}, qr/must be an object/,
    'an array';
my $large = 'x' x 1_040_384;
like $plain[0]->rpc('tell', { t => $large })->{error}{message},
    qr/at most 1040384 bytes/, 'one that is too large';
$large = 'x' x 1_040_000;
is_deeply $plain[0]->rpc('tell', { t => $large })->{result},
    { clients => $told }, 'a large one';
is length $plain[0]->notification('event.happened')->{params}{t}, 1_040_000,
    'comes whole';
# Perl takes seconds to decode one.
ok index($_->recv_line, qq("t":"$large")) > 0, 'to all'
    for @plain[1 .. $#plain], @legacy, @modern, @relay;

# A call without an id gets no response, but is broadcast.
$plain[0]->notify('tell', { n => 9 });
is $_->notification('event.happened')->{params}{n}, 9, 'from a notification'
    for @plain;

done_testing;
