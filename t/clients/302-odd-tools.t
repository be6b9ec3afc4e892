#!/usr/bin/perl
# Clients of MCP's own SDK, of both eras, read the list of a server whose
# tools are odd in all ways that they would refuse: every tool of every other
# server stays.  Of a parent that is not Toolgate, the bridge sees to it.

use Toolgate::Test qw(Node OddTools Listed Parent);

Toolgate::Node::install();

my $tg = Toolgate::Test->new;
my $far = Toolgate::Listed->new($tg, 'far');
$far->list(Toolgate::OddTools->all, 'last');
$tg->conf(<<"END")->start;
tool good { return 1; }
mcp_server far { exec @{[ $far->command ]}; }
END
my $client = $tg->connect;
wait_for {
    grep { $_->{name} eq 'far_last' }
        @{ $client->rpc('tools/list')->{result}{tools} }
} 'the list';

sub check {
    my ($node, $what) = @_;
    $node->tell(do => 'list');
    my $tools = $node->event('tools')->{tools};
    ok scalar(grep { $_->{name} eq 'good' } @$tools),
        "$what: its SDK takes the list";
    cmp_ok scalar(@$tools), '>', 60, 'with most of the tools';
}

for my $era (qw(legacy modern)) {
    my $node = Toolgate::Node->new($tg, $era, $tg->bridge_path,
        $tg->socket_path);
    $node->event('ready');
    check($node, "mcp_server, $era");
}

# The modern client starts one bridge to probe and another to use.
my @tools = ({ name => 'good' }, Toolgate::OddTools->all);
for my $era (qw(legacy modern)) {
    my $path = $tg->dir . "/$era.sock";
    my $parent = Toolgate::Parent->new($path);
    my $node = Toolgate::Node->new($tg, $era, $tg->bridge_path, $path);
    my @conns = map { $parent->serve(@tools) } $era eq 'modern' ? (1, 2) : 1;
    $node->event('ready');
    check($node, "another parent, $era");
}

done_testing;
