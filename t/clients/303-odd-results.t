#!/usr/bin/perl
# Clients of MCP's own SDK, of both eras, read results that they would refuse
# if they came from their servers as they are.  Of a parent that is not
# Toolgate, the bridge sees to it.

use Toolgate::Test qw(Listed Node OddResults Parent);

Toolgate::Node::install();

my $tg = Toolgate::Test->new;
my $far = Toolgate::Listed->new($tg, 'far')->list('result');
$tg->conf("mcp_server far { exec @{[ $far->command ]}; }")->start;
my $client = $tg->connect;
wait_for {
    grep { $_->{name} eq 'far_result' }
        @{ $client->rpc('tools/list')->{result}{tools} }
} 'the list';

my @odd = Toolgate::OddResults->all;

# What the client makes of each; $answer is given its result.
sub check {
    my ($what, $node, $tool, $answer) = @_;
    for my $odd (@odd) {
        my ($name, $raw, $text, %more) = @$odd;
        my $result = Toolgate::Client->decode($raw);
        my $id = $node->ask($tool, arguments => { result => $result });
        $answer->($result) if $answer;
        my $got = $node->answer($id);
        is $got->{message}, undef, "$what, $name: its SDK takes the result";
        is $got->{result}{content}[0]{text}, $text, "$what, $name: its text";
    }
    return;
}

for my $era (qw(legacy modern)) {
    my $node = Toolgate::Node->new($tg, $era, $tg->bridge_path,
        $tg->socket_path);
    $node->event('ready');
    check("mcp_server, $era", $node, 'far_result');
}

# The modern client starts one bridge to probe and another to use.
for my $era (qw(legacy modern)) {
    my $path = $tg->dir . "/$era.sock";
    my $parent = Toolgate::Parent->new($path);
    my $node = Toolgate::Node->new($tg, $era, $tg->bridge_path, $path);
    my @conns = map { $parent->serve({ name => 'result' }) }
        $era eq 'modern' ? (1, 2) : 1;
    $node->event('ready');
    check("another parent, $era", $node, 'result', sub {
        Toolgate::Parent::give($conns[-1], 'tools/call', $_[0]);
    });
}

done_testing;
