#!/usr/bin/perl
# `pass` uses another server of an upstream only if nothing of a call was sent:
# not if it was read, nor if a part may have been.

use Toolgate::Test qw(Backend Parent);

my $tg = Toolgate::Test->new(workers => 1);
$tg->allow_log(qr/its connection with \d+ calls? in/, qr/no connection to/,
    qr/handshake failed/);
my $dir = $tg->dir;
my (%first, %second, $upstreams, $tools);

# Returns a tool with two servers of its own. (A server that was missing is
# skipped for a while, so a test needs new ones.)
sub tool {
    my ($name, $protocol) = @_;
    $first{$name} = Toolgate::Backend->new($protocol, "$dir/1-$name");
    $second{$name} = Toolgate::Backend->new($protocol, "$dir/2-$name");
    $upstreams .= <<"END";
upstream of_$name {
    server unix:$dir/1-$name max_fails=0;
    server unix:$dir/2-$name backup;
}
END
    $tools .= "tool $name { description x; timeout 600s; "
        . "pass of_$name protocol=$protocol; }\n";
}
tool($_, $_) for @Toolgate::Backend::ALL;
tool('shaken', 'mcp');
$tg->conf($tools, stream => $upstreams)->start;
my $client = $tg->connect;

sub start {
    my ($protocol, %arguments) = @_;
    return $client->request('tools/call',
        { name => $protocol, arguments => \%arguments });
}

sub is_lost {
    my ($protocol, $id, $what) = @_;
    like text_of($client->reply($id)),
        qr/^$protocol: the connection .* may have been executed/,
        "$protocol: $what is not known to be undone";
    ok !$second{$protocol}->parent->is_called(0), 'no other backend is called';
}

for my $protocol (@Toolgate::Backend::ALL) {
    my ($first, $second) = ($first{$protocol}, $second{$protocol});

    my $id = start($protocol);
    $first->accept;
    $first->heard->{conn}->close;
    is_lost($protocol, $id, 'what was read');

    # A part of it was sent, the rest waits for room.
    $id = start($protocol, text => 'x' x 800_000);
    my $conn = $first->accept;
    wait_for {
        $conn->fill(time + 1);
        length $conn->buffered > 1000;
    }
    'a part';
    cmp_ok length $conn->buffered, '<', 800_000, "$protocol: a part came";
    $conn->close;
    is_lost($protocol, $id, 'what was sent in part');

    # Nobody listens: nothing of it was sent.
    $first->parent->close;
    $id = start($protocol);
    $second->accept;
    $second->text($second->heard, 'second');
    is text_of($client->reply($id)), 'second',
        "$protocol: what was not sent goes to another";
}

# Nor before a handshake that fails.
my $id = start('shaken');
my $conn = $first{shaken}->parent->accept;
Toolgate::Parent::refuse($conn, Toolgate::Parent::request($conn, $_), -32601,
    'no')
    for qw(server/discover initialize);
$second{shaken}->text($second{shaken}->heard, 'second');
is text_of($client->reply($id)), 'second', 'whose handshake fails had nothing';

done_testing;
