#!/usr/bin/perl
# Agents behind bridges that are subscribed to a resource of an MCP server are
# notified of each change once, and once after each reload, during which NGINX
# may have missed a change; also after a restart of NGINX.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new(workers => 2);
my $top = Toolgate::Test::top();
my $kinds = $tg->file('kinds', Toolgate::Client->encode({
    resources => [ { uri => 'x:a', name => 'a' } ],
    contents  => { 'x:a' => [ { uri => 'x:a', text => 'A' } ] },
}));
my $updated = 'notifications/resources/updated';

sub body {
    my ($n) = @_;
    return "tool n$n { description N.; return $n; } "
        . "mcp_server s { exec $^X $top/t/servers/mcp.pl legacy "
        . "kinds=$kinds; }";
}
$tg->conf(body(0))->start;
my $client = $tg->connect;
wait_for { $client->tool_names =~ /s_announce/ } 'the server';

my @agents;
for my $i (0 .. 5) {
    my $way = Toolgate::Way->new($i % 2 ? 'modern' : 'legacy', $tg->bridge);
    push @agents, $way;
    if ($i % 2) {
        $way->client->request('subscriptions/listen', $way->params({
            notifications => { resourceSubscriptions => ['x:a'] } }));
        my $note = $way->client->notification(
            'notifications/subscriptions/acknowledged');
        is_deeply $note->{params}{notifications},
            { resourceSubscriptions => ['x:a'] }, "agent $i: acknowledged";
    } else {
        is_deeply $way->client->rpc('resources/subscribe', { uri => 'x:a' })
            ->{result}, {}, "agent $i: subscribed";
    }
}

# Lets the server report a change, and checks that all agents hear it once. The
# answer to a later request shows that nothing else has come.
sub change {
    my ($name) = @_;
    $client->call_tool('s_announce', { uri => 'x:a' });
    my @uris = map { $_->client->notification($updated)->{params}{uri} }
        @agents;
    is "@uris", 'x:a ' x 5 . 'x:a', "$name: all hear it";
    return quiet($name);
}

sub quiet {
    my ($name) = @_;
    my @more;
    for my $way (@agents) {
        $way->client->rpc('tools/call', $way->params({ name => 's_pid' }));
        push @more, grep { $_->{method} eq $updated }
            splice @{ $way->client->{aside} };
    }
    return is scalar(@more), 0, "$name: once";
}

change('at first');
for my $n (1 .. 6) {
    $tg->reload(body($n));
    ok $_->client->notification($updated), "reload $n: a change may be missed"
        for @agents;
    quiet("reload $n");
    change("reload $n");
}

# A new NGINX: what may have been missed is reported, by the bridge and perhaps
# by NGINX, whose MCP server is new, too.
$tg->stop;
$tg->start;
$_->client->notification($updated) for @agents;
$client = $tg->connect;
wait_for { $client->tool_names =~ /s_announce/ } 'the server';
wait_for {
    $client->call_tool('s_subscribed')->{result}{content}[0]{text} eq 'x:a'
} 'its subscription';
for my $way (@agents) {
    $way->client->rpc('tools/call', $way->params({ name => 's_pid' }));
    splice @{ $way->client->{aside} };
}
$client->call_tool('s_announce', { uri => 'x:a' });
ok $_->client->notification($updated), 'a change after that' for @agents;
$_->client->stop for @agents;

done_testing;
