#!/usr/bin/perl
# The bridge passes the agent's level of log messages on, in its era, and from
# any parent only the messages that the agent wants.

use Toolgate::Test qw(Parent Way);

my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $LEVEL = 'io.modelcontextprotocol/logLevel';
my @ALL = qw(debug info notice warning error critical alert emergency);
my ($agent, $client, $conn);

sub meta { return @_ ? (_meta => { $LEVEL => $_[0] }) : () }

# Returns the levels of the log messages before the reply to a request.
sub levels_until {
    my ($id) = @_;
    my @got;
    while (1) {
        my $m = $client->recv_json;
        return "@got" if ($m->{id} // '') eq $id;
        push @got, $m->{params}{level}
            if ($m->{method} // '') eq 'notifications/message';
    }
}

# --- a parent that sends everything ---

my $parent = Toolgate::Parent->new($tg->socket_path);
my $tool = Toolgate::Parent::tool('one');

sub serve {
    $conn = $parent->serve_as({ capabilities =>
        { tools => {}, prompts => {}, logging => {} } }, $tool);
    return;
}

sub begin {
    my ($way) = @_;
    my $bridge = $tg->bridge;
    serve();
    $agent = Toolgate::Way->new($way, $bridge);
    $client = $bridge;
    return;
}

sub request { return Toolgate::Parent::request($conn, @_) }
sub answer { return Toolgate::Parent::answer($conn, @_) }

# The parent logs at each level, and at what is none.
sub logs {
    $conn->notify('notifications/message', $_)
        for { data => 1 }, { level => 'loud', data => 2 },
        { level => 3, data => 3 }, map { +{ level => $_, data => $_ } } @ALL;
    $conn->notify('notifications/message');
    my $id = $agent->ask('x/end', $agent->params({}));
    answer(request('x/end'), {});
    return levels_until($id);
}

sub from {
    my ($level) = @_;
    return join(' ', @ALL) =~ s/.*?\b(?=$level)//r;
}

sub set_level {
    my ($level) = @_;
    my $id = $client->request('logging/setLevel', { level => $level });
    my $asked = request('logging/setLevel');
    is_deeply $asked->{params}, { level => $level }, "the parent hears $level";
    answer($asked, {});
    return $client->reply($id);
}

begin('legacy');
is logs(), from('info'), 'legacy: before setLevel, from info on';
for my $level (@ALL) {
    set_level($level);
    is logs(), from($level), "legacy: from $level on";
}
set_level('warning');
my $id = $client->request('logging/setLevel', { level => 'debug' });
my $asked = request('logging/setLevel');
is logs(), from('warning'), 'until the parent has answered';
Toolgate::Parent::refuse($conn, $asked, -32603, 'no');
ok $client->reply($id)->{error}, 'which refuses it';
is logs(), from('warning'), 'a refused level changes nothing';
$conn->close;
serve();
is_deeply request('logging/setLevel')->{params}, { level => 'warning' },
    'the next parent hears the level';
is logs(), from('warning'), 'which is still the same';
$client->stop;

begin('modern');
is logs(), '', 'modern: nothing without a request';
for my $method ('tools/call', 'prompts/get') {
    my %about = (name => 'one');
    $id = $agent->ask($method, $agent->params({%about}));
    $asked = request($method);
    ok !exists(($asked->{params}{_meta} // {})->{$LEVEL}), "$method: no level";
    is logs(), '', 'and no messages';
    answer($asked, Toolgate::Parent::text_result('x'));
    $client->reply($id);

    $id = $agent->ask($method, $agent->params({ %about, meta('error') }));
    $asked = request($method);
    is $asked->{params}{_meta}{$LEVEL}, 'error', "$method: the parent hears it";
    is logs(), from('error'), 'from its level on';

    # On stdio a message does not say which request it is about.
    my $other = $agent->ask($method, $agent->params({ %about, meta('alert') }));
    my $second = request($method);
    is $second->{params}{_meta}{$LEVEL}, 'alert', 'another has another level';
    is logs(), from('error'), 'the lowest level of both';
    answer($asked, Toolgate::Parent::text_result('x'));
    $client->reply($id);
    is logs(), from('alert'), 'of the one that is left';
    answer($second, Toolgate::Parent::text_result('x'));
    $client->reply($other);
    is logs(), '', 'after the answer nothing';
}
$client->request('subscriptions/listen', $agent->params({ meta('debug'),
    notifications => { toolsListChanged => \1 } }));
$client->notification('notifications/subscriptions/acknowledged');
is logs(), '', 'a subscription gets no log messages';
is $client->rpc('tools/call', $agent->params({ name => 'one', meta('loud') }))
    ->{error}{code}, -32602, 'an unknown level';
$client->stop;
$parent->close;
$conn->close;

# --- Toolgate in front of MCP servers ---

$tg->conf(join "\n", map {
    "mcp_server $_ { exec $^X $top/t/servers/mcp.pl $_ logs; }"
} qw(legacy modern))->start;
my $watching = $tg->connect;
wait_for { 2 == (() = $watching->tool_names =~ /_log\b/g) } 'the tools of both';

sub logged {
    my ($server, @level) = @_;
    my $id = $agent->start("${server}_log",
        { messages => [ map { +{ level => $_, data => $_ } } @ALL ] },
        meta(@level));
    return levels_until($id);
}

$agent = Toolgate::Way->new('legacy', $client = $tg->bridge);
is logged($_), from('info'), "$_: before setLevel" for qw(legacy modern);
$client->rpc('logging/setLevel', { level => 'debug' });
is logged($_), from('debug'), "$_: debug" for qw(legacy modern);
$client->rpc('logging/setLevel', { level => 'error' });
is logged($_), from('error'), "$_: error" for qw(legacy modern);
is $client->rpc('logging/setLevel', { level => 'loud' })->{error}{code}, -32602,
    'an unknown level';
is logged($_), from('error'), "$_: error still" for qw(legacy modern);
$client->stop;

$agent = Toolgate::Way->new('modern', $client = $tg->bridge);
for my $server (qw(legacy modern)) {
    is logged($server), '', "$server: no level";
    is logged($server, $_), from($_), "$server: $_" for qw(debug warning);
    is logged($server), '', "$server: of that request only";
}
$client->stop;

done_testing;
