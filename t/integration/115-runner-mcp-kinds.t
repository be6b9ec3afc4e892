#!/usr/bin/perl
# Prompts, resources and templates of an MCP server that the runner starts:
# lists, requests of any method, and their errors, in both eras.

use Toolgate::Test qw(Runner McpServer);

my $tg = Toolgate::Test->new;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;
my $kinds = $tg->dir . '/kinds.json';
my %lists = (
    prompts => [ { name => 'review', arguments => [ { name => 'commit' } ] } ],
    resources => [ { uri => 'x:a', name => 'a', _meta => { 'k/v' => 1 } } ],
    resourceTemplates => [ { uriTemplate => 'x:{y}', name => 't' } ],
);
my %file = (%lists, contents => { 'x:a' => [ { uri => 'x:a', text => 'A' } ] },
    capabilities => { extensions => { 'a/b' => {} } });

sub lay_down {
    open my $fh, '>', "$kinds.new" or die "$kinds: $!";
    print {$fh} $c->encode(\%file);
    close $fh or die "$kinds: $!";
    rename "$kinds.new", $kinds or die "$kinds: $!";
}

# Waits for lists with a prompt of this name.
sub lists_with {
    my ($key, $prompt) = @_;
    return $c->recv_where(
        sub {
            my ($m) = @_;
            return ($m->{method} // '') eq 'mcp_list'
                && $m->{params}{key} eq $key
                && grep { $_->{name} eq $prompt } @{ $m->{params}{prompts} };
        },
        undef,
        "the prompt $prompt"
    )->{params};
}

sub method {
    my ($key, $method, $params, %more) = @_;
    return $c->reply($c->request('mcp_call', { tool => $method, key => $key,
        method => $method, arguments => $params, %more }))->{result};
}

for my $era (qw(legacy modern)) {
    $file{prompts} = $lists{prompts};
    lay_down();
    my ($key) = watch($c, exec => stand_in($era, "kinds=$kinds"));
    my $got = lists_with($key, 'review');
    is_deeply { map { $_ => $got->{$_} } keys %lists }, \%lists,
        "$era: the lists, as the server has them";
    is_deeply $got->{capabilities}{extensions}, { 'a/b' => {} },
        'with its capabilities';
    my $stored = $tg->state_dir . "/mcp/$key.json";
    wait_for { -e $stored } 'the lists to be stored';
    delete $got->{key};
    is_deeply $c->decode(slurp($stored)), $got, 'all are stored';

    my $result = method($key, 'prompts/get',
        { name => 'review', arguments => { commit => 'HEAD' } },
        meta => { 'x/trace' => 7, progressToken => 'mine' });
    is $result->{result}{description}, 'It is filled in.', 'a prompt';
    my $sent = $c->decode($result->{result}{messages}[0]{content}{text});
    is_deeply $sent->{arguments}, { commit => 'HEAD' }, 'with its arguments';
    is $sent->{_meta}{'x/trace'}, 7, 'and the _meta of the client';
    isnt $sent->{_meta}{progressToken}, 'mine', 'but not its token';

    is_deeply method($key, 'resources/read', { uri => 'x:a' })
        ->{result}{contents}, $file{contents}{'x:a'}, 'a resource';
    $result = method($key, 'resources/read', { uri => 'x:b' });
    is $result->{failure}, 'program', 'an error of the server';
    is $result->{code}, $era eq 'modern' ? -32602 : -32002, 'has its code';
    is_deeply $result->{data}, { uri => 'x:b', why => 'gone' }, 'and data';
    is method($key, 'completion/complete', { ref => { type => 'ref/prompt',
        name => 'review' }, argument => { name => 'commit', value => 'H' } })
        ->{result}{completion}{values}[1], 'H', 'a completion';
    is method($key, 'no/such', {})->{code}, -32601, 'an unknown method';
    is method($key, 'resources/read', { uri => 'x:a' }, max_output => 20)
        ->{failure}, 'output', 'a result above max_output';

    $file{prompts} = [ { name => 'again' } ];
    lay_down();
    call($c, $key, 'announce', arguments => { kind => 'prompts' });
    $got = lists_with($key, 'again');
    is_deeply $got->{resources}, $lists{resources}, 'a changed list';
}

# Subscriptions of two workers to resources.
my $d = $runner->connect;

sub updated {
    my ($client, $key, $uri) = @_;
    return $client->recv_where(
        sub {
            my ($m) = @_;
            return ($m->{method} // '') eq 'mcp_updated'
                && $m->{params}{key} eq $key
                && $m->{params}{uri} eq $uri;
        },
        undef,
        "the change of $uri"
    )->{params};
}

sub announce {
    my ($key, $uri) = @_;
    return text_of_call($c->reply(
        call($c, $key, 'announce', arguments => { uri => $uri })));
}

sub wait_subscribed {
    my ($key, $uris) = @_;
    wait_for {
        text_of_call($c->reply(call($c, $key, 'subscribed'))) eq $uris
    } "the subscriptions '$uris'";
}

for my $era (qw(legacy modern)) {
    my $log = $tg->dir . "/subscribed-$era";
    my ($key) = watch($c, exec => stand_in($era, "kinds=$kinds", "log=$log"));
    my $state = state_of($c, $key, 'ready');
    wait_subscribed($key, '');

    # What a call returns is what a subscription before it compares with.
    my %together = (
        mcp_subscribe => { key => $key, uri => 'x:c' },
        mcp_call => { key => $key, tool => 'subscribed', name => 'subscribed' },
    );
    $d->send_raw(join '', map {
        $c->encode({ jsonrpc => '2.0', id => "$era $_", method => $_,
            params => $together{$_} }) . "\n"
    } reverse sort keys %together);
    is text_of_call($d->reply("$era mcp_call")), 'x:c',
        "$era: the server is subscribed to before the next call";
    $d->rpc('mcp_unsubscribe', { key => $key, uri => 'x:c' });
    wait_subscribed($key, '');

    for my $client ($c, $d, $c) {
        is_deeply $client->rpc('mcp_subscribe', { key => $key, uri => 'x:a' })
            ->{result}, JSON::PP::true, "$era: a subscription";
    }
    $c->rpc('mcp_subscribe', { key => $key, uri => 'x:"b' });
    wait_subscribed($key, 'x:"b x:a');
    announce($key, 'x:a');
    is_deeply updated($_, $key, 'x:a'), { key => $key, uri => 'x:a' },
        'both workers get a change' for $c, $d;
    announce($key, 'x:"b');
    updated($c, $key, 'x:"b');

    # The server forgets them when it ends.
    $c->reply(call($c, $key, 'die'));
    updated($_, $key, 'x:a') for $c, $d;
    wait_subscribed($key, 'x:"b x:a');
    announce($key, 'x:a');
    updated($d, $key, 'x:a');

    $c->rpc('mcp_unsubscribe', { key => $key, uri => $_ }) for 'x:a', 'x:"b';
    wait_subscribed($key, 'x:a');
    $d->close;
    wait_subscribed($key, '');
    $d = $runner->connect;
    my @sent = grep {m{resources/(?:un)?subscribe"}} lines_of($log);
    is @sent, $era eq 'legacy' ? 8 : 0, 'each is sent once';
}

for my $wrong ({}, { key => 'x' x 16, uri => 'x:a' },
    { key => 'x' x 16 }, { uri => 'x' x 3000 }) {
    is $c->rpc('mcp_subscribe', $wrong)->{error}{code}, -32602,
        'a wrong subscription';
}

# A list that fails leaves the others.
$file{results} = { 'prompts/list' => { prompts => 7 } };
lay_down();
my ($key) = watch($c, exec => stand_in("kinds=$kinds"));
my $got = $c->recv_where(sub { ($_[0]{method} // '') eq 'mcp_list'
    && $_[0]{params}{key} eq $key }, undef, 'a list')->{params};
ok !exists $got->{prompts}, 'a list that is invalid is unknown';
is_deeply $got->{resources}, $lists{resources}, 'the others are there';
like $runner->log, qr/it cannot list its prompts: The server's list of prompts/,
    'which the log says';

# Params that no worker sends.
for my $wrong ({}, { name => 'a', method => 'b' }, { method => 7 }) {
    my $reply = $c->rpc('mcp_call', { tool => 't', key => $key, %$wrong });
    is $reply->{error}{code}, -32602, 'wrong params';
}

done_testing;
