#!/usr/bin/perl
# Calls of a program's tools: answered later, from threads, with progress;
# cancelled by anyone; and clients that are too many, silent or do not read.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;

sub call {
    my ($client, $id, $name, %more) = @_;
    $client->send_line({
        jsonrpc => '2.0', id => $id, method => 'tools/call',
        params  => { name => $name, %more },
    });
}

sub text { return $_[0]{result}{content}[0]{text} }

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind, max_inflight => 4,
        max_clients => 3, frame_timeout => '1s', send_timeout => '1s');
    $host->do('tool later');
    $host->do('start');
    my $client = $host->connect_to;

    # --- later, from threads ---
    my @told;
    my $message;
    # If all of it comes at once, only the response is reported.
    wait_for {
        call($client, 1, 'later', _meta => { progressToken => 'p' });
        while (($message = $client->recv_json)->{method}) {
            is $message->{params}{progressToken}, 'p', "$kind: progress";
            push @told, $message->{params}{progress};
        }
        return scalar @told;
    } 'a thread to tell how far it is';
    is_deeply \@told, [ sort { $a <=> $b } @told ], 'which rises';
    is text($message), 'from a thread', 'and answers';

    call($client, $_, 'later') for 1 .. 4;
    my %answered = map { $client->recv_json->{id} => 1 } 1 .. 4;
    is join(' ', sort keys %answered), '1 2 3 4', 'many at once';

    # --- too many clients ---
    call($client, $_, 'hang') for 1 .. 4;
    $host->event(qr/^hangs/) for 1 .. 4;
    call($client, 5, 'json');
    $message = $client->recv_json;
    is $message->{id}, 5, 'a call too many gets an error at once';
    like text($message), qr/may have 4 calls running/, 'and why';

    # --- cancelled ---
    $client->notify('notifications/cancelled', { requestId => 2 });
    $host->event(qr/^cancelled/);
    call($client, 6, 'json');
    is $client->recv_json->{id}, 6, 'a cancelled call leaves its place';
    my $other = $host->connect_to;
    call($other, 1, 'hang');
    $host->event(qr/^hangs/);
    $client->close;
    $host->event(qr/^cancelled/) for 1 .. 3;
    is scalar($host->events(qr/^cancelled/)), 0,
        'a client that goes takes its calls along, and no others';
    wait_for { $host->do('clients') == 1 } 'its end';

    # In ipc nothing is read meanwhile, but the close is detected.
    my $ipc = $host->connect_to;
    $ipc->send_ipc({ method => 'call_tool',
        params => { name => 'hang', arguments => {} } });
    $host->event(qr/^hangs/);
    $ipc->close;
    $host->event(qr/^cancelled/);
    pass 'as in ipc';

    # --- half closed clients get their responses ------
    my $half = $host->connect_to;
    call($half, 1, 'later');
    $half->shutdown_write;
    is text($half->recv_json), 'from a thread',
        'who sends no more may still read';
    ok $half->at_eof, 'and is closed then';
    $half = $host->connect_to;
    call($half, 1, 'hang');
    $host->event(qr/^hangs/);
    $half->shutdown_write;
    $half->close;
    $host->event(qr/^cancelled/);
    pass 'or goes after all';

    # --- timeouts ---
    call($other, 2, 'slow');
    $message = $other->recv_json;
    like text($message), qr/^slow: no response within 200 ms/,
        'a call has its time';
    like $host->event(qr/^report .*slow/),
        qr/^report IPCToolExecutionError slow: no response/,
        'the program is notified';
    $host->event(qr/^hangs/);
    $host->event(qr/^cancelled/);

    # --- clients ---
    my @more = map { $host->connect_to } 1, 2;
    wait_for { $host->do('clients') == 3 } 'three clients';
    my $many = $host->connect_to;
    ok $many->at_eof, 'one too many is closed';
    like $host->event(qr/^report .*max_clients/), qr/BlockingIOError/,
        'which is reported';
    $more[0]->send_raw('{"jsonrpc":');
    ok $more[0]->at_eof, 'so is who does not end what it began';
    like $host->event(qr/^report .*frame_timeout/), qr/IPCConnectionError/,
        'likewise';
    $_->close for @more;
    wait_for { $host->do('clients') == 1 } 'one client';

    # A client that does not read delays nobody, and is closed in the end.
    my $deaf = $host->connect_to;
    $host->do('tool ten');
    call($deaf, $_, 'ten') for 1 .. 3;
    $host->event(qr/^report .*send_timeout/);
    pass 'who does not read is closed';
    wait_for { $host->do('clients') == 1 } 'its end';

    # A client that neither sends nor reads is closed, too.
    $deaf = $host->connect_to;
    for (1 .. 3) {
        call($deaf, $_, 'echo', arguments => { text => 'x' x 120_000 });
        $other->rpc('ping');
    }
    $deaf->shutdown_write;
    like $host->event(qr/^report .*client closed/), qr/send_timeout/,
        'who does not read what is left is closed';
    wait_for { $host->do('clients') == 1 } 'its end';

    # --- notifications ---
    my $listener = $host->connect_to;
    $listener->rpc('initialize', {
        protocolVersion => '2025-11-25', capabilities => {},
        clientInfo      => { name => 'x', version => '1' },
    });
    $listener->notify('notifications/initialized');
    my $relay = $host->connect_to;
    $relay->send_line(
        { kind => 'mcp_request', id => 1, method => 'tools/list' });
    $relay->recv_json;
    $listener->rpc('ping');
    is $host->do('notify event.done { "task" : "a" }'), 'ok', 'a notification';
    is_deeply $listener->notification('event.done')->{params}, { task => 'a' },
        'clients are notified';
    is $relay->recv_json->{method}, 'event.done', 'in relay, too';
    is $host->do('notify event.bare'), 'ok', 'one without params';
    ok !exists $listener->notification('event.bare')->{params}, 'has none';
    like $host->fails('notify event.done [1]'), qr/^ValueError .*JSON object/,
        'params are an object';
    like $host->fails('notify event.done {'), qr/^ValueError .*no JSON/,
        'or refused';
    like $host->fails('notify notifications/cancelled'), qr/^ValueError /,
        'a name that is a protocol\'s is refused';

    # --- a late response -----------------
    call($listener, 9, 'later');
    $listener->notify('notifications/cancelled', { requestId => 9 });
    is_deeply $listener->rpc('ping')->{result}, {},
        'a late response does no harm';

    # --- the server stops in its own callback ---
    $_->close for $other, $relay;
    wait_for { $host->do('clients') == 1 } 'the others to go';
    my $stopper = $host->connect_to;
    $stopper->send_line({ jsonrpc => '2.0', id => 1, method => 'host.stop' });
    is_deeply $stopper->recv_json->{result}, { stopping => JSON::PP::true },
        'a method that stops the server is answered';
    ok $stopper->at_eof, 'before it stops';
    like $host->answer, qr/^= ok/, 'which went well';
    wait_for { $host->do('state') == 2 } 'the stop';
    is_deeply [ $host->files ], [], 'nothing is left';
    is $host->do('start'), 'ok', 'it may start again';
    is text($host->connect_to->call_tool('later')), 'from a thread',
        'and serve';
    $host->stop;
}

done_testing;
