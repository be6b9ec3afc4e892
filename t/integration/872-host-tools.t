#!/usr/bin/perl
# Tools and methods of a program: the arguments of calls, their responses, and
# notifications of changes.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;

sub names { return $_[0]->tool_names }

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind);
    $host->do('filter echo json');
    $host->do('start');

    # --- arguments and results ---
    my $client = $host->connect_to;
    is names($client), 'echo json', "$kind: what the filter leaves";
    my $reply = $client->call_tool('echo', { text => 5 });
    ok $reply->{result}{isError}, 'arguments that do not fit the schema';
    like $reply->{result}{content}[0]{text}, qr{/text: expected string},
        'are refused before the program is asked';
    $reply = $client->rpc('task.missing');
    is_deeply $reply->{error}, {
        code => -32000, message => 'Task Not Found', data => { taskId => 'x' },
        },
        'an error of the program\'s own, with data';
    like $host->event(qr/^report/),
        qr/^report IPCToolExecutionError task\.missing: Task Not Found/,
        'which the program is notified of, too';
    is $client->rpc('checked', { n => 7 })->{result}, 7,
        'a method whose params fit';
    is $client->rpc('checked', { n => 'x' })->{error}{code}, -32602,
        'and some that do not';
    is $host->connect_to->rpc('sum', [ 1, 2, 4 ])->{result}, 7,
        'params by position';

    # As written, and as read.
    my $many = join ',', map {qq("m$_":[$_,{}])} 1 .. 20;
    my @written = (
        [ '{"text":"plain"}', 'plain' ],
        [ '{"text":"plane"}', 'plane' ],
        [ '{"n":1,"te\u0078t":"\u00e9\n\u0001\"/"}', qq(\xe9\n\x01"/) ],
        [ '{ "text" : "\ud83d\ude00 {" , "x" : {"text":1} }', "\x{1f600} {" ],
        [ qq({$many,"text":"last"}), 'last' ],
        [ qq({"text":"\\t first",$many}), "\t first" ],
        [ '{"text":""}', '' ],
    );
    for my $one (@written) {
        my ($arguments, $text) = @$one;
        $client->send_raw('{"jsonrpc":"2.0","id":"w","method":"tools/call",'
                . qq("params":{"name":"echo","arguments":$arguments}}\n));
        is $client->reply('w')->{result}{content}[0]{text}, $text,
            "$kind: $arguments";
    }

    # --- changes with connected clients ---------
    my $watcher = $host->connect_to;
    $watcher->rpc('initialize', {
        protocolVersion => '2025-11-25', capabilities => {},
        clientInfo      => { name => 'watcher', version => '1' },
    });
    $watcher->send_line({
        jsonrpc => '2.0', method => 'notifications/initialized',
    });
    is $watcher->rpc('ping')->{error}, undef, 'a client is connected';
    is $host->do('tool raise'), 'ok', 'a tool is added';
    is $watcher->recv_json->{method}, 'notifications/tools/list_changed',
        'clients are notified';
    is names($client), 'echo json raise', 'and see it';
    my $schemas = decode_json(slurp($host->do('schema')));
    is_deeply [ map { $_->{name} } @$schemas ], [qw(echo json raise)],
        'as who reads the schema file does';
    $reply = $client->call_tool('raise');
    is_deeply $reply->{result}, {
        content => [ { type => 'text', text => 'there is no such file' } ],
        isError => JSON::PP::true,
        _meta   => { 'toolgate/errorType' => 'FileNotFoundError' },
        },
        'its error has a class';
    like $host->event(qr/^report/),
        qr/^report IPCToolExecutionError raise: there is no such file/,
        'and is not swallowed';
    my $ipc = $host->connect_to;
    is_deeply $ipc->ipc_call('raise'), {
        error => {
            message => 'there is no such file', type => 'FileNotFoundError',
        },
        },
        'in ipc it is the exception\'s';
    is_deeply $ipc->ipc_call('fail'), {
        error => {
            message =>
                'Unknown tool: fail. Ask for the list of tools to see what '
                . 'there is.',
            type => 'ToolNotFoundError',
        },
        },
        'what is filtered is not there';
    like $host->fails('tool raise'), qr/^ValueError .*already/,
        'a name is given once';
    is $host->do('remove raise'), 'ok', 'it is removed';
    is $watcher->recv_json->{method}, 'notifications/tools/list_changed',
        'clients are notified';
    is $client->call_tool('raise')->{error}{code}, -32602, 'it is gone';
    like $host->fails('remove raise'), qr/^ValueError .*unknown tool "raise"/,
        'it cannot be removed twice';
    is $host->do('filter'), 'ok', 'all are offered';
    is $watcher->recv_json->{method}, 'notifications/tools/list_changed',
        'clients are notified';
    like names($client), qr/^echo fail slow hang .* big$/, 'in their order';
    my $before = names($client);
    is $host->do('filter ' . $before), 'ok', 'a filter that leaves all';
    $watcher->send_line({ jsonrpc => '2.0', id => 'p', method => 'ping' });
    is $watcher->recv_json->{id}, 'p', 'is nothing to tell';

    # --- options of tools ---
    $host->do('tool typed');
    $host->do('set-tool typed output json');
    $host->do('set-tool typed output_schema '
        . '{"type":"object","properties":{"n":{"type":"integer"}}}');
    $host->do('set-tool typed title A title');
    $host->do('set-tool typed annotations {"readOnlyHint":true}');
    $host->do('set-tool typed description Says n.');
    my ($typed) = grep { $_->{name} eq 'typed' }
        @{ $client->rpc('tools/list')->{result}{tools} };
    is_deeply $typed, {
        name         => 'typed',
        title        => 'A title',
        description  => 'Says n.',
        annotations  => { readOnlyHint => JSON::PP::true },
        inputSchema  => { type => 'object', properties => {} },
        outputSchema => {
            type => 'object', properties => { n => { type => 'integer' } },
        },
        },
        'what a tool says of itself';
    $reply = $client->call_tool('typed');
    like $reply->{result}{content}[0]{text},
        qr/result of typed does not match its output schema.*\/n: expected int/,
        'its result has to fit the schema';
    like $host->event(qr/^report .*typed/), qr/IPCToolExecutionError/,
        'and that is reported';
    $host->do('set-tool typed validate off');
    is_deeply $client->call_tool('typed')->{result}{structuredContent},
        { n => 'x' }, 'if it is looked at';
    $host->do('set-tool typed validate on');
    like $host->fails('set-tool typed output text'),
        qr/^ValueError typed: "output" cannot be "text"/, 'what cannot be';
    like $host->fails('set-tool typed outputs text'),
        qr/^ValueError .*did you mean "output"\?/, 'an option misspelt';
    like $host->fails('set-tool typed timeout soon'),
        qr/^ValueError "timeout" must be a time, such as 500ms.*not "soon"/,
        'a time that is none';
    like $host->fails('set-tool typed input_schema {"type":"object"'),
        qr/^ValueError typed: "input_schema" is no JSON: .*column/,
        'a schema that is no JSON';
    like $host->fails('set-tool typed input_schema {"type":"array"}'),
        qr/^ValueError .*must have "type":"object"/, 'one that is no object\'s';
    like $host->fails(
        'set-tool typed input_schema {"type":"object","required":1}'),
        qr/^ValueError typed: "input_schema" .*required/,
        'one with a mistake';
    like $host->fails('set-tool typed annotations {"readOnlyHint":1}'),
        qr/^ValueError .*true or false/, 'annotations that are none';
    like $host->fails('set-tool nothing title x'),
        qr/^ValueError unknown tool "nothing"/, 'a tool that is none';
    ok $client->call_tool('typed')->{result}{isError},
        'after all that it is as it was';
    like $host->fails('tool a b'), qr/^ValueError "a b": /,
        'a name that is none';

    # --- results of a program ------
    $reply = $client->call_tool('broken');
    like $reply->{result}{content}[0]{text}, qr/not one valid JSON value/,
        'JSON that is none';
    like $host->event(qr/^report .*not one valid/), qr/IPCToolExecutionError/,
        'is reported';
    $host->do('tool whole');
    is $client->call_tool('whole', { a => [ 1, { b => "\x{e9}\n" } ] })
        ->{result}{content}[0]{text}, qq({"a":[1,{"b":"\x{e9}\\n"}]}),
        'arguments come as they were sent';
    $host->do('tool ten');
    $client->request('tools/call', { name => 'ten' });
    like $client->recv_line, qr/"text":"x{10}/, 'a result of ten megabytes';
    $ipc->send_ipc({ method => 'call_tool',
        params => { name => 'ten', arguments => {} } });
    my $size = unpack 'N', $ipc->recv_bytes(4);
    is $ipc->recv_bytes($size) =~ tr/x//, 10_000_002, 'in ipc, too';
    like $client->call_tool('big')->{error}{message},
        qr/more than the 10485760/, 'one that is larger';
    is $ipc->ipc_call('big')->{error}{type}, 'IPCMessageSizeError',
        'is an error in ipc';
    like $host->event(qr/^report IPCMessageSizeError big/), qr/larger than/,
        'and is reported';

    $host->do('stop');
    $host->stop;
}

# --- options of servers ---

my $host = Toolgate::Host->start($tg, 'thread');
my %mistake = (
    'set max_frame 1'       => qr/number from 1024 to 1073741824.*not "1"/,
    'set max_frame 9999999999999999999999' => qr/number from/,
    'set max_inflight many' => qr/number from 1 to 65536.*not "many"/,
    'set transport http'    => qr/one of auto, stdio, sdk, not "http"/,
    'set protocol soap'     => qr/one of auto, ipc, jsonrpc, relay, not/,
    'set loop select'       => qr/one of thread, fd, not "select"/,
    'set idle_timeout 1y'   => qr/must be a time.*not "1y"/,
    'set bridge bin/bridge' => qr/begins with a slash/,
    'set instruction x'     => qr/did you mean "instructions"/,
    'set nothing x'         => qr/unknown option "nothing"; see docs/,
);
like $host->fails($_), qr/^ValueError .*$mistake{$_}/, $_
    for sort keys %mistake;
$host->do("set $_") for 'version 9.8', 'instructions Count.',
    'transport auto', 'idle_timeout off', 'send_timeout 1h';
$host->do('start');
my $client = $host->connect_to;
my $about = $client->rpc('initialize', {
    protocolVersion => '2025-11-25', capabilities => {},
    clientInfo      => { name => 'x', version => '1' },
})->{result};
is_deeply $about->{serverInfo}, { name => 'transcripts', version => '9.8' },
    "the server's name and version";
is $about->{instructions}, 'Count.', 'and what to do with it';

done_testing;
