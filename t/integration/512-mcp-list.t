#!/usr/bin/perl
# Which tools of an MCP server are offered, by which names, and what a block
# overrides; clients are notified of changes, while calls run.

use Toolgate::Test qw(Listed Way);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;

sub tools {
    my ($client) = @_;
    return @{ $client->rpc('tools/list')->{result}{tools} };
}
sub names { return join ' ', map { $_->{name} } tools(@_) }

# --- selection and overrides ------------------------------------------------

my $long = 'l' x 70;
my $far = Toolgate::Listed->new($tg, 'far');
my $near = Toolgate::Listed->new($tg, 'near');
$far->list(
    $far->tool('read_file', description => 'Theirs.', title => 'Theirs'),
    'read_list', 'write_file', 'ns:do/it.now', $long,
    $far->tool('old', inputSchema => {
        '$schema'   => 'http://json-schema.org/draft-07/schema#',
        type        => 'object',
        properties  => { n => { '$ref' => '#/definitions/n', minimum => 9 } },
        definitions => { n => { type => 'number' } },
    }),
    $far->tool('older', inputSchema => {
        '$schema'  => 'http://json-schema.org/draft-03/schema#',
        type       => 'object',
        properties => { n => { type => 'number' } },
    }),
    { name => 'broken' }, { name => 'odd', inputSchema => { type => 'array' } },
    $far->tool('worse', description => 5), $far->tool('read_list'),
    'params');
$near->list(qw(echo params mine other));
my $body = <<"END";
mcp_server far {
    exec @{[ $far->command ]};
    hide write_* far_nothing*;
    tool read_file {
        title        "Ours";
        description  "Reads \\"it\\".";
        annotations  '{"readOnlyHint":true}';
        input_schema '{"type":"object","properties":{"path":{"type":"string",
                       "pattern":"^/srv/"}},"required":["path"]}';
    }
    tool far_read_list { title "By the other name"; icon https://a.b/c any;
                         meta anthropic/alwaysLoad true; }
    tool not_there { title x; }
}
tool mine { return ours; }
mcp_server near { exec @{[ $near->command ]}; prefix "";
                  tools echo mine oth?r; }
END
$tg->conf($body, workers => 1)->start;
my $client = $tg->connect;
my $hashed;
wait_for {
    my $names = names($client);
    ($hashed) = $names =~ /(far_l+_\w{8})\b/;
    return $names eq 'far_read_file far_read_list far_ns_do_it_now '
        . ($hashed // '') . ' far_old far_older far_broken far_worse far_params'
        . ' mine echo other';
} 'what is chosen, in the order of the config';
is length $hashed, 64, 'a long name is as long as agents take';
my %tool = map { $_->{name} => $_ } tools($client);
is $json->encode($tool{far_read_file}), $json->encode($json->decode(<<'END')),
{"name":"far_read_file","title":"Ours","description":"Reads \"it\".",
 "annotations":{"readOnlyHint":true},
 "inputSchema":{"type":"object","properties":{"path":{"type":"string",
 "pattern":"^/srv/"}},"required":["path"]}}
END
    'what the block says stands in the place of what its server says';
is $tool{far_read_list}{title}, 'By the other name',
    'a block may have the name that clients see';
is_deeply $tool{far_read_list}{icons},
    [ { src => 'https://a.b/c', sizes => ['any'] } ], 'and an icon';
is_deeply $tool{far_read_list}{_meta},
    { 'anthropic/alwaysLoad' => $json->decode('true') }, 'and _meta';
like text_of($client->call_tool('far_read_file', { path => '/etc' })),
    qr{/path: must match}, 'the narrower schema is checked';
is text_of($client->call_tool('mine')), 'ours', 'the tool of the config stays';
my $told = $json->decode(text_of($client->call_tool('far_params')));
is $told->{name}, 'params', 'a server receives its own names';
$client->call_tool('far_ns_do_it_now');
is(($far->told('tools/call'))[-1][1]{params}{name}, 'ns:do/it.now',
    'whatever is in them');
for my $pattern (
    qr/tool "broken" of mcp_server "far" is listed .* no "inputSchema"/,
    qr/element 9 .* "far" is omitted: its "inputSchema" .*tool "odd"/,
    qr/tool "worse" .* its "description" is not a string and is omitted/,
    qr/"hide far_nothing\*" of mcp_server "far" matches none of its tools/,
    qr/"tool not_there" of mcp_server "far" matches none of its tools/,
    qr/tool "mine" of mcp_server "near" would be named "mine", which the/,
) {
    like $tg->log, $pattern, 'the log says so';
}
$tg->wait_log(
    qr{1 tool of mcp_server "far" is listed, .*far_older: inputSchema: /\$});
like text_of($client->call_tool('far_old', { n => 'x' })),
    qr{^/n: expected number}, 'a schema of an older draft is checked';
unlike text_of($client->call_tool('far_old', { n => 1 })),
    qr{^/n: }, 'as that draft has it';
like $json->encode($tool{far_old}{inputSchema}), qr/draft-07.*minimum/,
    'and reported unchanged';
unlike text_of($client->call_tool('far_older', { n => 'x' })),
    qr{^/n: }, 'what cannot be checked is not';
$tg->stop;

# --- changes ----------------------------------------------------------------

my $calls = Toolgate::Test->new(workers => 2);
my $far2 = Toolgate::Listed->new($calls, 'far');
my @base = qw(sleep set_tools echo hidden);
$far2->list(@base);
$calls->conf(<<"END")->start;
mcp_server far { exec @{[ $far2->command ]}; hide hidden*;
                 tool deny { deny all; } }
tool mine { return 1; }
END
my @ways = map { Toolgate::Way->new($_, $calls->connect) } qw(legacy relay);
my $modern = $calls->connect;
wait_for { names($modern) eq 'far_sleep far_set_tools far_echo mine' }
    'the first list';
for my $way (@ways) {
    wait_for { $way->list =~ /far_echo/ } 'a list';
    $way->client->{aside} = [];
}
$modern->send_line({
    jsonrpc => '2.0', id => 'sub', method => 'subscriptions/listen',
    params => {
        notifications => { toolsListChanged => \1 },
        _meta => modern_meta(),
    },
});
is $modern->recv_json->{method}, 'notifications/subscriptions/acknowledged',
    'a modern client listens';

# A call of each kind runs during all changes.
my @running =
    map { $_->start('far_sleep', { s => 3, text => 'through' }) } @ways;
my $asker = $calls->connect;
my $load = $calls->connect;

sub set_tools {
    my @tools = map { $far2->tool($_) } @_;
    my $asked = $far2->told('tools/list');
    my $text =
        text_of($asker->call_tool('far_set_tools', { tools => \@tools }));
    wait_for { $far2->told('tools/list') > $asked } 'the list to be asked for';
    return $text;
}

for my $round (1 .. 8) {
    $load->request('tools/call', { name => 'far_echo',
        arguments => { text => "$round" } }) for 1 .. 20;
    is set_tools(@base, map {"new_$_"} 1 .. $round), 'set', "change $round";
    for my $client ((map { $_->client } @ways), $modern) {
        my $told = $client->recv_where(
            sub { ($_[0]{method} // '') =~ /list_changed/ }, undef, 'a word');
        is $told->{method}, 'notifications/tools/list_changed',
            'the client is notified';
    }
    wait_for { names($load) =~ /\bfar_new_$round\b/ } 'the new tool';
    $load->recv_where(sub { text_of($_[0]) eq $round }, undef, 'an answer')
        for 1 .. 20;
}
is set_tools(@base, 'hidden_too', map {"new_$_"} 1 .. 8), 'set',
    'what is hidden comes';
is set_tools(@base, 'deny', map {"new_$_"} 1 .. 8), 'set',
    'and what these clients may not see';
is text_of($asker->call_tool('far_echo', { text => 'x' })), 'x', 'calls go on';
is $ways[$_]->finish($running[$_])->{text}, 'through',
    $ways[$_]->name . ': a call ends as if nothing had been' for 0, 1;
for my $client ($modern, map { $_->client } @ways) {
    ok($client->is_silent(0.3), 'nobody was told of what is not for them')
        or diag(Toolgate::Client->encode($client->{aside}));
}
is set_tools('set_tools'), 'set', 'most of them go';
wait_for { names($asker) eq 'far_set_tools mine' } 'they to be gone';
like $asker->call_tool('far_echo')->{error}{message}, qr/Unknown tool/,
    'what is gone cannot be called';

done_testing;
