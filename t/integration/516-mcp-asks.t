#!/usr/bin/perl
# A modern MCP server requests input first: a modern client gets the request
# unchanged, and its answer arrives; other clients get an error.

use Toolgate::Test qw(Listed Way);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 1);
my $far = Toolgate::Listed->new($tg, 'far', 'modern');
$far->list($far->tool('input', outputSchema => { type => 'object' }), 'params');
$tg->conf('mcp_server far { exec ' . $far->command . '; }')->start;
my @ways = Toolgate::Way->all($tg);
my ($modern) = grep { $_->name eq 'modern' } @ways;
wait_for { $modern->list =~ /far_params/ } 'the list';
is scalar($far->told('initialize')), 0, 'the server was spoken to in its era';

sub ask {
    my (%more) = @_;
    my $id = $modern->start('far_input', { a => 1 }, %more);
    return $modern->client->reply($id)->{result};
}
my $caps = { elicitation => { form => {} }, extensions => { x => {} } };
my $asked = ask(_meta =>
    { 'io.modelcontextprotocol/clientCapabilities' => $caps });
is $asked->{resultType}, 'input_required', 'the question is passed on';
is $json->encode($asked->{inputRequests}),
    $json->encode($json->decode(<<'END')), 'as it is';
{"name":{"method":"elicitation/create","params":{"message":"Who?"}}}
END
is $asked->{requestState}, 'opaque "state"', 'with its state';
my ($call) = $far->told('tools/call');
is $json->encode($call->[1]{params}{_meta}
        {'io.modelcontextprotocol/clientCapabilities'}{elicitation}),
    '{"form":{}}', 'the server knows what the client can be asked';

my $answer = { name => { action => 'accept', content => { n => 'Ann' } } };
my $result = ask(
    inputResponses => $answer,
    requestState   => $asked->{requestState});
is $result->{resultType}, 'complete', 'answered, it is done';
is_deeply
    [ @{ $result->{structuredContent} }{qw(inputResponses requestState)} ],
    [ $answer, 'opaque "state"' ],
    'the answer arrived, and the state byte for byte';

for my $way (grep { $_ != $modern } @ways) {
    my $got = $way->finish($way->start('far_input'));
    like $got->{text}, qr/input from its user .* 2026-07-28/,
        $way->name . ': an error reports the request';
}

done_testing;
