#!/usr/bin/perl
# Prompts, resources and templates of NGINX through the bridge: as for a client
# without a bridge, in both eras, and over reloads.

use Toolgate::Test qw(Hang Way);

my $tg = Toolgate::Test->new(workers => 2);
my $hang = Toolgate::Hang->new($tg);
(my $handler = $hang->handler) =~ s/input_schema.*//;

sub body {
    my ($n) = @_;
    return <<"END";
tool_server_title       "The server";
tool_server_description "It serves.";
tool_server_website     https://example.com/;
tool_server_icon        https://example.com/i.png image/png 48x48;
tool_instructions       "Ask.";
tool t { description "T."; return $n; }
prompt greet {
    description "Greets.";
    argument    name required "who it is";
    icon        https://a.b/c.png image/png;
    message     user "Hello, \$tool_arg_name: $n.";
}
prompt fails { exec false; }
prompt hang { argument key required; $handler }
prompt p$n { return $n; }
resource note:///now { mime text/markdown; ttl 10s; return "now $n"; }
resource bytes:pixel { mime image/png; return abc; }
resource note:///$n { return $n; }
resource_template "note:///day/{day}" {
    name day; return "\$tool_arg_day of \$tool_uri"; }
END
}
$tg->conf(body(0))->start;
$tg->allow_log(qr/call of "fails" failed/);

# --- the same answers --------------------------------------------------

my @requests = (
    ['prompts/list'],
    [ 'prompts/list', { cursor => 'none' } ],
    [ 'prompts/get', { name => 'greet', arguments => { name => "\x{2603}" } } ],
    [ 'prompts/get', { name => 'greet' } ],
    [ 'prompts/get', { name => 'none' } ],
    [ 'prompts/get', { name => 'fails' } ],
    [ 'prompts/get', {} ],
    ['resources/list'],
    ['resources/templates/list'],
    [ 'resources/read', { uri => 'note:///now' } ],
    [ 'resources/read', { uri => 'bytes:pixel' } ],
    [ 'resources/read', { uri => 'note:///day/fri%20day' } ],
    [ 'resources/read', { uri => 'note:///none/' } ],
    [ 'resources/read', { uri => 7 } ],
    ['tools/list'],
    [ 'tools/call', { name => 't' } ],
    [ 'tools/call', { name => 'none' } ],
    ['skills/none'],
);
for my $era (qw(legacy modern)) {
    my %way = (
        direct => Toolgate::Way->new($era, $tg->connect),
        bridge => Toolgate::Way->new($era, $tg->bridge),
    );
    my %about = map {
        $_ => $way{$_}->client->rpc(
            $era eq 'modern' ? 'server/discover' : 'initialize',
            $way{$_}->params({ protocolVersion => '2025-11-25' }))
    } keys %way;
    is_deeply $about{bridge}, $about{direct}, "$era: what the server is"
        or diag explain \%about;
    my $json = Toolgate::Client->encode($about{bridge});
    like $json, qr{"websiteUrl":"https://example\.com/"},
        "$era: with its website";
    ok $about{bridge}{result}{capabilities}{$_}, "$era: it has $_"
        for qw(prompts resources);
    for my $request (@requests) {
        my ($method, $params) = @$request;
        my %reply = map {
            $_ => $way{$_}->client->rpc($method,
                $way{$_}->params($params // {}))
        } keys %way;
        delete $_->{id} for values %reply;
        my $what = Toolgate::Client->encode($params // {});
        is_deeply $reply{bridge}, $reply{direct}, "$era: $method $what"
            or diag explain \%reply;
    }
    $way{bridge}->client->stop;
}

# --- reloads --------------------------------------------------

my @changed = map {"notifications/$_/list_changed"} qw(prompts resources);
my (@agents, %sub);
for my $i (0 .. 5) {
    my $way = Toolgate::Way->new($i % 2 ? 'modern' : 'legacy', $tg->bridge);
    my $client = $way->client;
    push @agents, $way;
    if ($i % 2) {
        $client->request('subscriptions/listen', $way->params({
            notifications => {
                promptsListChanged   => \1,
                resourcesListChanged => \1
            } }));
        $client->notification('notifications/subscriptions/acknowledged');
    } else {
        $client->rpc('initialize', { protocolVersion => '2025-11-25' });
    }
    # The parent is there: its lists can be compared from now on.
    is names_of($way), 'greet fails hang p0', "agent $i: the prompts";
}

sub names_of {
    my ($way) = @_;
    my $reply = $way->client->rpc('prompts/list', $way->params({}));
    return join ' ', map { $_->{name} } @{ $reply->{result}{prompts} };
}

# Notifications are in order, so those of a reload come before the answer to a
# later request: none is missing, and none comes twice.
my @held = map {
    $agents[$_]->client->request('prompts/get', $agents[$_]->params(
        { name => 'hang', arguments => { key => "k$_" } }))
} 0 .. $#agents;
$hang->started("k$_") for 0 .. $#agents;
for my $n (1 .. 12) {
    my @ids = map { [ $_, $_->client->request('resources/read',
        $_->params({ uri => 'note:///now' })) ] } @agents;
    $tg->reload(body($n));
    push @ids, map { [ $_, $_->client->request('prompts/get',
        $_->params({ name => 'greet', arguments => { name => 'x' } })) ] }
        @agents;
    my $bad = 0;
    for (@ids) {
        my ($way, $id) = @$_;
        my $reply = $way->client->reply($id);
        $bad++ if Toolgate::Client->encode($reply) !~ /now \d+"|x: \d+\./;
    }
    is $bad, 0, "reload $n: all requests are answered";
    for my $way (@agents) {
        $way->client->notification($_) for @changed;
    }
    my @wrong = grep { names_of($_) ne "greet fails hang p$n" } @agents;
    is scalar(@wrong), 0, "reload $n: all agents are notified, and see it";
}
$hang->finish("k$_") for 0 .. $#agents;
for my $i (0 .. $#agents) {
    my $client = $agents[$i]->client;
    my $reply = $client->reply($held[$i]);
    like $reply->{result}{messages}[0]{content}{text}, qr/^done k$i$/,
        "agent $i: a prompt that ran over all reloads";
    my @left = grep { $_ ne 'notifications/tools/list_changed' }
        map { $_->{method} } splice @{ $client->{aside} };
    is "@left", '', 'no notification came twice';
    ok $client->is_silent(0), 'nor anything else';
    is $client->stderr, '', 'the bridge has not reconnected';
}

# A new server: the bridges notify of what their agents have listed.
$tg->stop;
$tg->conf(body('new'))->start;
for my $way (@agents) {
    $way->client->notification('notifications/prompts/list_changed');
    is names_of($way), 'greet fails hang pnew', 'a new server';
}
$_->client->stop for @agents;

done_testing;
