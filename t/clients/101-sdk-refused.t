#!/usr/bin/perl
# A client of MCP's SDK in front of a bridge that its runner refuses, displaces
# or leaves: connect() settles, and what the runner said is the reason.

use Toolgate::Test qw(Parent Node);

Toolgate::Node::install();
my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $script = Toolgate::Test::top() . '/t/clients/connect.mjs';
my @eras = qw(legacy modern);

# What the client says, line by line, until it ends.
sub client {
    my ($era) = @_;
    my $client = $tg->spawn({}, 'node', $script, $era, $tg->bridge_path,
        '--dialect', 'relay', $sock);
    return $client;
}

sub failed {
    my ($client) = @_;
    my $said = $client->recv_where(sub { $_[0]{event} =~ /failed|tools/ },
        undef, 'the end');
    return $said->{message} // 'no failure';
}

# --- a runner that the test plays ---

for my $case (
    [ 'error', '{"kind":"error","message":"one is enough"}', 'one is enough' ],
    [
        'shutdown', '{"kind":"shutdown","reason":"another bridge came"}',
        'another bridge came'
    ],
    [ 'gone', undef, 'The runner has closed' ])
{
    my ($name, $frame, $why) = @$case;
    for my $era (@eras) {
        my $runner = Toolgate::Parent->new($sock);
        my $client = client($era);
        # Each bridge that connects, as a modern client starts two.
        my $text;
        while (!defined $text) {
            my $conn = eval { $runner->accept(0.2) };
            if ($conn) {
                # One that only probed may have gone by now.
                eval { $conn->send_line($frame) } if defined $frame;
                $conn->close;
            }
            $client->fill(time + 0.2);
            $text = failed($client) if $client->buffered =~ /failed|tools/;
        }
        like $text, qr/\Q$why\E/, "$name, $era: connect() says why";
        is $client->wait_exit, 0, "$name, $era: the client ends";
        $runner->close;
    }
}

# --- Toolgate, which has a bridge ---

for my $protocol ('', 'tool_protocol relay;') {
    $tg->conf("$protocol tool_relay_bridges reject; "
            . 'tool hi { description "Says hi."; return hi; }')->start;
    my $first = $tg->connect;
    $first->send_line({ kind => 'mcp_request', id => 1,
        method => 'tools/list', params => {} });
    is $first->recv_json->{kind}, 'mcp_response', "the first one $protocol";
    for my $era (@eras) {
        my $client = client($era);
        like failed($client), qr/another bridge is connected/,
            "rejected ($protocol), $era: the client is told why";
        is $client->wait_exit, 0, 'it ends';
    }
    $first->close;
    $tg->stop;
}

done_testing;
