#!/usr/bin/perl
# `clients` lists the server's clients, in any worker: dialect, process, name,
# connection time and calls; only authorized clients see it.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $listen = 'tool_runner ' . $tg->runner_path . '; tool_state_dir %%STATE%%;';
my $body = <<'END';
    method toolgate.clients { clients; }
    tool who { description "Lists who is connected."; clients; }
    method pid { return $pid; }
    method hold { exec sleep 3600; timeout 2h; }
    tool hi { description "Says hi."; return hi; }
END
$tg->conf("server { listen unix:%%SOCKET%%; "
    . "$listen $body } server { listen unix:%%DIR%%/other.sock; $listen "
    . 'method toolgate.clients { clients; deny all; } '
    . 'tool who { description "Who."; clients; } }', server => 0)->start;

my $asks = $tg->connect;
my $result;
wait_for {
    # The start's check may just be closing.
    $result = $asks->rpc('toolgate.clients')->{result};
    return $result->{count} == 1;
}
'one client';
my $own = $result->{clients}[0];
is_deeply [ sort keys %$own ],
    [qw(calls dialect pid since told uid worker)], 'the members of a client';
is $own->{dialect}, 'jsonrpc', 'its dialect';
is $own->{pid}, $$, 'its process';
is $own->{uid}, $>, 'its user';
like $own->{since}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'since when';
is $own->{worker}, $asks->rpc('pid')->{result}, 'its worker';

my $legacy = $tg->connect;
$legacy->rpc('initialize', { protocolVersion => '2025-06-18',
    clientInfo => { name => qq(cod"ex \x{263a}), version => '1' } });
my $modern = $tg->connect;
$modern->rpc('tools/list', { _meta => {
    'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities' => {},
    'io.modelcontextprotocol/clientInfo'         => { name => 'new' },
} });
my $relay = $tg->connect;
$relay->send_line({ kind => 'mcp_request', id => 1, method => 'tools/list' });
$relay->recv_json;
my $ipc = $tg->connect;
$ipc->ipc_call('hi');
my $mute = $tg->connect;
my $long = $tg->connect;
$long->rpc('initialize', { protocolVersion => '2025-06-18',
    clientInfo => { name => 'n' x 129 } });
my @ids = map { $legacy->request('hold') } 1 .. 2;
# They are answered last, so that the calls are running.
$legacy->rpc('pid');

# Returns all members except since and worker, which differ.
sub seen {
    my ($client) = @_;
    $result = $client->rpc('toolgate.clients')->{result};
    is $result->{count}, @{ $result->{clients} }, 'they are counted';
    return [ sort map {
        join ' ', $_->{dialect}, $_->{name} // '-', $_->{calls},
            $_->{told} ? 'told' : 'not told'
    } @{ $result->{clients} } ];
}

my @all = (
    'auto - 0 not told',
    'ipc - 0 not told',
    'jsonrpc - 0 told',
    'jsonrpc - 0 told',
    qq(jsonrpc cod"ex \x{263a} 2 told),
    'jsonrpc new 0 not told',
    'relay - 0 told',
);
# Another worker may not have seen silent clients yet.
wait_for { $asks->rpc('toolgate.clients')->{result}{count} == @all }
    'all to be there';
is_deeply seen($asks), \@all, 'all of them';
my %since = map { $_->{since} => 1 } @{ $result->{clients} };
is text_of($asks->call_tool('who')) =~ /"count":(\d+)/ && $1, 7,
    'as a tool, too';

# After a reload they are equal, in other workers.
my %old = map { $_ => 1 } $tg->worker_pids(all => 1);
$tg->reload;
my @wrong;
wait_for {
    my $seen = seen($asks);
    push @wrong, $seen if "@$seen" ne "@all";
    return !grep { !$_->{worker} || $old{ $_->{worker} } }
        @{ $result->{clients} };
} 'all to be in new workers';
is_deeply \@wrong, [], 'all clients are listed while they move';
is_deeply { map { $_->{since} => 1 } @{ $result->{clients} } }, \%since,
    'since when they were';

# They close.
$legacy->notify('notifications/cancelled', { requestId => $_ }) for @ids;
wait_for {
    grep {/^jsonrpc cod"ex \x{263a} 0 told/} @{ seen($asks) }
} 'no call in flight';
$_->close for $legacy, $relay, $mute;
wait_for { @{ seen($asks) } == 4 } 'three to be gone';

# Others are rejected; and another server's clients are not listed.
my $other = $tg->connect($tg->dir . '/other.sock');
is $other->rpc('toolgate.clients')->{error}{code}, -32601, 'denied';
like text_of($other->call_tool('who')), qr/^\{"count":1,/, 'its own clients';

done_testing;
