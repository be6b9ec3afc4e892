#!/usr/bin/perl
# The clients of MCP's own SDK, legacy and modern, start the bridge in front
# of a parent that the test plays: what Toolgate alone does not bring about.

use Toolgate::Test qw(Parent Node);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $tool = \&Toolgate::Parent::tool;
my $text = \&Toolgate::Parent::text_result;

for my $era (qw(legacy modern)) {
    my $node = Toolgate::Node->new($tg, $era, $tg->bridge_path,
        '--grace', 600, $tg->socket_path);
    my $conn = $parent->serve($tool->('one', title => 'One'));
    # The modern client starts one bridge to probe and another to use.
    $conn = $parent->serve($tool->('one', title => 'One'))
        if $era eq 'modern';
    my $ready = $node->event('ready');
    is $ready->{era}, $era, "$era: its era";
    is $ready->{server}{name}, 'parent', "$era: the server's name";
    like $ready->{instructions}, qr/please/, "$era: its instructions";

    $node->tell(do => 'list');
    is $node->event('tools')->{tools}[0]{title}, 'One', "$era: the list";

    $node->tell(do => 'call', id => 1, name => 'one', progress => 1);
    my $call = Toolgate::Parent::request($conn, 'tools/call');
    for my $n (1, 2) {
        $conn->notify('notifications/progress', {
            progressToken => $call->{params}{_meta}{progressToken},
            progress      => $n,
            total         => 2,
        });
        is $node->event('progress')->{progress}{progress}, $n,
            "$era: progress $n";
    }
    Toolgate::Parent::answer($conn, $call, $text->('done'));
    is text_of($node->event('result')), 'done', "$era: the result";

    $node->tell(do => 'call', id => 2, name => 'one');
    $call = Toolgate::Parent::request($conn, 'tools/call');
    $node->tell(do => 'cancel', id => 2);
    is $conn->notification('notifications/cancelled')->{params}{requestId},
        $call->{id}, "$era: a cancellation arrives";
    is $node->event('error')->{id}, 2, "$era: and the call is over";

    # The largest that the SDK's reader takes, and one that it would not.
    for my $case ([ 10_400_000, 'result' ], [ 10_450_000, 'error' ]) {
        my ($size, $event) = @$case;
        $node->tell(do => 'call', id => $size, name => 'one');
        $call = Toolgate::Parent::request($conn, 'tools/call');
        $conn->send_line(qq({"jsonrpc":"2.0","id":$call->{id},"result":)
            . '{"content":[{"type":"text","text":"' . 'x' x $size
            . '"}]}}');
        like $node->recv_line, qr/^\{"event":"$event","id":$size\b/,
            "$era: $size bytes are a $event";
    }

    # What the bridge does not take is answered, though the SDK puts the id
    # behind the arguments.
    $node->tell(do => 'call', id => 5, name => 'one', fill => 11_000_000);
    my $refused = $node->event('error');
    is $refused->{id}, 5, "$era: a call that is too large is answered";
    is $refused->{code}, -32600, "$era: as that";
    like $refused->{message}, qr/larger than the limit of 10493952 bytes/,
        "$era: with what is taken";

    # The parent is killed: what runs fails, the session goes on.
    $node->tell(do => 'call', id => 3, name => 'one');
    Toolgate::Parent::request($conn, 'tools/call');
    $conn->close;
    ok $node->event('result')->{result}{isError}, "$era: lost";
    $node->tell(do => 'call', id => 4, name => 'two');
    $conn = $parent->serve($tool->('one'), $tool->('two'));
    Toolgate::Parent::give($conn, 'tools/call', $text->('two'));
    is_deeply $node->event('changed')->{tools}, [qw(one two)],
        "$era: a new tool is seen";
    is text_of($node->event('result')), 'two', "$era: and called";

    $node->leave;
    ok wait_for(sub { !is_alive($ready->{pid}) }, 'the bridge to end'),
        "$era: no bridge stays";
    is $node->oops, '', "$era: no complaints";
    ok Toolgate::Parent::is_left($conn), "$era: the parent is left";
}

done_testing;
