#!/usr/bin/perl
# The clients of MCP's own SDK behind the bridge: a legacy one hears what all
# clients are told, a modern one is left in peace.

use Toolgate::Test qw(Node);

my $tg = Toolgate::Test->new;
my $body = 'tool_capability claude/channel; '
    . 'tool hi { description "Says hi."; return hi; } '
    . 'method tell { broadcast notifications/claude/channel; }';
$tg->conf($body)->start;
my %node = map {
    ($_ => Toolgate::Node->new($tg, $_, $tg->bridge_path, $tg->socket_path))
} qw(legacy modern);
is $node{$_}->event('ready')->{era}, $_, "$_: ready" for sort keys %node;
my $caller = $tg->connect;
$caller->rpc('ping');

for my $n (1, 2) {
    cmp_ok $caller->rpc('tell', { content => "no. $n", meta => { a => 1 } })
        ->{result}{clients}, '>=', 3, "broadcast $n";
    is_deeply $node{legacy}->event('told')->{told}{params},
        { content => "no. $n", meta => { a => 1 } }, 'the legacy client';
    $tg->reload;
}
for my $era (sort keys %node) {
    $node{$era}->tell(do => 'call', id => 1, name => 'hi');
    is text_of($node{$era}->event('result')), 'hi', "$era: a call";
    is $node{$era}->oops, '', "$era: no complaint";
    ok !(grep { $_->{event} eq 'told' } @{ $node{$era}{aside} }),
        "$era: nothing else";
    $node{$era}->leave;
}

done_testing;
