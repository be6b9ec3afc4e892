#!/usr/bin/perl
# Tools of MCP servers that clients cannot read are repaired or omitted, and the
# log and the status say so. Others do not change.

use Toolgate::Test qw(Listed OddTools Status);

my $tg = Toolgate::Test->new(workers => 2);
my $json = 'Toolgate::Client';
my $far = Toolgate::Listed->new($tg, 'far');
my $fine = $json->decode(<<'END');
{"name":"fine","title":"Fine","x":null,"inputSchema":{"type":"object",
 "properties":{"a":{"default":null,"items":true}},"required":["b"]},
 "outputSchema":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},
 "$defs":{"n":{"type":"number","pattern":"^a\\.b$"}}}}
END
$far->list(Toolgate::OddTools->all, $fine, $far->tool('set_tools'),
    $far->tool('tasks', execution => { taskSupport => 'required' }),
    $far->tool('hidden', title => 5),
    $far->tool('union', inputSchema => { type => 'object', anyOf => [ {} ] }),
    $far->tool('given', inputSchema => 5), 'last');
$tg->conf(<<"END")->start;
tool_status_allow all;
mcp_server far {
    exec @{[ $far->command ]};
    hide hidden;
    tool given { input_schema '{"type":"object","x":1}'; }
}
tool mine { return ours; }
END
my $meta = modern_meta();
my $client = $tg->connect;

sub listed {
    my ($params) = @_;
    my $reply = $client->rpc('tools/list', $params);
    return { map { $_->{name} => $_ } @{ $reply->{result}{tools} } };
}
wait_for { listed()->{far_last} } 'the list';
my ($old, $new) = (listed(), listed({ _meta => $meta }));

# --- the repaired tools -----------------------------------------------------

is $json->encode($old->{far_fine}),
    $json->encode({ %$fine, name => 'far_fine' }), 'what is right stays';
my $object = { type => 'object' };
my $none = { type => 'object', properties => {} };
my %input = (
    none => $none, inputschema_1 => $none, inputschema_2 => $none,
    inputschema_4 => $none, inputschema_5 => $none, inputschema_8 => $none,
    inputschema_10 => $none, inputschema_11 => $object,
    inputschema_12 => $object, inputschema_13 => $object,
    inputschema_14 =>
        { type => 'object', properties => { a => {}, b => { not => {} } } },
    map({ ("inputschema_$_" =>
            { type => 'object', properties => { a => {} } }) } 15, 16, 17),
    inputschema_18 => $object,
    inputschema_19 => { %$object, required => ['x'] },
    inputschema_20 => { %$object, required => [] },
    inputschema_21 => { %$object, required => [] },
    inputschema_22 => { %$object, required => ['nowhere'] },
    inputschema_23 => $object,
    inputschema_24 => { type => 'object', properties =>
        { a => { properties => {}, items => {} } } },
    given => { type => 'object', x => 1 },
);
is $json->encode($old->{"far_$_"}{inputSchema}), $json->encode($input{$_}),
    "$_: its inputSchema" for sort keys %input;
ok !$old->{"far_$_"}, "$_ is left out"
    for qw(inputschema_3 inputschema_6 inputschema_7 tasks hidden);
ok $old->{"far_$_->{name}"}, "$_->{name} is there" for
    Toolgate::OddTools->all(qw(title description icons annotations execution
        _meta outputSchema));
ok !exists $old->{"far_$_"}, "$_: without a wrong member"
    for grep { my $tool = $old->{$_}; grep { !defined } values %$tool }
    keys %$old;

for my $tool (values %$old) {
    my $schema = $tool->{outputSchema};
    ok !$schema || $schema->{type} eq 'object',
        "$tool->{name}: an outputSchema of an object for an older client";
}
is_deeply $new->{far_outputschema_7}{outputSchema}, { type => 'array' },
    'any for a newer one';
is_deeply $new->{far_outputschema_2}{outputSchema}, {}, 'true is {}';
is_deeply $new->{far_outputschema_9}{outputSchema},
    { type => 'object', properties => {} }, '[] is {}';
ok !exists $new->{"far_outputschema_$_"}{outputSchema},
    'what no schema is has gone for both' for 1, 3, 5, 13, 14, 15;

# --- calls ------------------------------------------------------------------

is text_of($client->call_tool('far_inputschema_10', { q => 1 })), '?',
    'a repaired tool is called';
like text_of($client->call_tool('far_inputschema_19')), qr/"x"|required/,
    'and its schema holds';
like text_of($client->call_tool('far_tasks')), qr/Unknown tool/,
    'one that is left out is not there';

# --- log and status ---------------------------------------------------------

for my $pattern (
    qr/tool "inputschema_10" .* is listed with repairs: .*empty array/,
    qr/tool "annotations_5" .* repairs: .* of its "annotations"/,
    qr/omitted: its "inputSchema" does not .* tool "inputschema_3"/,
    qr/omitted: it can only be called as an MCP task .* the tool "tasks"/,
    qr/tool "union" of mcp_server "far" has "anyOf" at the root/,
) {
    # The first worker logs, which may not be this client's.
    ok $tg->wait_log($pattern), 'the log says so';
}
unlike $tg->log, qr/"hidden"/, 'nothing is said of what is hidden';
is scalar(() = $tg->log =~ /tool "none" of mcp_server "far" is listed/g), 1,
    'and once, whatever the number of workers';
my ($far_status) = grep { $_->{name} eq 'far' }
    @{ Toolgate::Status->new($client)->look->server->{mcp_servers} };
my %why = map { $_->{tool} => $_->{why} } @{ $far_status->{repaired} };
like $why{inputschema_10}, qr/empty array/, 'the status has what is repaired';
ok !exists $why{fine} && !exists $why{hidden}, 'and nothing else';
is join(' ', map { $_->{tool} } @{ $far_status->{left_out} }),
    'inputschema_3 inputschema_6 inputschema_7 tasks', 'what is left out';
my ($rc, $out);
# Another worker may answer, which reads the list later.
wait_for { ($rc, $out) = $tg->cli('status'); $out =~ /^REPAIRED/m }
    'a worker that has the list';
like $out, qr/^NOT LISTED .*^tasks +far +it can only be called as/ms,
    'the command line has both';
like $out, qr/^REPAIRED .*^none +far +it has no "inputSchema"/ms, 'in tables';

# --- another list -----------------------------------------------------------

$client->call_tool('far_set_tools',
    { tools => [ $far->tool('set_tools'), $far->tool('now', icons => 1) ] });
wait_for { listed()->{far_now} } 'the next list';
($far_status) = grep { $_->{name} eq 'far' }
    @{ Toolgate::Status->new($client)->look->server->{mcp_servers} };
is_deeply [ map { $_->{tool} } @{ $far_status->{repaired} } ], ['now'],
    'what is said is of the list that is known';
ok !exists $far_status->{left_out}, 'nothing is left out';
$tg->stop;

# --- tools of the config ----------------------------------------------------

my $own = Toolgate::Test->new;
my $schema = '{"type":"object","properties":{"a":true,"b":{"items":false}}}';
my $body = <<"END";
tool bare { description x; return 1; }
tool odd { description x; input_schema '$schema'; output_schema '$schema';
           output json; return '{}'; }
tool union { description x; return 1;
    input_schema '{"type":"object","properties":{"a":{}},"oneOf":[{}]}'; }
END
my ($code, $said) = $own->test_conf($body);
is $code, 0, 'a config with such tools loads';
like $said, qr/warn.*"input_schema" is changed before it is listed.*true/,
    'with a warning about what clients do not read';
like $said, qr/warn.*"output_schema" is changed before it is listed/,
    'of both schemas';
like $said, qr/warn.*"input_schema" has "oneOf" at its root, which Anthropic/,
    'and about what an API does not take';
($code, $said) = $own->test_conf(
    q(tool a { description x; annotations '{"title":5}'; return 1; }));
like $said, qr/"annotations" must have a string for title/,
    'what an author can mend at once is a mistake';
$own->conf($body)->start;
my ($bare, $odd) = @{ $own->connect->rpc('tools/list')->{result}{tools} };
is_deeply $bare->{inputSchema}, $none, 'a tool without a schema has properties';
is_deeply $odd->{inputSchema}{properties},
    { a => {}, b => { items => $json->decode('false') } }, 'true is {}';
is_deeply $odd->{outputSchema}{properties}{a}, {}, 'in both schemas';

done_testing;
