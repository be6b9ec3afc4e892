#!/usr/bin/perl
# A program that offers prompts, resources and templates by libtoolgate, in all
# three kinds of loops: lists, calls and errors in both eras of MCP, changes of
# the lists, subscriptions, and mistakes of the program.

use Toolgate::Test qw(Host);
use Toolgate::Util qw(modern_meta);

my $tg = Toolgate::Test->new;
my $true = Toolgate::Client->decode('true');

# Returns the result or the error of a request, without the modern members.
sub ask {
    my ($client, $method, %params) = @_;
    my $answer = $client->rpc($method, \%params);
    my $result = $answer->{result} // $answer->{error};
    delete @$result{qw(_meta resultType)} if $params{_meta};
    return $result;
}

sub text_message {
    my ($text) = @_;
    return { role => 'user', content => { type => 'text', text => $text } };
}

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind);

    # --- nothing is declared without need ---
    $host->do('start');
    my $early = $host->connect_to;
    my $declared = sub {
        my ($client) = @_;
        return $client->rpc('initialize', {
            protocolVersion => '2025-11-25',
            capabilities    => {},
            clientInfo      => { name => 'test', version => '1' },
        })->{result}{capabilities};
    };
    is_deeply [ sort keys %{ $declared->($early) } ], ['tools'],
        "$kind: without prompts and resources";
    $early->notify('notifications/initialized');
    is ask($early, 'prompts/list')->{code}, -32601, 'no prompts, no method';

    # --- added to a running server ---
    $host->do("item add-$_")
        for 'prompt arguments review [{"name":"commit","required":true},'
        . '{"name":"focus"}]', 'prompt text hello',
        'resource text file:///a/b.txt text/plain',
        'resource bytes x:bytes', 'resource text x:text image/png',
        'template arguments note:///{+path} application/json',
        'template unknown gone:///{id}', 'template fail fail:///{id}';
    my %changed;
    until (keys %changed == 2) {
        my $note = $early->recv_where(
            sub { !exists $_[0]{id} }, undef, 'a change');
        $changed{ $note->{method} }++;
    }
    is_deeply [ sort keys %changed ], [
        'notifications/prompts/list_changed',
        'notifications/resources/list_changed',
    ], 'clients are notified of both lists';

    for my $meta (undef, modern_meta()) {
        my $client = $host->connect_to;
        my %meta = $meta ? (_meta => $meta) : ();
        my $era = $meta ? 'modern' : 'legacy';
        my %cache =
            $meta ? (ttlMs => 0, cacheScope => 'private') : ();
        my $has = $meta ? ask($client, 'server/discover', %meta)->{capabilities}
            : $declared->($client);
        is_deeply [ @$has{qw(prompts resources)} ],
            [ { listChanged => $true },
            { listChanged => $true, subscribe => $true } ],
            "$kind, $era: capabilities";

        is_deeply ask($client, 'prompts/list', %meta), {
            prompts => [ {
                    name        => 'review',
                    description => 'A prompt.',
                    arguments   => [
                        { name => 'commit', required => $true },
                        { name => 'focus' },
                    ],
                },
                { name => 'hello', description => 'A prompt.' },
            ],
            %cache,
        }, 'prompts';
        is_deeply ask($client, 'resources/list', %meta), {
            resources => [ {
                    uri      => 'file:///a/b.txt',
                    name     => 'b.txt',
                    mimeType => 'text/plain',
                },
                { uri => 'x:bytes', name => 'x:bytes' },
                { uri => 'x:text', name => 'x:text', mimeType => 'image/png' },
            ],
            %cache,
        }, 'resources';
        is_deeply [ map { $_->{uriTemplate} } @{
                ask($client, 'resources/templates/list', %meta)
                    ->{resourceTemplates} } ],
            [ 'note:///{+path}', 'gone:///{id}', 'fail:///{id}' ], 'templates';

        # --- prompts ---
        my $get = sub { ask($client, 'prompts/get', %meta, @_) };
        is_deeply $get->(name => 'hello'),
            { messages => [ text_message('its text') ] }, 'a prompt';
        is_deeply $get->(
            name => 'review', arguments => { commit => '1', focus => 'a"b' }),
            { messages => [ text_message('{"commit":"1","focus":"a\"b"}') ] },
            'a prompt with arguments';
        for my $case ([ review => undef, qr/commit: missing/ ],
            [ review => { commit => 1 }, qr/expected string, got number/ ],
            [ review => { commit => '1', y => '2' }, qr/"?y"?/ ],
            [ nosuch => undef, qr/Unknown prompt: nosuch/ ])
        {
            my ($name, $arguments, $why) = @$case;
            my $error = $get->(name => $name,
                $arguments ? (arguments => $arguments) : ());
            is $error->{code}, -32602, "$name: the code";
            like $error->{message}, $why, "$name: $why";
        }

        # --- resources ---
        my $read = sub {
            my ($uri) = @_;
            return ask($client, 'resources/read', %meta, uri => $uri);
        };
        is_deeply $read->('file:///a/b.txt'), {
            contents => [ {
                uri      => 'file:///a/b.txt',
                mimeType => 'text/plain',
                text     => 'its text',
            } ],
            %cache,
        }, 'a text';
        is $read->('x:bytes')->{contents}[0]{blob}, '/wAB',
            'bytes that are not UTF-8';
        is $read->('x:text')->{contents}[0]{blob}, 'aXRzIHRleHQ=',
            'a type that is not text';
        is $read->('note:///a/b%20c')->{contents}[0]{text},
            '{"path":"a/b c"}', 'variables of a template';
        for my $uri ('gone:///1', 'none:') {
            my $error = $read->($uri);
            is $error->{code}, $meta ? -32602 : -32002, "$uri: the code";
            is_deeply $error->{data}, { uri => $uri }, "$uri: the URI";
        }
        my $error = $read->('fail:///1');
        is "@$error{qw(code message)}", '-32603 no luck',
            'a resource that fails';
    }
    is scalar($host->events(qr/^report .*fail:\/\/\/\{id\}: no luck/)), 2,
        'its error is reported';
    is scalar($host->events(qr/^report .*gone/)), 0,
        'an unknown resource is not';

    # --- whole results ---
    $host->do("item add-$_")
        for 'prompt json p-result [{"name":"json"}]',
        'template json result:///{?json}';
    $host->do("item set-$_ output result")
        for 'prompt p-result', 'template result:///{?json}';
    my $client = $host->connect_to;
    my $both = { messages => [
        { %{ text_message('a') }, role => 'assistant' }, text_message('b'),
    ] };
    is_deeply ask($client, 'prompts/get', name => 'p-result',
        arguments => { json => $client->encode($both) }), $both,
        'a prompt of several messages';
    is ask($client, 'prompts/get', name => 'p-result',
        arguments => { json => 'x' })->{code}, -32603, 'one that is no JSON';
    is_deeply ask($client, 'resources/read',
        uri => 'result:///?json=%7B%22contents%22:[]%7D'), { contents => [] },
        'a resource as a whole result';

    # --- options ---
    $host->do("item set-$_")
        for 'prompt hello title Says hello',
        'prompt hello icons [{"src":"https://example.com/a.png"}]',
        'resource x:bytes name Some bytes',
        'resource x:bytes description What it has.',
        'resource x:bytes annotations {"priority":0.5}',
        'resource x:bytes meta {"a/b":1}', 'resource x:bytes ttl 5s public';
    my ($hello) = grep { $_->{name} eq 'hello' }
        @{ ask($client, 'prompts/list')->{prompts} };
    is_deeply $hello, {
        name        => 'hello',
        title       => 'Says hello',
        description => 'A prompt.',
        icons       => [ { src => 'https://example.com/a.png' } ],
    }, 'options of a prompt';
    my ($bytes) = grep { $_->{uri} eq 'x:bytes' }
        @{ ask($client, 'resources/list')->{resources} };
    is_deeply $bytes, {
        uri         => 'x:bytes',
        name        => 'Some bytes',
        description => 'What it has.',
        annotations => { priority => 0.5 },
        _meta       => { 'a/b' => 1 },
    }, 'options of a resource';
    my $modern = $host->connect_to;
    my $contents = ask($modern, 'resources/read', uri => 'x:bytes',
        _meta => modern_meta());
    is "@$contents{qw(ttlMs cacheScope)}", '5000 public', 'its ttl';

    # A template may be longer than a name.
    my $long = 'long:///' . 'x' x 200;
    $host->do("item add-template arguments $long/{id}");
    is ask($client, 'resources/read', uri => "$long/1")->{contents}[0]{text},
        '{"id":"1"}', 'a long template';
    $host->do("item remove-template $long/{id}");

    # --- a call that is cancelled, one that is late ---
    $host->do('item add-resource never x:never');
    my $id = $client->request('resources/read', { uri => 'x:never' });
    $host->event(qr/^began/);
    $client->notify('notifications/cancelled', { requestId => $id });
    $host->event(qr/^cancelled/);
    $host->do('item set-resource x:never timeout 50ms');
    like ask($client, 'resources/read', uri => 'x:never')->{message},
        qr/x:never: no response within 50 ms/, 'a resource that is late';

    # --- subscriptions ---
    my $watcher = $host->connect_to;
    $declared->($watcher);
    $watcher->notify('notifications/initialized');
    is_deeply ask($watcher, 'resources/subscribe', uri => 'x:bytes'), {},
        'subscribed';
    $host->do("item updated $_") for 'x:text', 'x:bytes', 'note:///a';
    is_deeply ask($watcher, 'resources/subscribe', uri => 'note:///a'), {},
        'to a resource of a template';
    $host->do('item updated note:///a');
    for my $uri ('x:bytes', 'note:///a') {
        is_deeply $watcher->notification('notifications/resources/updated')
            ->{params}, { uri => $uri }, "$uri has changed";
    }
    ask($watcher, 'resources/unsubscribe', uri => 'x:bytes');
    $host->do("item updated $_") for 'x:bytes', 'note:///a';
    is $watcher->notification('notifications/resources/updated')
        ->{params}{uri}, 'note:///a', 'one is left';
    $modern->request('subscriptions/listen', {
        _meta         => modern_meta(),
        notifications => { resourceSubscriptions => ['x:text'] },
    });
    $modern->notification('notifications/subscriptions/acknowledged');
    $host->do('item updated x:text');
    is $modern->notification('notifications/resources/updated')
        ->{params}{uri}, 'x:text', 'a modern subscription';

    # --- completion ---
    my $complete = sub {
        my ($ref, $name, $value, %known) = @_;
        return ask($client, 'completion/complete', ref => $ref,
            argument => { name => $name, value => $value },
            context  => { arguments => \%known });
    };
    my $review = { type => 'ref/prompt', name => 'review' };
    is $complete->($review, 'focus', '')->{code}, -32601,
        'completion is not declared without need';
    $host->do("item complete-$_")
        for 'prompt review focus', 'template note:///{+path} path';
    ok $declared->($host->connect_to)->{completions}, 'it is declared';
    my $values = sub { $complete->(@_)->{completion}{values} };
    is_deeply $values->($review, 'focus', '{"c', commit => '1'),
        ['{"commit":"1"}'], 'a call gets the known arguments';
    is_deeply $values->($review, 'focus', 'x'), [], 'nothing matches';
    is_deeply $values->(
        { type => 'ref/resource', uri => 'note:///{+path}' }, 'path', ''),
        ['{}'], 'of a template';
    for my $case (
        [ 'prompt nosuch focus', qr/unknown prompt "nosuch"/ ],
        [ 'prompt review nosuch',
            qr/prompt "review" has no argument "nosuch"/ ],
        [ 'prompt review focus', qr/there is already a completion/ ])
    {
        my ($command, $why) = @$case;
        like $host->fails("item complete-$command"), qr/^ValueError .*$why/,
            "complete-$command: why";
    }
    $host->do('item remove-prompt review');
    $host->do(
        'item add-prompt arguments review [{"name":"commit","required":true},'
        . '{"name":"focus"}]');
    is_deeply $values->($review, 'focus', ''), [],
        'it ends with its prompt';
    $host->do('item complete-prompt review focus');
    is_deeply $values->($review, 'focus', ''), ['{}'], 'and may be added again';

    # --- removal ---
    $host->do("item remove-$_")
        for 'prompt hello', 'resource x:text', 'template gone:///{id}';
    is ask($client, 'prompts/get', name => 'hello')->{code}, -32602,
        'a prompt that was removed';
    is ask($client, 'resources/read', uri => 'x:text')->{code}, -32002,
        'a resource that was removed';
    unlike $client->encode(ask($client, 'resources/templates/list')),
        qr/gone/, 'a template that was removed';
    $watcher->notification("notifications/$_/list_changed")
        for qw(prompts resources);

    # --- mistakes ---
    for my $case (
        [ 'add-prompt text p [1]', qr/"arguments" must be a JSON array/ ],
        [ 'add-prompt text p {}', qr/"arguments" must be a JSON array/ ],
        [ 'add-prompt text p [{"name":"a"},{"name":"a"}]',
            qr/each another one/ ],
        [ 'add-prompt text p [', qr/"arguments" is no JSON/ ],
        [ 'add-prompt text review', qr/there is already a prompt "review"/ ],
        [ 'add-resource text x:1 text', qr/"mime" must be a MIME type/ ],
        [ 'add-template text a:{', qr/"a:\{": write a "\}" after/ ],
        [ 'set-prompt review mime text/plain', qr/unknown option "mime"/ ],
        [ 'set-prompt review tilte x', qr/did you mean "title"/ ],
        [ 'set-prompt review icons {}', qr/"icons" must be a JSON array/ ],
        [ 'set-prompt review meta []', qr/"meta" must be a JSON object/ ],
        [ 'set-prompt nosuch title x', qr/unknown prompt "nosuch"/ ],
        [ 'set-resource x:bytes input_schema {}', qr/unknown option/ ],
        [ 'set-resource x:bytes annotations []', qr/must be a JSON object/ ],
        [ 'set-resource x:bytes ttl x', qr/ttl/ ],
        [ 'set-resource x:bytes ttl 5s private', qr/"ttl" must be a time/ ],
        [ 'set-template x:bytes title x',
            qr/unknown resource_template "x:bytes"/ ],
        [ 'remove-prompt nosuch', qr/unknown prompt "nosuch"/ ],
        [ 'updated', qr/the URI of a resource must be 1 to 2048 bytes/ ])
    {
        my ($command, $why) = @$case;
        like $host->fails("item $command"), qr/^ValueError .*$why/,
            "$command: why";
    }
    $host->do('stop');
    like $host->fails('item updated x:bytes'),
        qr/^RuntimeError the server is not started/, 'a server that is stopped';

    # --- declared from the start ---
    $host->do('start');
    my $late = $host->connect_to;
    ok $declared->($late)->{prompts}, 'a server with prompts declares them';
    $host->do('stop');
    $host->stop;
}

done_testing;
