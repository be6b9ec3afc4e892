#!/usr/bin/perl
# The SDK's clients through twenty reloads, with calls in flight all the
# time: the bridge keeps its one connection, each call is answered once, and
# the agent is told of each new list.

use Toolgate::Test qw(Hang Move Node);

use constant RELOADS => 20;

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;

sub body {
    my ($n) = @_;
    return "tool n { description \"N.\"; return $n; } "
        . "tool of$n { description \"Of $n.\"; return $n; } "
        . "tool hang { description \"Hangs.\"; $handler }";
}

sub text { return $_[0]{result}{content}[0]{text} }

$tg->conf(body(0))->start;
my %node;
for my $era (qw(legacy modern)) {
    $node{$era} = Toolgate::Node->new($tg, $era, $tg->bridge_path,
        $tg->socket_path);
    $node{$era}{ready} = $node{$era}->event('ready');
    is $node{$era}{ready}{era}, $era, "$era: ready";
    $node{$era}->tell(do => 'call', id => 'first', name => 'n');
    is text($node{$era}->event('result')), 0, "$era: a call";
    $node{$era}{sockets} = sockets($node{$era}{ready}{pid});
    like $node{$era}{sockets}, qr/socket:/, "$era: a connection";
    # It runs on through all of them.
    $node{$era}->tell(do => 'call', id => 'long', name => 'hang',
        arguments => { key => "$era-long" });
    $hang->started("$era-long");
}
for my $n (1 .. RELOADS) {
    # One that is in flight during this reload.
    for my $era (sort keys %node) {
        $node{$era}->tell(do => 'call', id => "in $n", name => 'hang',
            arguments => { key => "$era-$n" });
        $hang->started("$era-$n");
    }
    move($tg, body($n));
    for my $era (sort keys %node) {
        my $node = $node{$era};
        ok $node->recv_where(
            sub {
                my ($event) = @_;
                return $event->{event} eq 'changed'
                    && "@{ $event->{tools} }" eq "n of$n hang";
            },
            60,
            "list $n"),
            "$era: told of list $n";
        $hang->finish("$era-$n");
        my $result = $node->event('result');
        is $result->{id}, "in $n", "$era: the call in flight";
        is text($result), "done $era-$n\n", "$era: its answer";
        $node->tell(do => 'call', id => "after $n", name => "of$n");
        is text($node->event('result')), $n, "$era: the new tool";
    }
}
for my $era (sort keys %node) {
    my $node = $node{$era};
    is sockets($node->{ready}{pid}), $node->{sockets},
        "$era: the same connection";
    $hang->finish("$era-long");
    is text($node->event('result')), "done $era-long\n", "$era: the long call";
    $node->leave;
    is $node->oops, '', "$era: no complaints";
}

done_testing;
