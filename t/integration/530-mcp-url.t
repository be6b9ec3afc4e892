#!/usr/bin/perl
# MCP servers over Streamable HTTP, of both eras, with JSON or events: tools,
# calls, progress, cancellation, and the required headers.

use Toolgate::Test qw(McpWeb);

my $tg = Toolgate::Test->new(workers => 2);
my %web = (
    events => Toolgate::McpWeb->new($tg),
    json   => Toolgate::McpWeb->new($tg, 'json'),
    bare   => Toolgate::McpWeb->new($tg, 'no_get', 'no_id'),
    modern => Toolgate::McpWeb->new($tg, 'modern', '--', 'marks'),
    plain  => Toolgate::McpWeb->new($tg, 'modern', 'json'),
);
my @names = sort keys %web;
$tg->conf(join "\n", map {
    "mcp_server $_ { url @{[ $web{$_}->url ]}; header X-Of $_; }"
} @names)->start;

my $client = $tg->connect;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    @names == grep { $_->{name} =~ /_echo$/ } @$tools;
} 'the tools of all';

for my $name (@names) {
    my $web = $web{$name};
    my $is_modern = $name =~ /^(?:modern|plain)$/;
    my $result = $client->call_tool("${name}_echo", { a => [ 1, "\n\r" ] })
        ->{result};
    is_deeply $result->{structuredContent}{arguments}, { a => [ 1, "\n\r" ] },
        "$name: a call has its arguments";
    is $result->{_meta}{'x/y'}, 1, "$name: and the result comes as it is";
    is_deeply $client->call_tool("${name}_error")->{error},
        { code => -32603, message => "it \"failed\"\n" }, "$name: an error";
    is scalar @{ $client->call_tool("${name}_kinds")->{result}{content} }, 5,
        "$name: all kinds of content";

    # Progress.
    my $id = $client->request('tools/call', { name => "${name}_slow",
        _meta => { progressToken => $name } });
    my @steps;
    push @steps, $client->recv_where(
        sub { ($_[0]{method} // '') eq 'notifications/progress' },
        undef, 'progress')->{params}
        until @steps && $steps[-1]{progress} == 3;
    is $steps[0]{progressToken}, $name, "$name: progress, to who asked";
    is text_of($client->reply($id)), 'slow', "$name: and its end";

    # Cancellation of exactly one.
    my @ids = map { $client->request('tools/call', { name => "${name}_hang" }) }
        1, 2;
    wait_for { 2 == grep { $_->{message}{params}{name} eq 'hang' }
        $web->requests('tools/call') } "$name: two calls";
    $client->notify('notifications/cancelled', { requestId => $ids[0] });
    if (!$is_modern) {
        wait_for { $web->requests('notifications/cancelled') }
            "$name: one is cancelled";
        my $told = $client->call_tool("${name}_cancelled")->{result};
        is scalar @{ $told->{structuredContent}{held} }, 1,
            "$name: the other call continues";
    } else {
        is scalar(() = $web->requests('notifications/cancelled')), 0,
            "$name: its stream has ended, which says it";
    }
    $client->notify('notifications/cancelled', { requestId => $ids[1] });
    wait_for { 2 == grep { $_->{of} eq 'tools/call' } $web->requests('GONE') }
        "$name: the streams of both are closed";

    # The headers of each request.
    my @posts = $web->requests('POST');
    is scalar(grep { $_->{headers}{'x-of'} ne $name } @posts), 0,
        "$name: all have the header";
    is scalar(grep { exists $_->{headers}{'accept-encoding'} } @posts), 0,
        "$name: nothing is to be packed";
    my @calls = $web->requests('tools/call');
    my %ids = map { ($_->{headers}{'mcp-session-id'} // '') => 1 } @calls;
    is scalar(keys %ids), 1, "$name: one session for all";
    is((keys %ids)[0] ne '', !$is_modern && $name ne 'bare',
        "$name: where there are any");
    my %versions = map { $_->{headers}{'mcp-protocol-version'} => 1 } @calls;
    is join(' ', keys %versions), $is_modern ? '2026-07-28' : '2025-06-18',
        "$name: and the version that was agreed on";
    if ($is_modern) {
        is $web->methods =~ /initialize|GET/, '', "$name: no handshake";
        is $calls[0]{headers}{'mcp-method'}, 'tools/call', "$name: its method";
        is $calls[0]{headers}{'mcp-name'}, 'echo', "$name: its name";
    } else {
        like $web->methods, qr/^server.discover[ ]initialize
            [ ]notifications.initialized[ ](?:GET[ ])?tools.list/x,
            "$name: the handshake, in this order";
        my ($hello) = $web->requests('initialize');
        is $hello->{headers}{'mcp-session-id'}, undef, "$name: which has none";
    }
}

# Parts of the modern era only.
my $mark = "caf\x{e9}";
$client->call_tool('modern_echo_mark', { region => $mark });
my ($marked) = grep { $_->{message}{params}{name} eq 'echo_mark' }
    $web{modern}->requests('tools/call');
is $marked->{headers}{'mcp-param-region'}, '=?base64?Y2Fmw6k=?=',
    'an argument that the schema marks has a header';
$client->call_tool('modern_echo_mark', { region => $_ }) for 'a:', '';
my @regions = map { $_->{headers}{'mcp-param-region'} }
    grep { $_->{message}{params}{name} eq 'echo_mark' }
    $web{modern}->requests('tools/call');
is_deeply [ @regions[ 1, 2 ] ], [ 'a:', '' ],
    'one that ends in a colon, and one of nothing';
my $modern = $tg->connect;
my %meta = ('io.modelcontextprotocol/protocolVersion' => '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities' => { elicitation => {} });
my $asks = $modern->rpc('tools/call', { name => 'modern_input',
    _meta => \%meta })->{result};
is $asks->{resultType}, 'input_required', 'a result that asks for more';
is $modern->rpc('tools/call', { name => 'modern_input', _meta => \%meta,
    requestState => $asks->{requestState},
    inputResponses => { name => { action => 'decline' } } })
    ->{result}{structuredContent}{requestState}, 'opaque "state"', 'gets it';

# The list changes: notified on the server's stream, if it has one.
for my $name (qw(events json modern plain)) {
    my $watcher = $tg->connect;
    $watcher->rpc('initialize', { protocolVersion => '2025-06-18',
        capabilities => {} });
    wait_for { $web{$name}->requests('GET')
            || $web{$name}->requests('subscriptions/listen') }
        "$name: the channel is open";
    is text_of($client->call_tool("${name}_grow", { name => 'new' })), 'grown',
        "$name: another tool";
    # They may be sessions of different workers.
    for my $session ($watcher, $client) {
        wait_for {
            my $tools = $session->rpc('tools/list')->{result}{tools};
            grep { $_->{name} eq "${name}_new" } @$tools;
        } "$name: it is listed";
    }
    like text_of($client->call_tool("${name}_new")), qr/\?/,
        "$name: and called";
}

# They are shared by all, like one process.
my %sessions = map { $_ => $web{$_}->control('sessions') } qw(events json);
is_deeply \%sessions, { events => 1, json => 1 }, 'one session each';
$tg->stop;
wait_for { $web{$_}->requests('DELETE') } "$_: it is ended" for qw(events json);
is scalar(() = $web{$_}->requests('DELETE')), 0, "$_: it has none to end"
    for qw(bare modern);
done_testing;
