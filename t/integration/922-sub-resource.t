#!/usr/bin/perl
# A server may report the change of a part of a resource: each subscription to
# the part or to what contains it is notified, with its own URI, in both eras,
# directly and behind the bridge.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $updated = 'notifications/resources/updated';
my @uris = qw(n:///dir/ n:///di n:///dir/a n:///dir);

my $kinds = $tg->file('kinds', Toolgate::Client->encode({
    resources => [ map { { uri => $_, name => $_ } } @uris ],
}));
for my $era (qw(legacy modern)) {
    $tg->conf("mcp_server s { exec $^X $top/t/servers/mcp.pl $era "
            . "kinds=$kinds; }");
    $era eq 'legacy' ? $tg->start : $tg->reload;
    my $client = $tg->connect;
    wait_for { $client->tool_names =~ /s_announce/ } "the $era server";

    my @ways;
    for my $new (sub { $tg->connect }, sub { $tg->bridge }) {
        push @ways, map { Toolgate::Way->new($_, $new->()) } qw(legacy modern);
    }
    for my $way (@ways) {
        if ($way->name eq 'legacy') {
            $way->client->rpc('resources/subscribe', { uri => $_ }) for @uris;
            next;
        }
        $way->client->request('subscriptions/listen', $way->params({
            notifications => { resourceSubscriptions => \@uris } }));
        my $ack = $way->client->notification(
            'notifications/subscriptions/acknowledged');
        is_deeply [ sort @{ $ack->{params}{notifications}
                    {resourceSubscriptions} } ], [ sort @uris ], 'listening';
    }
    wait_for {
        $client->call_tool('s_subscribed')->{result}{content}[0]{text} eq
            join ' ', sort @uris
    } 'the subscriptions';
    for my $case (
        [ 'n:///dir/a/b?c' => 'n:///dir n:///dir/ n:///dir/a' ],
        [ 'n:///dir#x'     => 'n:///dir' ],
        [ 'n:///di'        => 'n:///di' ],
    ) {
        my ($uri, $expected) = @$case;
        $client->call_tool('s_announce', { uri => "${uri}z" })
            if $uri eq 'n:///di';
        $client->call_tool('s_announce', { uri => $uri });
        for my $way (@ways) {
            my $n = () = $expected =~ /n:/g;
            my @got = map {
                $way->client->notification($updated)->{params}{uri}
            } 1 .. $n;
            is join(' ', sort @got), $expected,
                "$era server: $uri for the $way->{way} client";
        }
    }
    for my $way (@ways) {
        $way->client->rpc('tools/call', $way->params({ name => 's_pid' }));
        is scalar(grep { $_->{method} eq $updated }
            @{ $way->client->{aside} // [] }), 0, 'and no more';
    }
    $_->client->stop for @ways[ 2, 3 ];
}

done_testing;
