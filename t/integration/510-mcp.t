#!/usr/bin/perl
# Tools of another MCP server: listed with its descriptions, and called in all
# dialects, with progress, cancellation and results.

use Toolgate::Test qw(Listed Way);

my $tg = Toolgate::Test->new;
my $json = 'Toolgate::Client';
my $server = Toolgate::Listed->new($tg, 'far');
my $read = $json->decode(<<'END');
{"name":"echo","title":"Echo","description":"Says \u00e9 again.",
 "icons":[{"src":"data:image/png;base64,AA=="}],"x-more":[1.50,null],
 "annotations":{"readOnlyHint":true},"_meta":{"example.org/x":[1,"2"]},
 "inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}
END
$server->list($read, qw(sleep result params die set_tools));
$tg->conf(<<"END")->start;
tool first { return 1; }
mcp_server far { exec @{[ $server->command ]}; }
tool last { return 2; }
END

sub names { return $_[0]->tool_names }

# --- the list ---------------------------------------------------------------

my $client = $tg->connect;
my $all = 'first far_echo far_sleep far_result far_params far_die '
    . 'far_set_tools last';
wait_for { names($client) eq $all } 'its tools, in their place';
my ($echo) = grep { $_->{name} eq 'far_echo' }
    @{ $client->rpc('tools/list')->{result}{tools} };
is $json->encode($echo), $json->encode({ %$read, name => 'far_echo' }),
    'a tool is listed as its server does, but its name';
is scalar($server->pids), 1, 'one process has sent its list to all workers';

# --- calls ------------------------------------------------------------------

my @ways = Toolgate::Way->all($tg);
for my $way (@ways) {
    my $name = $way->name;
    is $way->finish($way->start('far_echo', { text => "hi $name" }))->{text},
        "hi $name", "$name: a call";
    like $way->finish($way->start('far_echo', { text => 5 }))->{text},
        qr{/text: expected string}, "$name: its schema holds";
    like $way->finish($way->start('far_hidden'))->{text} // '',
        qr/Unknown tool/, "$name: what is not listed is not there";
}
is scalar(grep { $_->[1]{params}{name} eq 'echo' }
    $server->told('tools/call')), 4, 'what did not fit was not asked';

my $result = $json->decode(<<'END');
{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},
            {"type":"resource_link","uri":"x:y","name":"y"},
            {"type":"text","text":"\u00e9","annotations":{"priority":1}}],
 "structuredContent":{"a":[1,2.50]},"isError":true,"_meta":{"a.b/c":1},
 "more":null}
END
is $json->encode($client->call_tool('far_result', { result => $result })
        ->{result}), $json->encode($result), 'a result is as it came';
my $modern = Toolgate::Way->new('modern', $tg->connect);
my $id = $modern->start('far_result', { result => $result });
my $reply = $modern->client->reply($id)->{result};
is delete $reply->{resultType}, 'complete', 'modern: it is complete';
ok delete $reply->{_meta}{'io.modelcontextprotocol/serverInfo'},
    'it says who answers';
is $json->encode($reply), $json->encode($result), 'the rest is as it came';

# A failure is an error in ipc, with the class of its server.
my ($ipc) = grep { $_->name eq 'ipc' } @ways;
for my $case ([ undef, 'IPCToolExecutionError' ], [ ('FileLockedError') x 2 ]) {
    my ($type, $wanted) = @$case;
    my $failed = {
        content => [ { type => 'text', text => 'in use' } ],
        isError => JSON::PP::true,
        $type ? (_meta => { 'toolgate/errorType' => $type }) : (),
    };
    is_deeply $ipc->call('far_result', { result => $failed })->{raw},
        { error => { message => 'in use', type => $wanted } },
        "ipc: a failure of a server's tool is a $wanted";
}

my $params = $json->decode(text_of($client->rpc('tools/call', {
    name      => 'far_params',
    arguments => { a => [ 1, '2' ] },
    _meta => { 'example.org/k' => { v => 1 }, progressToken => 'mine' },
})));
is $json->encode($params->{arguments}), '{"a":[1,"2"]}', 'arguments arrive';
is $json->encode($params->{_meta}{'example.org/k'}), '{"v":1}',
    'and so does _meta';
isnt $params->{_meta}{progressToken} // '', 'mine',
    'but for the token, which is between us and the client';

# Failures of the server itself.
like text_of($client->call_tool('far_result')), qr/result|answer/i,
    'no result is an error';
my $dead = text_of($client->call_tool('far_die'));
like $dead, qr/dying/, 'a server that ended has its last words told';
is text_of($client->call_tool('far_echo', { text => 'again' })), 'again',
    'the next call has it again';

# --- during other work ------------------------------------------------------

for my $way (grep { $_->name ne 'ipc' } @ways) {
    my $name = $way->name;
    my $token = $way->start('far_sleep', { s => '0.2', text => $name },
        $name eq 'relay' ? () : (_meta => { progressToken => "t-$name" }));
    if ($name ne 'relay') {
        my $told = $way->client->recv_where(
            sub { ($_[0]{method} // '') eq 'notifications/progress' },
            undef, 'progress');
        is $told->{params}{progressToken}, "t-$name", "$name: its progress";
        is $told->{params}{message}, 'asleep', "$name: in its words";
    }
    is $way->finish($token)->{text}, $name, "$name: then its end";
}

my $long = $client->request('tools/call',
    { name => 'far_sleep', arguments => { s => 600, text => 'long' } });
my $short = $client->request('tools/call',
    { name => 'far_sleep', arguments => { s => '0.3', text => 'short' } });
wait_for {
    grep { ($_->[1]{params}{arguments}{text} // '') eq 'short' }
        $server->told('tools/call')
} 'both to be asked';
$client->notify('notifications/cancelled', { requestId => $long });
is text_of($client->reply($short)), 'short', 'one of two calls continues';
wait_for { $server->told('notifications/cancelled') }
    'the server to be notified of the other';
my ($asked) = grep { ($_->[1]{params}{arguments}{text} // '') eq 'long' }
    $server->told('tools/call');
my ($cancelled) = $server->told('notifications/cancelled');
is $cancelled->[1]{params}{requestId}, $asked->[1]{id},
    'exactly that one was cancelled';

done_testing;
