#!/usr/bin/perl
# Calls to a backend: many at once, cancelled, with progress; backends that end,
# do not exist, or send messages without a request.

use strict;
use warnings;

use Toolgate::Test qw(Backend Parent Way);

my $tg = Toolgate::Test->new(workers => 1);
$tg->allow_log(qr/its connection with \d+ calls? in/, qr/no connection to/);
my %backend = map { $_->protocol => $_ } Toolgate::Backend->all($tg);

sub body {
    my ($n) = @_;
    return "method now { return $n; }\n" . join '',
        map { "tool $_ { description x; timeout 600s; "
            . $backend{$_}->pass . "}\n"
            . "tool short_$_ { description x; timeout 100ms; "
            . $backend{$_}->pass("name=$_") . "}\n" } sort keys %backend;
}
$tg->conf(body(1))->start;
my $client = $tg->connect;

sub start {
    my ($protocol, %arguments) = @_;
    return $client->request('tools/call',
        { name => $protocol, arguments => \%arguments });
}

sub said {
    my ($id) = @_;
    my $reply = $client->reply($id);
    return $reply->{error} ? $reply->{error}{message} : text_of($reply);
}

# --- dialects with ids: one connection, in any order ------------------------

for my $protocol (qw(jsonrpc relay mcp)) {
    my $backend = $backend{$protocol};
    my @ids = map { start($protocol, n => $_) } 0 .. 9;
    my @requests = map { $backend->heard } @ids;
    ok !$backend->parent->is_called(0), "$protocol: one connection";
    is join(' ', map { $_->{params}{arguments}{n} } @requests),
        join(' ', 0 .. 9), "$protocol: in order";
    $backend->text($requests[$_], "r$_") for reverse 0 .. 9;
    is said($ids[$_]), "r$_", "$protocol: its own answer" for 0 .. 9;

    # Messages without a request.
    my $from = $tg->log_size;
    my $conn = $backend->conn;
    $backend->text({ conn => $conn, id => $_ }, 'what?')
        for 999_999, $requests[0]{id};
    $tg->wait_log(qr/\Q$protocol\E: response without a match/, $from);
    $conn->send_line('{"method":') if $protocol ne 'mcp';
    $backend->notify($conn, 'notifications/progress',
        { progressToken => $_, progress => 1 })
        for 1, 999_999, 'x';

    # One is cancelled; its late response is dropped.
    @ids = map { start($protocol, n => $_) } 0 .. 1;
    @requests = map { $backend->heard } @ids;
    $client->notify('notifications/cancelled', { requestId => $ids[0] });
    if ($protocol ne 'relay') {
        my $cancel = $conn->notification('notifications/cancelled');
        is $cancel->{params}{requestId}, $requests[0]{id},
            "$protocol: the backend receives the id";
    } else {
        is_deeply $client->rpc('ping')->{result}, {}, 'it is read';
    }
    $from = $tg->log_size;
    $backend->text($requests[0], 'late');
    $tg->wait_log(qr/\Q$protocol\E: response without a match/, $from);
    $backend->text($requests[1], 'other');
    is said($ids[1]), 'other', "$protocol: the other call continues";

    # Progress, for those that request it.
    my $other = $tg->connect;
    my $mine = $client->request('tools/call',
        { name => $protocol, _meta => { progressToken => 'mine' } });
    my $request = $backend->heard;
    my $its = $other->request('tools/call',
        { name => $protocol, _meta => { progressToken => 'mine' } });
    my $second = $backend->heard;
    isnt $request->{params}{_meta}{progressToken},
        $second->{params}{_meta}{progressToken}, "$protocol: tokens of its own";
    $backend->progress($second, progress => 5, message => "h\xe4lf");
    is_deeply $other->notification('notifications/progress')->{params},
        { progressToken => 'mine', progress => 5, message => "h\xe4lf" },
        "$protocol: progress";
    $backend->text($request, 'a');
    is said($mine), 'a', "$protocol: of the right call only";
    $backend->text($second, 'b');
    is text_of($other->reply($its)), 'b', "$protocol: and the other's answer";
    $other->close;
}

# --- dialects without ids: one call per connection --------------------------

{
    my $backend = $backend{ipc};
    my @ids = map { start('ipc', n => $_) } 0 .. 8;
    my @requests = map { $backend->accept; $backend->heard } 1 .. 8;
    ok !$backend->parent->is_called(0.05), 'eight connections';
    $backend->text($requests[3], 'first');
    my %n = map { $_->{params}{arguments}{n} => 1 } @requests;
    is join(' ', sort keys %n), join(' ', 0 .. 7), 'in the order of arrival';
    is said($ids[ $requests[3]{params}{arguments}{n} ]), 'first', 'one ends';
    my $ninth = $requests[3]{conn}->recv_ipc;
    is $ninth->{params}{arguments}{n}, 8, 'then the ninth runs';
    $backend->text({ conn => $requests[3]{conn} }, 'ninth');
    is said($ids[8]), 'ninth', 'and is answered';

    # Cancelled: there is no other way to notify the backend.
    my ($gone, @rest) = grep { $_ != $requests[3] } @requests;
    $client->notify('notifications/cancelled',
        { requestId => $ids[ $gone->{params}{arguments}{n} ] });
    ok $gone->{conn}->at_eof, 'a cancelled call ends its connection';
    $backend->text($_, 'rest') for @rest;
    is said($ids[ $_->{params}{arguments}{n} ]), 'rest', 'the others go on'
        for @rest;
    delete($backend->{conn})->close;
}

# --- a backend that ends ----------------------------------------------------

for my $protocol (sort keys %backend) {
    my $backend = $backend{$protocol};
    my $id = start($protocol);
    # Those of ipc were left above.
    $backend->accept if $protocol eq 'ipc';
    my $request = $backend->heard;
    my $left = start($protocol);
    $backend->accept if $protocol eq 'ipc';
    $_->{conn}->close for $request, $backend->heard;
    like said($_), qr/^$protocol: the connection .* may have been executed/,
        "$protocol: lost while it ran"
        for $id, $left;

    # The connection was kept, ended while idle, and is opened again. Some
    # backends answer notifications as well: ours, which begins each connection.
    $id = start($protocol);
    $backend->accept;
    $request = $backend->heard;
    $backend->conn->send_line({ jsonrpc => '2.0', id => undef,
        error => { code => -32601, message => 'Method not found' } })
        if $protocol =~ /^(?:jsonrpc|mcp)$/;
    $backend->text($request, 'again');
    is said($id), 'again', "$protocol: another connection";
    $backend->conn->close;
    $id = start($protocol);
    $backend->accept;
    $backend->text($backend->heard, 'and again');
    is said($id), 'and again', "$protocol: and another one";

    # Nobody listens.
    $backend->parent->close;
    $backend->conn->close;
    for (1 .. 3) {
        like said(start($protocol)),
            qr/^$protocol: no backend of .* \(No such file.*not started/,
            "$protocol: no backend";
    }
    $backend->parent->listen;
    $id = start($protocol);
    $backend->accept;
    $backend->text($backend->heard, 'back');
    is said($id), 'back', "$protocol: it is back";

    # It does not answer in time: that call fails, the next one has another
    # connection.
    $id = start("short_$protocol");
    $request = $backend->heard;
    like said($id), qr/^There was no answer within 100 ms/,
        "$protocol: too late";
    $id = start($protocol);
    $backend->accept;
    $backend->text($backend->heard, 'there');
    is said($id), 'there', "$protocol: a connection that is dead is left";
}

# --- handshakes that fail ---------------------------------------------------

{
    my $backend = $backend{mcp};
    $backend->conn->close;
    my @ids = map { start('mcp') } 1 .. 3;
    my $conn = $backend->parent->accept;
    Toolgate::Parent::refuse($conn,
        Toolgate::Parent::request($conn, 'server/discover'), -32601, 'no');
    Toolgate::Parent::refuse($conn,
        Toolgate::Parent::request($conn, 'initialize'), -32000, 'not "you"');
    like said($_), qr/^mcp: no backend .*handshake failed: not .*not started/,
        'who refuses the handshake is not there'
        for @ids;
    $tg->allow_log(qr/handshake failed/);
    ok $conn->at_eof, 'and is left';

    # One that ends as what it hears first is no greeting.
    my $id = start('mcp');
    $conn = $backend->parent->accept;
    Toolgate::Parent::request($conn, 'server/discover');
    $conn->close;
    $conn = $backend->parent->accept;
    Toolgate::Parent::give($conn, 'initialize', {
        protocolVersion => '2025-06-18',
        capabilities    => {},
        serverInfo      => { name => 'strict', version => '1' },
    });
    $conn->notification('notifications/initialized');
    $backend->{conn} = $conn;
    $backend->text($backend->heard, 'greeted');
    is said($id), 'greeted', 'who wants to be greeted first, is';
    $conn->close;
    $id = start('mcp');
    $conn = $backend->parent->accept;
    Toolgate::Parent::refuse($conn,
        Toolgate::Parent::request($conn, 'initialize'), -32000, 'no more');
    like said($id), qr/handshake failed: no more/, 'and again, until it fails';

    # A modern server has none.
    $id = start('mcp');
    $conn = $backend->parent->accept;
    Toolgate::Parent::give($conn, 'server/discover', {
        supportedVersions => ['2026-07-28'],
        capabilities      => { tools => { listChanged => \1 } },
    });
    my $request = Toolgate::Parent::request($conn, 'tools/call');
    is $request->{params}{_meta}{'io.modelcontextprotocol/protocolVersion'},
        '2026-07-28', 'calls say their version';
    $backend->{conn} = $conn;
    $backend->text({ %$request, conn => $conn }, 'modern');
    is said($id), 'modern', 'a modern server';
}

# --- a reload during all of that --------------------------------------------

for my $protocol (sort keys %backend) {
    my $backend = $backend{$protocol};
    my $way = Toolgate::Way->new('legacy', $tg->connect);
    my $relay = Toolgate::Way->new('relay', $tg->connect);
    delete $backend->{conn};
    my $call = $way->start($protocol, { n => 1 },
        _meta => { progressToken => 't' });
    my $first = $backend->heard;
    my $other = $relay->start($protocol, { n => 2 });
    $backend->accept if $protocol eq 'ipc';
    my $second = $backend->heard;
    my $n = 1 + $client->rpc('now')->{result};
    $tg->reload(body($n));
    for ($client, $way->client) {
        wait_for { $_->rpc('now')->{result} == $n } 'the session to move';
    }
    if ($protocol ne 'ipc') {
        $backend->progress($first, progress => 1);
        is $way->client->notification('notifications/progress')
            ->{params}{progressToken}, 't', "$protocol: progress comes along";
    }
    $backend->text($first, 'moved');
    is $way->finish($call)->{text}, 'moved', "$protocol: and the answer";
    $relay->client->close;
    if ($protocol eq 'ipc') {
        ok $second->{conn}->at_eof, "$protocol: who goes ends its call";
    } elsif ($protocol ne 'relay') {
        is $second->{conn}->notification('notifications/cancelled')
            ->{params}{requestId}, $second->{id},
            "$protocol: who goes ends its call";
    }
    ok Toolgate::Parent::is_left($first->{conn}),
        "$protocol: the old worker leaves";
    delete $backend->{conn};
    if ($protocol ne 'ipc') {
        $call = $way->start($protocol);
        $backend->text($backend->heard, 'new');
        is $way->finish($call)->{text}, 'new', "$protocol: the new one";
    }
}

# During MCP's handshake, for which a call waits.
for my $way (Toolgate::Way->all($tg)) {
    my $name = $way->name;
    my $n = 1 + $client->rpc('now')->{result};
    $tg->reload(body($n));
    wait_for { $client->rpc('now')->{result} == $n } 'a worker without lines';
    my $backend = $backend{mcp};
    my $call = $way->start('mcp');
    my $conn = $backend->parent->accept;
    my $discover = Toolgate::Parent::request($conn, 'server/discover');
    $tg->reload(body($n + 1));
    wait_for { $client->rpc('now')->{result} == $n + 1 } 'its session to move';
    Toolgate::Parent::refuse($conn, $discover, -32601, 'what?');
    $backend->greet($conn);
    $backend->text($backend->heard, 'greeted');
    is $way->finish($call)->{text}, 'greeted',
        "$name: a reload in the handshake";
}

# Its session has moved; the runner does not read the response at once.
for my $way (Toolgate::Way->all($tg)) {
    my $name = $way->name;
    my $n = 1 + $client->rpc('now')->{result};
    my $backend = $backend{jsonrpc};
    my $call = $way->start('jsonrpc');
    $backend->accept;
    my $request = $backend->heard;
    $tg->reload(body($n));
    wait_for { $client->rpc('now')->{result} == $n } 'its session to move';
    $backend->text($request, 'x' x 900_000);
    is length $way->finish($call)->{text}, 900_000,
        "$name: a large answer in a worker that exits";
}

done_testing;
