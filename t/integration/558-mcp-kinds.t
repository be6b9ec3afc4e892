#!/usr/bin/perl
# Prompts, resources and templates of MCP servers pass through to clients of
# both eras, with names and URIs that tell the servers apart.

use Toolgate::Test qw(Status);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my %meta = (modern => modern_meta(), legacy => undef);

# Writes the prompts and resources of a server, see t/servers/mcp.pl.
sub offer {
    my ($name, %lists) = @_;
    my $path = $tg->file("$name.new", $json->encode(\%lists));
    rename $path, $tg->dir . "/$name.kinds" or die "$path: $!";
}

sub server {
    my ($name, $era) = @_;
    return "$^X $top/t/servers/mcp.pl $era kinds=" . $tg->dir . "/$name.kinds";
}

my $ui = { uri => 'ui://clock/view', mimeType => 'text/html;profile=mcp-app',
    text => "<b>\x{e9} \\ / </b>", _meta => { ui => { csp => { a => [ 1.50 ] },
        prefersBorder => JSON::PP::true } } };
my %old = (
    prompts => [
        { name => 'review', title => 'Review', arguments => [
            { name => 'commit', required => JSON::PP::true } ],
            _meta => { 'x/y' => [ 1.50 ] }, icons => undef },
        { name => 'secret' }, { title => 'no name' },
    ],
    resources => [
        { uri => 'x:both', name => 'both' },
        { uri => 'x:old', mimeType => 'text/plain' },
        { uri => 'y:hidden', name => 'hidden' },
    ],
    resourceTemplates => [
        { uriTemplate => 'x:t/{name}', name => 't' },
        { uriTemplate => 'x:odd{/a*}{#b}', name => 'odd' },
    ],
    contents => {
        'x:both'  => [ { uri => 'x:both', text => 'old' } ],
        'x:t/a%20b' => [ { uri => 'x:t/a%20b', text => 'from the template' } ],
        'x:odd/1/2#3' => [ { uri => 'x:odd/1/2#3', text => 'odd' } ],
        'x:unlisted' => [ { uri => 'x:unlisted', text => 'unlisted' } ],
        'y:hidden' => [ { uri => 'y:hidden', text => 'hidden' } ],
        'ui://clock/view' => [$ui],
    },
);
my %new = (
    prompts => [ { name => 'review' } ],
    resources => [ { uri => 'x:both', name => 'both' },
        { uri => 'x:new', name => 'new' } ],
    resourceTemplates => [ { uriTemplate => 'x:t/{name}', name => 't' } ],
    contents => {
        'x:both' => [ { uri => 'x:both', text => 'new' } ],
        'x:t/z' => [ { uri => 'x:t/z', text => 'of the other' } ],
    },
);
offer('old', %old);
offer('new', %new);
my $body = <<"END";
mcp_server old { exec @{[ server('old', 'legacy') ]}; prompts rev* no_such;
                 resources x:* ui:*; }
mcp_server new { exec @{[ server('new', 'modern') ]}; }
mcp_server none { exec @{[ server('new', 'legacy') ]}; prompts off;
                  resources off; }
END
$tg->conf($body)->start;

sub request {
    my ($client, $era, $method, %params) = @_;
    $params{_meta} = $meta{$era} if $meta{$era};
    return $client->rpc($method, \%params);
}

my $client = $tg->connect;
wait_for {
    my $all = request($client, 'modern', 'prompts/list')->{result}{prompts};
    @{ $all // [] } == 2;
} 'the prompts of both';

sub keys_of {
    my ($list, $key) = @_;
    return join ' ', map { $_->{$key} } @$list;
}

for my $era (qw(legacy modern)) {
    my $c = $tg->connect;
    my $ask = sub { request($c, $era, @_) };
    my $result = sub { request($c, $era, @_)->{result} };

    # Lists.
    my $prompts = $result->('prompts/list')->{prompts};
    is keys_of($prompts, 'name'), 'old_review new_review', "$era: prompts";
    is_deeply $prompts->[0], { name => 'old_review', title => 'Review',
        arguments => $old{prompts}[0]{arguments},
        _meta => { 'x/y' => [ 1.5 ] } }, 'with all valid members';
    my $resources = $result->('resources/list')->{resources};
    is keys_of($resources, 'uri'), 'x:both x:old new+x:both x:new',
        'a URI that another server has gets the name of the server';
    is $resources->[1]{name}, 'x:old', 'a resource has a name';
    is keys_of($result->('resources/templates/list')->{resourceTemplates},
        'uriTemplate'), 'x:t/{name} x:odd{/a*}{#b} new+x:t/{name}',
        'templates';

    # Prompts.
    my $prompt = $result->('prompts/get', name => 'old_review',
        arguments => { commit => 'HEAD' });
    is $prompt->{description}, 'It is filled in.', 'a prompt';
    my $sent = $json->decode($prompt->{messages}[0]{content}{text});
    is_deeply [ @$sent{qw(name arguments)} ],
        [ 'review', { commit => 'HEAD' } ], 'by the name of its server';
    is $prompt->{resultType}, $era eq 'modern' ? 'complete' : undef,
        'in the era of the client';
    is $ask->('prompts/get', name => 'old_secret')->{error}{code}, -32602,
        'a prompt that is not selected';

    # Resources.
    my $read = sub { $result->('resources/read', uri => $_[0]) };
    is $read->('x:both')->{contents}[0]{text}, 'old', 'the first one';
    is $read->('new+x:both')->{contents}[0]{text}, 'new', 'the second one';
    is $read->('x:t/a%20b')->{contents}[0]{text}, 'from the template',
        'by a template';
    is $read->('new+x:t/z')->{contents}[0]{text}, 'of the other',
        'by the template of the other server';
    is $read->('x:odd/1/2#3')->{contents}[0]{text}, 'odd',
        'by a template with operators that we do not know';
    is $read->('old+x:unlisted')->{contents}[0]{text}, 'unlisted',
        'a URI that is not listed, of a named server';
    is_deeply $read->('old+ui://clock/view')->{contents}, [$ui],
        'the view of an MCP app';
    my $error = $ask->('resources/read', uri => 'old+x:none')->{error};
    is_deeply $error->{data}, { uri => 'x:none', why => 'gone' },
        'an error has the data of the server';
    my $code = $era eq 'modern' ? -32602 : -32002;
    is $error->{code}, $code, 'and a code of the era';
    for my $uri ('old+y:hidden', 'x:unlisted', 'none+x:both') {
        is $ask->('resources/read', uri => $uri)->{error}{code}, $code,
            "unknown: $uri";
    }
    is $read->('x:both')->{ttlMs}, $era eq 'modern' ? 0 : undef,
        'the hint of a legacy server';
    is $read->('new+x:both')->{ttlMs}, $era eq 'modern' ? 5000 : undef,
        'the hint of a modern server';

    # Completion.
    my $complete = sub {
        return $result->('completion/complete', ref => $_[0],
            argument => { name => 'commit', value => 'H' },
            context => { arguments => { a => 'b' } })->{completion}{values};
    };
    is_deeply $json->decode($complete->({ type => 'ref/prompt',
        name => 'new_review' })->[0]), { type => 'ref/prompt',
        name => 'review' }, 'completion of a prompt';
    is_deeply $json->decode($complete->({ type => 'ref/resource',
        uri => 'new+x:t/{name}' })->[0]), { type => 'ref/resource',
        uri => 'x:t/{name}' }, 'completion of a template';
    $c->close;
}

like $tg->log,
    qr/"prompts no_such" of mcp_server "old" matches none of its prompts/,
    'an unused pattern';
like $tg->log, qr/element 3 of the list of prompts .* omitted: it has no name/,
    'an element without a name';
unlike $tg->log, qr/"resources ui:/, 'a pattern for URIs that are not listed';

# Changes reach clients that listen, of each kind.
my $modern = $tg->connect;
$modern->send_line($json->encode({ jsonrpc => '2.0', id => 'l',
    method => 'subscriptions/listen', params => { _meta => $meta{modern},
        notifications => { promptsListChanged => JSON::PP::true } } }));
$modern->notification('notifications/subscriptions/acknowledged');
my $legacy = $tg->connect;
$legacy->rpc('initialize', { protocolVersion => '2025-11-25',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });
$legacy->notify('notifications/initialized');
offer('new', %new, prompts => [ { name => 'later' } ]);
$client->call_tool('new_announce', { kind => 'prompts' });
$_->notification('notifications/prompts/list_changed') for $modern, $legacy;
is keys_of(request($legacy, 'legacy', 'prompts/list')->{result}{prompts},
    'name'), 'old_review new_later', 'the changed list';
offer('old', %old, resources => []);
$client->call_tool('old_announce', { kind => 'resources' });
$legacy->notification('notifications/resources/list_changed');
is keys_of(request($legacy, 'legacy', 'resources/list')->{result}{resources},
    'uri'), 'x:both x:new', 'a URI is free again';

# The stored lists are served before the servers have started.
$tg->stop;
$tg->conf($body)->start;
is keys_of(request($tg->connect, 'legacy', 'prompts/list')->{result}{prompts},
    'name'), 'old_review new_later', 'the stored lists';

# Subscriptions: only while a client has one, by either URI.
$tg->stop;
offer('old', %old);
$tg->conf($body)->start;

sub updated {
    my ($c, $uri) = @_;
    return $c->recv_where(
        sub {
            my ($m) = @_;
            return ($m->{method} // '') eq 'notifications/resources/updated'
                && $m->{params}{uri} eq $uri;
        },
        undef,
        "the change of $uri"
    );
}

sub subscribed {
    my ($server, $uris) = @_;
    wait_for {
        text_of($client->call_tool("${server}_subscribed")) eq $uris
    } "$server has the subscriptions '$uris'";
}

$client = $tg->connect;
$legacy = $tg->connect;
$legacy->rpc('initialize', { protocolVersion => '2025-11-25',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });
$legacy->notify('notifications/initialized');
$modern = $tg->connect;
subscribed($_, '') for qw(old new);
$client->call_tool('old_announce', { kind => 'resources' });
for my $era (qw(legacy modern)) {
    my $c = $era eq 'legacy' ? $legacy : $modern;
    wait_for {
        keys_of(request($c, $era, 'resources/list')->{result}{resources},
            'uri') eq 'x:both x:old new+x:both x:new'
    } 'the lists of the started servers';
}
is_deeply $legacy->rpc('resources/subscribe', { uri => $_ })->{result}, {},
    "a subscription to $_" for 'x:both', 'new+x:both';
subscribed($_, 'x:both') for qw(old new);
$client->call_tool('new_announce', { uri => 'x:both' });
updated($legacy, 'new+x:both');
$client->call_tool('old_announce', { uri => 'x:both' });
updated($legacy, 'x:both');
my $listen = $modern->request('subscriptions/listen', {
    _meta => $meta{modern}, notifications => {
        resourceSubscriptions => [ 'new+x:both', 'old+x:unlisted' ] } });
subscribed('old', 'x:both x:unlisted');
$client->call_tool('old_announce', { uri => 'x:unlisted' });
updated($modern, 'old+x:unlisted');
$client->call_tool('new_announce', { uri => 'x:both' });
updated($_, 'new+x:both') for $modern, $legacy;

# A reload moves them.
$tg->reload("$body tool more { return 1; }");
subscribed('old', 'x:both x:unlisted');
updated($legacy, $_) for 'x:both', 'new+x:both';
updated($modern, $_) for 'new+x:both', 'old+x:unlisted';
$client->call_tool('new_announce', { uri => 'x:both' });
updated($_, 'new+x:both') for $modern, $legacy;

# A new runner gets them again, and the servers may have changed meanwhile.
kill KILL => runner_in($tg->state_dir);
wait_for { $client->call_tool('old_pid')->{result} } 'another runner';
subscribed('old', 'x:both x:unlisted');
$client->call_tool('old_announce', { uri => 'x:unlisted' });
updated($modern, 'old+x:unlisted');
$modern->close;
subscribed('old', 'x:both');
$legacy->rpc('resources/unsubscribe', { uri => $_ })
    for 'x:both', 'new+x:both';
subscribed($_, '') for qw(old new);

# What a starting server may have is waited for.
my $go = $tg->dir . '/go';
$tg->stop;
$tg->conf("mcp_server slow { exec @{[ server('old', 'legacy') ]} until=$go; }")
    ->start;
my $waiting = $tg->connect;
my @ids = map { $waiting->request(@$_) }
    [ 'prompts/get', { name => 'slow_review' } ],
    [ 'resources/read', { uri => 'x:both' } ],
    [ 'resources/list', {} ];
is request($waiting, 'legacy', 'prompts/get', name => 'other')->{error}{code},
    -32602, 'what no server can have is unknown at once';
$tg->file('go', '');
my ($prompt, $read, $list) = map { $waiting->reply($_)->{result} } @ids;
is $prompt->{description}, 'It is filled in.', 'a prompt of a starting server';
is $read->{contents}[0]{text}, 'old', 'a resource of a starting server';
ok exists $list->{resources}, 'its list';

# One server alone gets all URIs that no list contains.
$tg->conf("mcp_server old { exec @{[ server('old', 'legacy') ]}; }")->reload;
wait_for {
    my $got = request($tg->connect, 'modern', 'resources/read',
        uri => 'ui://clock/view')->{result};
    $got && $json->encode($got->{contents}) eq $json->encode([$ui]);
} 'the view of the app by its own URI';

done_testing;
