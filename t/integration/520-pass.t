#!/usr/bin/perl
# `pass`: a backend of each dialect answers clients of each dialect. The
# backends are the parents of a bridge.

use strict;
use warnings;

use Toolgate::Test qw(Backend Parent Way);

my $tg = Toolgate::Test->new(workers => 1);
my @backends = Toolgate::Backend->all($tg);

sub block {
    my ($backend) = @_;
    my $name = $backend->protocol;
    return <<"END";
tool $name {
    description "Asks a backend that speaks $name.";
    input_schema '{"type":"object","properties":{"n":{"type":"integer"}}}';
    @{[ $backend->pass('name=there') ]}
    max_output 10k;
}
END
}
$tg->conf(join '', map { block($_) } @backends)->start;

for my $backend (@backends) {
    my $protocol = $backend->protocol;
    my $is_ipc = $protocol eq 'ipc';
    for my $way (Toolgate::Way->all($tg)) {
        my $name = "$protocol, " . $way->name;
        my $call = $way->start($protocol, { n => 1 });
        my $request = $backend->heard;
        is $request->{params}{name}, 'there', "$name: by the backend's name";
        is_deeply $request->{params}{arguments}, { n => 1 },
            "$name: the arguments";
        $backend->text($request, "o\"n\xe9");
        is $way->finish($call)->{text}, "o\"n\xe9", "$name: the result";

        $call = $way->start($protocol, {});
        my %error = $is_ipc ? (type => 'KeyError')
            : (code => -32000, data => { why => [1] });
        $backend->answer($backend->heard,
            error => { message => 'bad "luck"', %error });
        my $answer = $way->finish($call);
        is $answer->{text}, 'bad "luck"', "$name: what went wrong";
        ok $answer->{is_error}, "$name: as an error";
        if ($is_ipc && $way->name eq 'ipc') {
            is $answer->{type}, 'KeyError', "$name: of its class";
        } elsif (!$is_ipc && $way->name ne 'ipc') {
            is_deeply $answer->{raw}{error},
                { message => 'bad "luck"', %error }, "$name: as it was";
        }

        $call = $way->start($protocol, {});
        $backend->text($backend->heard, 'x' x 10_240);
        like $way->finish($call)->{text},
            qr/more than the maximum of 10240 .*max_output/,
            "$name: too much";

        ok $way->call($protocol, { n => 'x' })->{is_error},
            "$name: a schema is kept";
        $way->client->close;
    }
    ok !$backend->parent->is_called(0.05), "$protocol: one connection is kept";
}

# A result of any shape that is an object is passed on unchanged.
my $client = $tg->connect;
my ($backend) = grep { $_->protocol eq 'relay' } @backends;
my $id = $client->request('tools/call', { name => 'relay' });
my $result = {
    content => [
        { type => 'image', data => 'aGk=', mimeType => 'image/png' },
        { type => 'resource_link', uri => 'a:b', name => 'c', x => [ {} ] },
    ],
    structuredContent => { a => [ 1, undef, 2.5 ] },
    isError           => JSON::PP::false,
    _meta             => { 'x/y' => 'z' },
};
$backend->answer($backend->heard, result => $result);
is_deeply $client->reply($id)->{result}, $result, 'a whole result';
$id = $client->request('tools/call', { name => 'relay' });
$backend->answer($backend->heard, result => [1]);
like text_of($client->reply($id)), qr/is not a tool result/,
    'what is no object is none';

# In a batch it is nested one level deeper.
my $deep = '[' x 124 . ']' x 124;
my $old = $tg->connect;
$old->rpc('initialize',
    { protocolVersion => '2025-03-26', capabilities => {} });
for my $is_deep (0, 1) {
    $old->send_line('[{"jsonrpc":"2.0","id":"b","method":"tools/call",'
            . '"params":{"name":"relay","arguments":{}}}]');
    my $request = $backend->heard;
    my $content = $is_deep ? "[$deep]" : '[]';
    $backend->conn->send_line(
        qq({"kind":"mcp_response","id":$request->{id},"result":)
            . qq({"content":[{"type":"text","text":"ok"}],"d":[$content]}}));
    my ($reply) = @{ $old->recv_where(
        sub { ref $_[0] eq 'ARRAY' }, undef, 'a batch') };
    like text_of($reply), $is_deep ? qr/deeper than the 125/ : qr/^ok$/,
        $is_deep ? 'too deep for a batch' : 'not too deep';
}

# --- methods, and what becomes of results -----------------------------------

my ($plain) = grep { $_->protocol eq 'jsonrpc' } @backends;
my ($mcp) = grep { $_->protocol eq 'mcp' } @backends;
$tg->reload(<<"END");
method sum { @{[ $plain->pass ]} }
method renamed { @{[ $plain->pass('name=a.b') ]} output text; }
method of_tool { @{[ $mcp->pass('name=t') ]} }
method text_of_tool { @{[ $mcp->pass('name=t') ]} output text; }
method result_of_tool { @{[ $mcp->pass('name=t') ]} output result; }
tool of_method { @{[ $plain->pass('method=a.b') ]} description x; }
tool json { @{[ $mcp->pass('name="t"') ]} output json; description x; }
method now { return 1; }
END
wait_for { $client->rpc('now')->{result} } 'the new config';
# A client without MCP, whose params are objects.
$client = $tg->connect;
delete $_->{conn} for @backends;

sub asked {
    my ($backend, $called, $params, $method, %answer) = @_;
    my $id = $client->request($called, $params);
    my $request = $backend->heard($method);
    $backend->answer($request, %answer);
    return ($request, $client->reply($id));
}
my ($request, $reply) =
    asked($plain, 'sum', [ 1, 2 ], 'sum', result => [3]);
is_deeply $request->{params}, [ 1, 2 ], 'params of a method are as they were';
is_deeply $reply->{result}, [3], 'so is its result';
my $error = { code => 7, message => 'no "7"', data => { a => 1 } };
($request, $reply) = asked($plain, 'sum', {}, 'sum', error => $error);
is_deeply $reply->{error}, $error, 'and its error';
($request, $reply) = asked($plain, 'renamed', { x => 1 }, 'a.b',
    result => "t\"\n");
is $reply->{result}, "t\"\n", 'a text of a method with another name';
($request, $reply) =
    asked($plain, 'renamed', { x => 1 }, 'a.b', result => [1]);
is $reply->{result}, '[1]', 'JSON as a text';

($request, $reply) = asked($plain, 'tools/call',
    { name => 'of_method', arguments => { y => 2 } }, 'a.b',
    result => { z => 3 });
is_deeply $request->{params}, { y => 2 }, 'arguments of a tool are params';
is_deeply $reply->{result}{structuredContent}, { z => 3 },
    'and the result is structured';

# Progress is requested beside the arguments, or in the params of a method.
for my $id (qw(before behind)) {
    my $meta = '"_meta":{"progressToken":"mine"}';
    my ($before, $behind) = $id eq 'before' ? ("$meta,", '') : ('', ",$meta");
    $client->send_line(qq({"jsonrpc":"2.0","id":"$id","method":"tools/call",)
            . qq("params":{$before"name":"of_method","arguments":{"y":2})
            . "$behind}}");
    $request = $plain->heard('a.b');
    is_deeply $request->{params}, { y => 2 }, "$id: nothing comes among them";
    $plain->answer($request, result => { z => 4 });
    is_deeply $client->reply($id)->{result}{structuredContent}, { z => 4 },
        "$id: it is answered";
}
my $far =
    $client->request('sum', { a => 1, _meta => { progressToken => 'me' } });
$request = $plain->heard('sum');
isnt $request->{params}{_meta}{progressToken}, 'me', 'a token of its own';
is $request->{params}{a}, 1, 'the rest as it was';
$plain->progress($request, progress => 1);
is_deeply $client->notification('notifications/progress')->{params},
    { progressToken => 'me', progress => 1 }, 'how far a method is';
$plain->answer($request, result => 5);
is $client->reply($far)->{result}, 5, 'and its result';

my $told = Toolgate::Parent::text_result('{"a":5}');
for my $case (
    [ of_tool => { a => 5 } ], [ text_of_tool => '{"a":5}' ],
    [ result_of_tool => $told ])
{
    my ($method, $expected) = @$case;
    ($request, $reply) =
        asked($mcp, $method, { q => 1 }, undef, result => $told);
    is $request->{params}{name}, 't', "$method: it is a tool there";
    is_deeply $reply->{result}, $expected, "$method: its result";
    ($request, $reply) = asked($mcp, $method, {}, undef,
        result => { %$told, isError => JSON::PP::true });
    $method eq 'result_of_tool'
        ? ok($reply->{result}{isError}, "$method: its failure")
        : is($reply->{error}{message}, '{"a":5}', "$method: its failure");
}
($request, $reply) = asked($mcp, 'tools/call', { name => 'json' }, undef,
    result => { content => [], structuredContent => { s => 1 } });
is $request->{params}{name}, '"t"', 'any name';
is_deeply $reply->{result}{structuredContent}, { s => 1 }, 'what is structured';

done_testing;
