#!/usr/bin/perl
# Results are validated by output_schema: an invalid one is the tool's error in
# each dialect, not the caller's.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $schema = '{"type":"object","properties":{"n":{"type":"integer"}},'
    . '"required":["n"]}';
$tg->file('output.json', $schema);
my $input = 'input_schema \'{"type":"object","properties":'
    . '{"value":{},"wrong":{}},"required":["value"]}\';';
my $result = '{"content":[{"type":"text","text":"t"}]';

$tg->conf(<<"END");
tool json   { $input output json; output_schema '$schema';
              return \$tool_json_value; }
tool filed  { $input output json; output_schema_file output.json;
              return \$tool_json_value; }
tool run    { $input output json; output_schema '$schema';
              exec cat; stdin \$tool_json_value; }
tool result { $input output result; output_schema '$schema';
              return '$result,"structuredContent":\$tool_json_value}'; }
tool bare   { output result; output_schema '$schema';
              return '$result}'; }
tool no     { output result; output_schema '$schema';
              return '$result,"structuredContent":{},"isError":true}'; }
tool dies   { output json; output_schema '$schema'; exec false; }
method json { $input output_schema '$schema'; return \$tool_json_value; }
method run  { $input output_schema_file output.json; exec cat;
              stdin \$tool_json_value; }
method list { output_schema '{"type":"array","items":{"type":"integer"}}';
              return \$tool_arguments; }
END
$tg->start;

my @ways = Toolgate::Way->all($tg);
my %kind = (
    legacy => 'result',
    modern => 'result',
    relay  => 'result',
    ipc    => 'ValueError',
);
my @wrong = (
    [ { n => 'x' }, qr{of the tool\. /n: expected integer, got string$} ],
    [ { n => 1.5 }, qr{of the tool\. /n: expected integer, got 1\.5$} ],
    [ {},           qr{error of the tool\. /n: .*(?:required|missing)} ],
    [ [ 1, 2 ], qr{of the tool\. \(root\): expected object, got array$} ],
    [ undef, qr{of the tool\. \(root\): expected object, got null$} ],
);

for my $way (@ways) {
    my $name = $way->name;
    for my $tool (qw(json filed run)) {
        my $answer = $way->call($tool, { value => { n => 7 } });
        is $answer->{text}, '{"n":7}', "$tool: fits, $name";
        ok !$answer->{is_error}, "$tool: no error, $name";
        is_deeply $answer->{result}{structuredContent},
            $name eq 'ipc' ? undef : { n => 7 }, "$tool: structured, $name";

        for my $case (@wrong) {
            my ($value, $pattern) = @$case;
            $answer = $way->call($tool, { value => $value });
            is Toolgate::Way::kind($answer), $kind{$name}, "$tool: $name";
            like $answer->{text},
                qr/^The result of \Q$tool\E does not match its output schema; /,
                "$tool: whose mistake it is, $name";
            like $answer->{text}, $pattern, "$tool: what is wrong, $name";
            ok !exists $answer->{result}{structuredContent},
                "$tool: the wrong value is not passed on, $name"
                if $answer->{result};
        }
    }

    # A whole result: the schema is for its structuredContent.
    is $way->call('result', { value => { n => 7 } })->{text}, 't',
        "result: fits, $name";
    my $answer = $way->call('result', { value => {} });
    is Toolgate::Way::kind($answer), $kind{$name}, "result: $name";
    like $answer->{text}, qr{error of the tool\. /n: },
        "result: what is wrong, $name";
    $answer = $way->call('bare');
    is Toolgate::Way::kind($answer), $kind{$name}, "nothing structured, $name";
    like $answer->{text}, qr/structuredContent/, "and that is said, $name";

    # A failure need not match the schema.
    $answer = $way->call('no');
    ok $answer->{is_error}, "a refusal, $name";
    is $answer->{text}, 't', "is passed on as it is, $name";
    $answer = $way->call('dies');
    like $answer->{text}, qr/^dies exited with status 1/,
        "nor one that fails, $name";

    # Arguments are validated first: that error is the caller's.
    $answer = $way->call('json');
    like $answer->{text}, qr{^/value: }, "the caller's mistake, $name";
}

# Methods: -32603, because the params are valid.
my $c = $tg->connect;
is_deeply $c->rpc($_, { value => { n => 7 } })->{result}, { n => 7 },
    "$_ fits, method"
    for qw(json run);
for my $method (qw(json run)) {
    my $error = $c->rpc($method, { value => { n => 'x' } })->{error};
    is $error->{code}, -32603, "$method: a method's mistake";
    like $error->{message}, $wrong[0][1], "$method: what is wrong";
    is $c->rpc($method, {})->{error}{code}, -32602, "$method: a caller's";
}
is_deeply $c->rpc('list', [ 1, 2 ])->{result}, [ 1, 2 ], 'a list fits';
like $c->rpc('list', [ 1, 'a' ])->{error}{message},
    qr{error of the tool\. /1: expected integer, got string$},
    'a list does not';

# Agents see the schema.
my ($listed) = grep { $_->{name} eq 'filed' }
    @{ $ways[0]->client->rpc('tools/list')->{result}{tools} };
is_deeply $listed->{outputSchema}, Toolgate::Client->decode($schema),
    'the schema is shown';

done_testing;
