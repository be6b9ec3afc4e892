#!/usr/bin/perl
# A program that is a client by libtoolgate, of a server played by the test and
# of another program's: requests and their results, from a thread, its own loop
# and libuv's.

use Toolgate::Test qw(Host);
use Toolgate::Parent qw(answer give refuse request text_result);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $path = $tg->dir . '/played.sock';

# Returns the result of a call: its class, and the rest.
sub answered {
    my ($host, $n) = @_;
    my $line = $host->event(qr/^answered $n /);
    $line =~ s/^answered $n //;
    return $line;
}

for my $kind (@Toolgate::Host::KINDS) {
    my $waits = $kind ne 'uv';
    my $host = Toolgate::Host->start($tg, $kind);

    # --- no server ------
    is $host->do("client new $path connect_timeout=60s"), 'ok',
        "$kind: a client";
    like $host->fails('client set tiemout 1s'), qr/did you mean "timeout"/,
        'an option that is none';
    like $host->fails('client begin call x'), qr/^RuntimeError .*not open/,
        'one that is not open asks nothing';
    if ($waits) {
        like $host->fails('client open'),
            qr/^IPCConnectionError nothing listens on \Q$path\E: is Toolgate/,
            'no server';
        my $parent = Toolgate::Parent->new($path);
        $parent->close(stale => 1);
        like $host->fails('client open'), qr/left behind by a server/,
            'a socket that was left behind';
        unlink $path;
    } else {
        $host->do('client open');
        like $host->event(qr/^lost/), qr/nothing listens on/, 'no server';
        like $host->fails('client call x'),
            qr/^RuntimeError .*a client on a libuv loop cannot wait/,
            'nobody may wait in a loop of libuv\'s';
        $host->do('client close');
    }

    # Descriptors of the first loop of a process, which libuv keeps.
    my $before = $host->holds;

    # --- a server that the test plays ---
    my $parent = Toolgate::Parent->new($path);
    my $opened = sub {
        $host->send_raw("client open\n");
        my $conn = $parent->accept;
        give($conn, 'initialize', {});
        $conn->notification('notifications/initialized');
        is $host->answer, '= ok', 'it is open';
        $host->event(qr/^connected/);
        return $conn;
    };
    my $conn = $opened->();
    is $host->do('client connected'), 1, 'and connected';
    like $host->fails('client open'), qr/already open/, 'once';

    # Out of order.
    $host->do("client begin call t {\"n\":$_}") for 0 .. 2;
    my @asked = map { request($conn, 'tools/call') } 0 .. 2;
    answer($conn, $asked[$_], text_result("answer $_")) for 2, 0, 1;
    for my $n (0 .. 2) {
        like answered($host, $n), qr/"answer $n"/, "the answer to $n is its";
    }
    is_deeply $asked[1]{params}{arguments}, { n => 1 }, 'arguments';

    # Errors.
    $host->do('client begin call t');
    answer($conn, request($conn, 'tools/call'),
        { isError => \1, %{ text_result('no luck') } });
    like answered($host, 3), qr/^IPCToolExecutionError no luck \{.*isError/,
        'a tool that fails says why, and all of it';
    $host->do('client begin request some.method [1,2]');
    my $asked = request($conn, 'some.method');
    is_deeply $asked->{params}, [ 1, 2 ], 'params of a method';
    refuse($conn, $asked, -32000, 'not found', { id => 7 });
    like answered($host, 4),
        qr/^IPCToolExecutionError not found \{"code":-32000,.*"id":7/,
        'so does a method';
    $host->do('client begin request other.method');
    $asked = request($conn, 'other.method');
    ok !exists $asked->{params}, 'no params are none';
    refuse($conn, $asked, -32600, 'what is that?');
    like answered($host, 5), qr/^IPCError what is that\?/,
        'what the server cannot read';
    like $host->fails('client begin call t [1]'),
        qr/^ValueError .* object/, 'arguments are an object';
    like $host->fails('client begin call t {'), qr/^ValueError .*no JSON/,
        'of JSON';

    # Pages.
    $host->do('client begin list');
    answer($conn, request($conn, 'tools/list'),
        { tools => [ { name => 'a' } ], nextCursor => 'n' });
    $asked = request($conn, 'tools/list');
    is $asked->{params}{cursor}, 'n', 'the next page';
    answer($conn, $asked, { tools => [ { name => 'b' } ] });
    like answered($host, 6), qr/\{"tools":\[\{"name":"a"\},\{"name":"b"\}\]\}/,
        'a list is whole';

    # Timeouts, and calls without a response.
    $host->do('client begin 50 call t');
    $asked = request($conn, 'tools/call');
    like answered($host, 7), qr/^TimeoutError .*within 50 ms; .*cancelled/,
        'a call has its time';
    is $conn->notification('notifications/cancelled')->{params}{requestId},
        $asked->{id}, 'the server is notified';
    answer($conn, $asked, text_result('late'));
    $host->do('client begin call t');
    $asked = request($conn, 'tools/call');
    $host->do('client cancel 8');
    like answered($host, 8), qr/^CancelledError/, 'a call is cancelled';
    is $conn->notification('notifications/cancelled')->{params}{requestId},
        $asked->{id}, 'the server is notified';
    is $host->do('client cancel 8'), 'ok', 'once more does no harm';

    # Progress extends the timeout; notifications.
    $host->do('client begin call t');
    $asked = request($conn, 'tools/call');
    $conn->notify('notifications/progress', {
        progressToken => $asked->{params}{_meta}{progressToken},
        progress => 1, message => 'half',
    });
    is decode_json($host->event(qr/^progress/) =~ s/^progress //r)->{message},
        'half', 'progress';
    answer($conn, $asked, text_result('done'));
    like answered($host, 9), qr/done/, 'and an answer';
    $conn->notify('event.done', { a => 1 });
    like $host->event(qr/^notified/), qr/^notified event.done \{"a":1\}/,
        'a notification';
    $conn->notify('event.bare');
    is $host->event(qr/^notified/), 'notified event.bare -',
        'one without params';
    is scalar($host->events(qr/^waited/)), 0, 'a callback may not wait';

    # --- the server closes and returns ---
    # With a shutdown notice: calls that it had not started are sent again.
    $host->do('client begin call t');
    $asked = request($conn, 'tools/call');
    $conn->notify('notifications/toolgate/closing', { reason => 'reload' });
    $conn->close;
    $conn = $parent->accept;
    give($conn, 'initialize', {});
    answer($conn, request($conn, 'tools/call'), text_result('again'));
    like answered($host, 10), qr/again/, 'after a goodbye it is asked again';
    like $host->event(qr/^lost/), qr/closes every connection/, 'it was lost';
    $host->event(qr/^connected/);

    # In the middle of a response, without one.
    $host->do('client begin call t');
    $asked = request($conn, 'tools/call');
    $conn->send_raw(qq({"jsonrpc":"2.0","id":$asked->{id},"result":{"con));
    $conn->close;
    like answered($host, 11),
        qr/^IPCConnectionError .*may have been executed/,
        'a server that dies in the midst of an answer';
    $conn = $parent->accept;
    give($conn, 'initialize', {});
    $host->event(qr/^connected/);

    # Nobody returns in time.
    $host->do('client close');
    $host->do('client set grace 100ms');
    $conn = $opened->();
    $parent->close;
    $conn->close;
    $host->event(qr/^lost/);
    $host->do('client begin call t');
    like answered($host, 12),
        qr/^IPCConnectionError nothing listens .*was not executed/s,
        'who does not come back in time';
    is $host->do('client connected'), 0, 'is not there';
    $parent = Toolgate::Parent->new($path);
    $conn = $parent->accept;
    give($conn, 'initialize', {});
    $host->event(qr/^connected/);
    $host->do('client begin call t');
    give($conn, 'tools/call', text_result('back'));
    like answered($host, 13), qr/back/, 'and serves when it is';

    # --- closing ---
    $host->do('client begin call t');
    request($conn, 'tools/call');
    $host->do('client close');
    like answered($host, 14), qr/^IPCConnectionError .*closed/,
        'closing ends what runs';
    $conn->notification('notifications/cancelled');
    ok Toolgate::Parent::is_left($conn), 'the server sees it go';
    $parent->close;
    $host->do('client free');

    # --- a server in another program ---
    my $other = Toolgate::Host->start($tg, 'thread');
    $other->do("tool $_") for qw(ten later);
    $other->do('start');
    $host->do('client new ' . $other->socket_path . ' max_frame=20m');
    $host->do('client open');
    $host->event(qr/^connected/);
    if ($waits) {
        like $host->do('client call echo {"text":"hi"}'), qr/"text":"hi"/,
            "$kind: a call that is waited for";
        like $host->fails('client call fail'),
            qr/^IPCToolExecutionError no luck/, 'one that fails';
        like $host->fails('client 50 call hang'), qr/^TimeoutError/,
            'one that takes too long';
        like $host->do('client request build.status'), qr/\{"ok":true\}/,
            'a method';
        like $host->do('client list'), qr/^ \d+ bytes|"echo"/, 'the list';
        like $host->do('client call ten'), qr/^ ?1000\d{4} bytes/, '10 MB';
    }
    $host->do('client begin call ten');
    like answered($host, 15), qr/^ ?1000\d{4} bytes/, '10 MB, not waited for';
    # If all of it comes at once, only the response is reported.
    my $n = 15;
    wait_for {
        $host->do('client begin call later');
        like answered($host, ++$n), qr/from a thread/, 'an answer of a thread';
        return scalar $host->events(qr/^progress/);
    } 'progress of a thread';
    $host->do('client many 1000 echo');
    is $host->event(qr/^many/), 'many wrong 0', '1,000 at once';
    if ($kind ne 'thread') {
        like $host->do('client flood'), qr/^6\d BlockingIOError .*67108864/,
            'what waits for a loop that does not run is bounded';
        is $host->event(qr/^flood/), 'flood wrong 0',
            'and when it runs, all that was taken is done';
    }
    $host->do('client close');
    $host->do('client set max_frame 1m');
    $host->do('client open');
    $host->do('client begin call ten');
    like answered($host, ++$n), qr/^IPCMessageSizeError .*1048576 bytes/,
        'an answer that is too large';
    $host->do('client begin call echo {"text":"still here"}');
    like answered($host, ++$n), qr/still here/, 'costs nothing else';

    # The server stops, and another one has its name.
    $other->do('stop');
    $other->do('start');
    $host->do('client begin call echo {"text":"new"}');
    like answered($host, ++$n), qr/new/, 'a restart is waited for';
    $host->do('client free');
    wait_for { $other->do('clients') == 0 } 'its end';
    $other->stop;
    is_deeply $host->holds($before), $before,
        'no descriptor and no thread is left';
    $host->stop;
}

done_testing;
