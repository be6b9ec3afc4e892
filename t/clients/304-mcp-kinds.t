#!/usr/bin/perl
# Prompts, resources, templates and completion of real MCP servers, from npm:
# what clients get through Toolgate is what the servers answer directly.

use Toolgate::Test qw(Node);

use IPC::Open2 qw(open2);

Toolgate::Node::install();
my $tg = Toolgate::Test->new(workers => 2);
my $json = 'Toolgate::Client';
my $bin = Toolgate::Test::top() . '/t/clients/node_modules/.bin';
my $dir = $tg->dir . '/notes';
mkdir $dir or die "$dir: $!\n";
$tg->file('notes/todo', "buy milk\n");
my %command = (
    every  => ["$bin/mcp-server-everything"],
    files  => [ "$bin/mcp-server-filesystem", $dir ],
    memory => [ 'env', "MEMORY_FILE_PATH=$dir/graph.json",
        "$bin/mcp-server-memory" ],
);

# --- a server without Toolgate

my ($out, $in);
my $pid = open2($out, $in, @{ $command{every} });
$in->autoflush;
my $last = 0;

sub direct {
    my ($method, $params) = @_;
    print {$in} $json->encode({ jsonrpc => '2.0', id => ++$last,
        method => $method, params => $params // {} }) . "\n";
    while (defined(my $line = <$out>)) {
        my $message = $json->decode($line);
        next if defined $message->{method};
        return $message if $message->{id} == $last;
    }
    die "the server has ended\n";
}

my $hello = direct(initialize => { protocolVersion => '2025-11-25',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });
print {$in} $json->encode({ jsonrpc => '2.0',
    method => 'notifications/initialized' }) . "\n";

# --- the same through Toolgate

$tg->conf(join '', map {
    "mcp_server $_ { exec @{ $command{$_} }; }\n" } sort keys %command)->start;
my $client = $tg->connect;
$client->rpc(initialize => { protocolVersion => '2025-11-25',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });
$client->notify('notifications/initialized');

sub through {
    my ($method, $params) = @_;
    return $client->rpc($method, $params // {});
}

# The list through Toolgate, by what the server calls each item.
sub listed {
    my ($method, $member, $key) = @_;
    return map { (my $name = $_->{$key}) =~ s/^every_//; ($name =>
        { %$_, $key => $name }) } @{ through($method)->{result}{$member} };
}

my @lists = (
    [ 'prompts/list', 'prompts', 'name' ],
    [ 'resources/list', 'resources', 'uri' ],
    [ 'resources/templates/list', 'resourceTemplates', 'uriTemplate' ],
);
wait_for { my %got = listed(@{ $lists[0] }); scalar keys %got } 'the prompts';

my %item;
for my $list (@lists) {
    my ($method, $member, $key) = @$list;
    my %got = listed(@$list);
    delete $got{'memory://knowledge-graph'};
    my $expected = direct($method)->{result}{$member};
    cmp_ok scalar @$expected, '>', 0, "$method: the server has some";
    is_deeply \%got, { map { $_->{$key} => $_ } @$expected },
        'Toolgate lists them';
    $item{$member} = $expected;
}

# Times and the like differ from one answer to the next.
sub stable {
    my ($answer) = @_;
    my $text = $json->encode($answer->{result} // $answer->{error});
    $text =~ s/\d+:\d\d:\d\d(?:\s?[AP]M)?/TIME/g;
    return $text;
}

for my $prompt (@{ $item{prompts} }) {
    my %arguments = map { $_->{name} =>
        $_->{name} =~ /id$/i ? '1' : $_->{name} =~ /type/i ? 'Text' : 'x' }
        @{ $prompt->{arguments} // [] };
    my $params = { name => $prompt->{name}, arguments => \%arguments };
    is stable(through('prompts/get', { %$params,
        name => "every_$prompt->{name}" })),
        stable(direct('prompts/get', $params)), "the prompt $prompt->{name}";
}

my @uris = map { $_->{uri} } @{ $item{resources} };
for my $template (@{ $item{resourceTemplates} }) {
    (my $uri = $template->{uriTemplate}) =~ s/\{.*?\}/1/g;
    push @uris, $uri;
}
for my $uri (@uris) {
    is stable(through('resources/read', { uri => $uri })),
        stable(direct('resources/read', { uri => $uri })), "the URI $uri";
}
is stable(through('resources/read', { uri => 'every+no:such' })),
    stable(direct('resources/read', { uri => 'no:such' })),
    'an error of a named server';
is through('resources/read', { uri => 'no:such' })->{error}{code}, -32002,
    'a URI that no server lists, while two have resources';
my $graph = through('resources/read', { uri => 'memory://knowledge-graph' });
is_deeply $json->decode($graph->{result}{contents}[0]{text}),
    { entities => [], relations => [] }, 'the resource of the memory server';
is text_of($client->call_tool('files_read_text_file',
    { path => "$dir/todo" })), "buy milk\n", 'a server with tools only';

for my $prompt (@{ $item{prompts} }) {
    for my $argument (@{ $prompt->{arguments} // [] }) {
        my %params = (argument => { name => $argument->{name}, value => '' });
        is stable(through('completion/complete', { %params, ref =>
            { type => 'ref/prompt', name => "every_$prompt->{name}" } })),
            stable(direct('completion/complete', { %params, ref =>
            { type => 'ref/prompt', name => $prompt->{name} } })),
            "completion of $argument->{name} of $prompt->{name}";
    }
}
for my $template (@{ $item{resourceTemplates} }) {
    my $params = { ref => { type => 'ref/resource',
        uri => $template->{uriTemplate} },
        argument => { name => 'resourceId', value => '1' } };
    is stable(through('completion/complete', $params)),
        stable(direct('completion/complete', $params)),
        "completion of $template->{uriTemplate}";
}

close $in;
waitpid $pid, 0;
done_testing;
