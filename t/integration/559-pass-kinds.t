#!/usr/bin/perl
# `pass` in prompts, resources and templates: the backend gets MCP's own
# requests, or a call of a tool in the other protocols.

use Toolgate::Test qw(Backend);

my $tg = Toolgate::Test->new(workers => 1);
my %backend = map { $_->protocol => $_ } Toolgate::Backend->all($tg);
my $dir = $tg->dir;
my $body = join '', map {
    my $pass = $backend{$_}->pass;
    my $there = $backend{$_}->pass('name=there');
    <<"END";
prompt $_ { argument a; $pass }
prompt ${_}_named { $there }
resource $_:x { mime text/plain; $pass }
resource_template "$_:t/{a}" { $pass }
END
} qw(mcp jsonrpc ipc relay);
$tg->conf($body)->start;
my $json = 'Toolgate::Client';
my %meta = (modern => modern_meta(), legacy => undef);

sub start {
    my ($client, $era, $method, %params) = @_;
    $params{_meta} = { %{ $meta{$era} }, 'a.b/c' => 1 } if $meta{$era};
    return $client->request($method, \%params);
}

my $messages = { description => 'd', messages => [ { role => 'assistant',
    content => { type => 'text', text => "\x{e9}" } } ], _meta => { k => 1 } };
my $contents = { contents => [ { uri => 'ui://x', text => 't',
    _meta => { ui => [ 1.5 ] } } ] };

for my $protocol (qw(mcp jsonrpc)) {
    my $backend = $backend{$protocol};
    for my $era (qw(modern legacy)) {
        my $name = "$protocol, $era";
        my $c = $tg->connect;
        my $id = start($c, $era, 'prompts/get', name => $protocol,
            arguments => { a => 'b' });
        my $request = $backend->heard('prompts/get');
        is_deeply [ @{ $request->{params} }{qw(name arguments)} ],
            [ $protocol, { a => 'b' } ], "$name: a prompt";
        is $request->{params}{_meta}{'a.b/c'}, $era eq 'modern' ? 1 : undef,
            'with _meta';
        $backend->answer($request, result => $messages);
        my $result = $c->reply($id)->{result};
        is_deeply $result->{messages}, $messages->{messages}, 'its messages';
        is $result->{_meta}{k}, 1, 'its _meta';

        $id = start($c, $era, 'prompts/get', name => "${protocol}_named");
        $request = $backend->heard('prompts/get');
        is $request->{params}{name}, 'there', 'by another name';
        my $error = { code => -32050, message => 'no', data => { x => [1] } };
        $backend->answer($request, error => $error);
        is_deeply $c->reply($id)->{error}, $error, 'a whole error';

        for my $uri ("$protocol:x", "$protocol:t/a%20b") {
            $id = start($c, $era, 'resources/read', uri => $uri);
            $request = $backend->heard('resources/read');
            is $request->{params}{uri}, $uri, "the URI $uri";
            $backend->answer($request, result => $contents);
            is_deeply $c->reply($id)->{result}{contents},
                $contents->{contents}, 'its contents';
        }

        $id = start($c, $era, 'resources/read', uri => "$protocol:x");
        $backend->answer($backend->heard('resources/read'), result => []);
        is $c->reply($id)->{error}{code}, -32603, 'what is no result';
        $c->close;
    }
}

# The other protocols only have tools, whose texts are the content.
for my $protocol (qw(ipc relay)) {
    my $backend = $backend{$protocol};
    my $c = $tg->connect;
    my $id = start($c, 'legacy', 'prompts/get', name => $protocol,
        arguments => { a => 'b' });
    my $request = $backend->heard;
    $backend->text($request, 'said');
    is_deeply $c->reply($id)->{result}{messages}, [ { role => 'user',
        content => { type => 'text', text => 'said' } } ],
        "$protocol: a tool's text as a prompt";
    $id = start($c, 'legacy', 'resources/read', uri => "$protocol:x");
    $backend->text($backend->heard, 'read');
    is_deeply $c->reply($id)->{result}{contents}, [ { uri => "$protocol:x",
        mimeType => 'text/plain', text => 'read' } ], 'and as a resource';
    $c->close;
}

conf_fails($tg, "prompt p { output text; @{[ $backend{mcp}->pass ]} }",
    qr/answers with a whole result of MCP/, 'another output');

done_testing;
