#!/usr/bin/perl
# A program that reads prompts and resources by libtoolgate, of a server played
# by the test: from a thread, its own loop and libuv's.

use Toolgate::Test qw(Host);
use Toolgate::Parent qw(answer give refuse request);

my $tg = Toolgate::Test->new;
my $path = $tg->dir . '/played.sock';

# Returns the result of a request: its class, and the rest.
sub answered {
    my ($host, $n) = @_;
    my $line = $host->event(qr/^answered $n /);
    $line =~ s/^answered $n //;
    return $line;
}

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind);
    my $parent = Toolgate::Parent->new($path);
    my $connects = sub {
        my $conn = $parent->accept;
        give($conn, 'initialize', {});
        $conn->notification('notifications/initialized');
        return $conn;
    };
    $host->do("client new $path");
    $host->send_raw("client open\n");
    my $conn = $connects->();
    is $host->answer, '= ok', "$kind: open";
    $host->event(qr/^connected/);
    my $n = 0;

    # --- lists ---
    for my $list ([ 'prompts/list', 'prompts' ],
        [ 'resources/list', 'resources' ],
        [ 'resources/templates/list', 'resourceTemplates' ])
    {
        my ($method, $member) = @$list;
        $host->do("client begin all $method");
        answer($conn, request($conn, $method),
            { $member => [ { n => 1 } ], nextCursor => 'c' });
        my $page = request($conn, $method);
        is_deeply $page->{params}, { cursor => 'c' }, "$method: the next page";
        answer($conn, $page, { $member => [ { n => 2 } ], ttlMs => 5 });
        like answered($host, $n++),
            qr/^ ?\{"\Q$member\E":\[\{"n":1\},\{"n":2\}\]\}$/,
            "$method: all pages";
    }
    like $host->fails('client begin all tools/call'),
        qr{^ValueError "tools/call" lists nothing; the methods are tools/list},
        'a method that lists nothing';
    $host->do('client begin all prompts/list');
    give($conn, 'prompts/list', { prompts => [1] });
    like answered($host, $n++), qr/list of prompts is invalid/,
        'an invalid list';

    # --- prompts and resources ---
    $host->do('client begin prompt a"b {"x": "1"}');
    my $asked = request($conn, 'prompts/get');
    is_deeply $asked->{params}, { name => 'a"b', arguments => { x => '1' } },
        'a prompt with arguments';
    answer($conn, $asked, { messages => [] });
    like answered($host, $n++), qr/\{"messages":\[\]\}$/, 'its messages';
    $host->do('client begin prompt p');
    $asked = request($conn, 'prompts/get');
    is_deeply $asked->{params}, { name => 'p' }, 'a prompt without arguments';
    refuse($conn, $asked, -32602, 'unknown prompt');
    like answered($host, $n++),
        qr/^IPCToolExecutionError unknown prompt \{"code":-32602/, 'an error';
    $host->do('client begin read file:///a%20b');
    $asked = request($conn, 'resources/read');
    is_deeply $asked->{params}, { uri => 'file:///a%20b' }, 'a resource';
    answer($conn, $asked, { contents => [ { text => 'x' } ] });
    like answered($host, $n++), qr/\{"contents":\[\{"text":"x"\}\]\}$/,
        'its contents';
    for my $case ([ 'prompt p [1]', 'object' ], [ 'prompt p {', 'no JSON' ],
        [ 'read ', 'UTF-8 and not empty' ])
    {
        my ($command, $why) = @$case;
        like $host->fails("client begin $command"), qr/^ValueError .*$why/,
            "$command: $why";
    }

    # A read is sent again after a loss.
    $host->do('client begin read x:1');
    request($conn, 'resources/read');
    $conn->close;
    $conn = $connects->();
    give($conn, 'resources/read', { contents => [ { text => 'again' } ] });
    like answered($host, $n++), qr/again/, 'a read over a lost connection';

    # --- subscriptions ---
    my $subscribes = sub {
        my ($method, $uri, $code) = @_;
        my $request = request($conn, "resources/$method");
        is_deeply $request->{params}, { uri => $uri }, "${method}s to $uri";
        return $code ? refuse($conn, $request, $code, 'no')
            : answer($conn, $request, {});
    };
    for my $uri ('x:1', 'x:2', 'x:1') {
        $host->do("client begin subscribe $uri");
        $subscribes->('subscribe', $uri);
        like answered($host, $n++), qr/\{\}$/, 'accepted';
    }
    $host->do('client begin subscribe x:3');
    $subscribes->('subscribe', 'x:3', -32002);
    like answered($host, $n++), qr/^IPCToolExecutionError no /, 'refused';
    $conn->notify('notifications/resources/updated', { uri => 'x:1' });
    is $host->event(qr/^updated/), 'updated x:1', 'a resource has changed';
    like $host->event(qr/^notified/),
        qr{^notified notifications/resources/updated \{"uri":"x:1"\}},
        'also as a notification';
    $conn->notify('notifications/resources/updated', $_)
        for {}, { uri => 5 }, { uri => 'x:9' };
    is $host->event(qr/^updated/), 'updated x:9', 'a notification without URI';

    # A new connection renews what was accepted, and reports each resource.
    $conn->close;
    $conn = $connects->();
    $subscribes->('subscribe', $_) for 'x:1', 'x:2';
    is $host->event(qr/^updated/), "updated $_", "$_ may have changed"
        for 'x:1', 'x:2';

    $host->do('client begin unsubscribe x:1');
    $subscribes->('unsubscribe', 'x:1');
    like answered($host, $n++), qr/\{\}$/, 'unsubscribed';
    $host->do('client begin subscribe x:4');
    $host->do('client begin unsubscribe x:4');
    $subscribes->('subscribe', 'x:4');
    $subscribes->('unsubscribe', 'x:4');
    answered($host, $n++) for 1, 2;
    $conn->close;
    $conn = $connects->();
    $subscribes->('subscribe', 'x:2');
    is $host->event(qr/^updated/), 'updated x:2', 'only what is left';
    is scalar($host->events(qr/^updated/)), 0, 'and once';

    # --- functions that wait ---
    if ($kind ne 'uv') {
        my $waits = sub {
            my ($command, $method, $result) = @_;
            $host->send_raw("client $command\n");
            give($conn, $method, $result);
            return $host->answer;
        };
        like $waits->('all prompts/list', 'prompts/list', { prompts => [] }),
            qr/^=  ?\{"prompts":\[\]\}/, 'a list';
        like $waits->('prompt p', 'prompts/get', { messages => [] }),
            qr/^=  ?\{"messages":\[\]\}/, 'a prompt';
        like $waits->('read x:1', 'resources/read', { contents => [] }),
            qr/^=  ?\{"contents":\[\]\}/, 'a resource';
        like $waits->('subscribe x:1', 'resources/subscribe', {}), qr/^= /,
            'a subscription';
        like $waits->('unsubscribe x:1', 'resources/unsubscribe', {}), qr/^= /,
            'its end';
    }

    # Closing forgets the subscriptions.
    $host->do('client close');
    $host->send_raw("client open\n");
    $conn = $connects->();
    is $host->answer, '= ok', 'open again';
    $host->do('client begin request last');
    my @methods;
    do {
        push @methods, $conn->recv_json->{method};
    } until $methods[-1] eq 'last';
    is grep({ /subscribe/ } @methods), 0, 'nothing is renewed';
    $host->do('client free');
    $parent->close;
    # libuv keeps the descriptors of the first loop of a process.
    my $before = $host->holds;

    # Without a callback nothing would receive the changes.
    $parent = Toolgate::Parent->new($path);
    $host->do("client new $path bare");
    $host->send_raw("client open\n");
    $conn = $parent->accept;
    give($conn, 'ping', {});
    is $host->answer, '= ok', 'a client without callbacks';
    like $host->fails('client begin subscribe x:1'),
        qr/^RuntimeError .*toolgate_client_on_update/, 'cannot subscribe';
    $host->do('client free');
    is_deeply $host->holds($before), $before,
        "$kind: no descriptor and no thread is left";
    $parent->close;
    $host->stop;
}

done_testing;
