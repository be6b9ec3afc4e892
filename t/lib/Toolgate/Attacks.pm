package Toolgate::Attacks;

# Hostile clients: functions of a socket's path and options that die if an
# answer violates the dialect's contract. The tools are those of
# Toolgate::Hostile.

use strict;
use warnings;

use Errno qw(EPIPE ECONNRESET);
use IO::Socket::UNIX ();

use Toolgate::Client;

my @dialects = qw(jsonrpc relay ipc);
# With constants, perl would make the large messages when it compiles this.
my ($MB, $MIB) = (1_000_000, 1 << 20);

sub client { return Toolgate::Client->connect($_[0]) }

# --- content of messages --------------------------------------------------

# Returns a tool call as bytes; arguments are JSON.
sub call_of {
    my ($dialect, $id, $name, $arguments) = @_;
    my $params = qq("params":{"name":"$name","arguments":$arguments});
    return pack 'N/a', qq({"method":"call_tool",$params})
        if $dialect eq 'ipc';
    my $kind = $dialect eq 'relay' ? '"kind":"mcp_request"'
        : '"jsonrpc":"2.0"';
    return qq({$kind,"id":$id,"method":"tools/call",$params}\n);
}

# Returns the text of an answer, after a check of its id, if it has one.
sub answer {
    my ($client, $dialect) = @_;
    if ($dialect eq 'ipc') {
        my $reply = $client->recv_ipc;
        return ref $reply->{result} ? $client->encode($reply->{result})
            : $reply->{result} // $client->encode($reply);
    }
    my $reply = $client->recv_json;
    return $client->encode($reply) if !ref $reply->{result};
    return "$reply->{id} " . ($reply->{result}{content}[0]{text} // '');
}

sub is_text {
    my ($got, $wanted, $what) = @_;
    $got =~ /\Q$wanted\E/
        or die "$what: got " . substr($got, 0, 300) . ", not $wanted\n";
}

# Makes one call, to check that the connection still works.
sub check {
    my ($client, $dialect, $what) = @_;
    my $text = 'fine' . int rand 1e9;
    $client->send_raw(call_of($dialect, 77, 'echo', qq({"text":"$text"})));
    is_text(answer($client, $dialect), $text, $what);
}

# Expects an error and the end of the connection.
sub is_ended {
    my ($client, $wanted, $what) = @_;
    my $reply = $client->encode($client->recv_ipc);
    is_text($reply, $wanted, $what);
    die "$what: not closed\n" if !$client->at_eof;
}

# Sends bytes during which the server may close.
sub send_to_end {
    my ($client, $bytes) = @_;
    eval { $client->send_raw($bytes); 1 }
        or $@ =~ /Broken pipe|Connection reset/ or die $@;
}

# --- the attacks ----------------------------------------------------------

# Many clients that send byte by byte; pace: seconds between two bytes.
sub trickle {
    my ($path, %option) = @_;
    my @all = map {
        my $dialect = $dialects[ $_ % 3 ];
        {
            client  => client($path),
            dialect => $dialect,
            bytes   => call_of($dialect, $_, 'echo', qq({"text":"t$_"})),
            text    => "t$_",
        }
    } 1 .. $option{connections};
    $option{say}->('connected');
    my $at = 0;
    while (my @left = grep { $at < length $_->{bytes} } @all) {
        for my $one (@left) {
            my $n = syswrite $one->{client}{out}, $one->{bytes}, 1, $at;
            die "a byte was refused: $!\n" if !$n;
        }
        $at++;
        select undef, undef, undef, $option{pace} if $option{pace};
    }
    for my $one (@all) {
        is_text(answer($one->{client}, $one->{dialect}), $one->{text},
            "$one->{dialect}, a byte at a time");
    }
}

# Calls with large answers that are not read, until the server closes.
sub deaf {
    my ($path, %option) = @_;
    my @all = map {
        my $dialect = $dialects[ $_ % 3 ];
        {
            client => client($path),
            bytes  => call_of($dialect, 1, 'echo',
                '{"text":"' . 'x' x 50_000 . '"}'),
            left => '',
        }
    } 1 .. $option{connections};
    while (@all) {
        my @still;
        for my $one (@all) {
            $one->{left} = $one->{bytes} if $one->{left} eq '';
            my $n = syswrite $one->{client}{out}, $one->{left};
            if ($n) {
                substr $one->{left}, 0, $n, '';
            } elsif (!$!{EAGAIN} && !$!{EINTR}) {
                next if $!{EPIPE} || $!{ECONNRESET};
                die "deaf: $!\n";
            }
            push @still, $one;
        }
        @all = @still;
        select undef, undef, undef, 0.01;
    }
}

# Sends requests and shuts down writing: all are answered before the end.
sub half {
    my ($path, %option) = @_;
    for my $round (1 .. $option{rounds}) {
        my $dialect = $dialects[ $round % 3 ];
        my $client = client($path);
        my $count = 1 + int rand 20;
        $client->send_raw(join '', map {
            call_of($dialect, $_, $_ % 8 ? 'echo' : 'run',
                qq({"text":"half$_."}))
        } 1 .. $count);
        $client->shutdown_write;
        my %left = map { $_ => 1 } 1 .. $count;
        for (1 .. $count) {
            my ($n) = answer($client, $dialect) =~ /half(\d+)\./
                or die "$dialect, half closed: no answer\n";
            delete $left{$n} or die "$dialect: $n was answered twice\n";
        }
        die "$dialect, half closed: no end\n" if !$client->at_eof;
    }
}

sub noise {
    my ($size) = @_;
    return 'x' . join '', map { chr(11 + int rand 245) } 1 .. $size;
}

sub garbage {
    my ($path, %option) = @_;
    for my $round (1 .. $option{rounds}) {
        my $size = int rand($round % 50 ? 300 : 300_000);
        my $client = client($path);
        $client->send_raw(noise($size) . "\n");
        is_text($client->encode($client->recv_json), '-32700', 'garbage');
        check($client, 'jsonrpc', 'after garbage');

        $client = client($path);
        check($client, 'relay', 'before garbage');
        $client->send_raw(noise($size) . "\n");
        check($client, 'relay', 'relay, after garbage');

        $client = client($path);
        send_to_end($client, pack 'N/a', noise($size));
        is_ended($client, 'IPCError', 'ipc, garbage');

        $client = client($path);
        send_to_end($client, "\0\xff\xff\xff" . noise($size));
        is_ended($client, 'IPCMessageSizeError', 'ipc, a senseless length');
    }
}

# Sends as many brackets as a message may have.
sub deep {
    my ($path, %option) = @_;
    for (1 .. $option{rounds}) {
        my $client = client($path);
        $client->send_raw('[' x (10 * $MIB - 1) . "\n");
        is_text($client->encode($client->recv_json), '-32600', 'deep');
        check($client, 'jsonrpc', 'after the brackets');

        $client = client($path);
        check($client, 'relay', 'before the brackets');
        $client->send_raw('[' x ($MIB - 1) . "\n");
        check($client, 'relay', 'relay, after the brackets');

        $client = client($path);
        send_to_end($client, pack('N', 10 * $MIB) . '[' x (10 * $MIB));
        is_ended($client, 'IPCError', 'ipc, deep');
    }
}

# Sends objects with a million members, wherever an object is allowed.
sub keys {
    my ($path, %option) = @_;
    my $million = '"0":1';
    $million .= sprintf ',"%05x":1', $_ for 2 .. 1_000_000;
    for (1 .. $option{rounds}) {
        my $client = client($path);
        for my $dialect ('jsonrpc', 'ipc') {
            $client = client($path);
            $client->send_raw(
                call_of($dialect, 1, 'echo', qq({"text":"all",$million})));
            is_text(answer($client, $dialect), 'all', "$dialect, keys");
            $client->send_raw(call_of($dialect, 2, 'strict', "{$million}"));
            # The error names one unknown key, not a million.
            my $text = answer($client, $dialect);
            is_text($text, 'text', "$dialect, keys that do not fit");
            die "$dialect: an answer of " . length($text) . " bytes\n"
                if length $text > 10_000;
            check($client, $dialect, 'after the keys');
        }
        $client = client($path);
        $client->send_raw(
            qq({"jsonrpc":"2.0","id":5,"method":"ping",$million}\n));
        is_text($client->encode($client->recv_json), '"result":{"pong"',
            'an envelope with a million keys');
        $client->send_raw('{"jsonrpc":"2.0","id":5,"method":"ping"'
                . ',"id":5' x $MB . "}\n");
        is_text($client->encode($client->recv_json), 'duplicated',
            'an id a million times');
        check($client, 'jsonrpc', 'after all keys');
    }
}

# Sends ids, tokens and names of a megabyte.
sub ids {
    my ($path, %option) = @_;
    my $long = 'i' x $MB;
    my $digits = '7' x $MB;
    for (1 .. $option{rounds}) {
        my $client = client($path);
        for my $id (qq("$long"), $digits) {
            $client->send_raw(qq({"jsonrpc":"2.0","id":$id,"method":"ping"}\n));
            my $reply = $client->recv_line;
            is_text($reply, '-32600', 'a long id');
            die "a long id came back\n" if length $reply > 1000;
        }
        $client->send_raw(qq({"jsonrpc":"2.0","id":1,"method":"tools/call",)
                . qq("params":{"name":"echo","arguments":{"text":"a"},)
                . qq("_meta":{"progressToken":"$long"}}}\n));
        is_text($client->recv_line, '-32602', 'a long token');
        $client->send_raw(call_of('jsonrpc', 2, $long, '{}'));
        my $reply = $client->recv_line;
        is_text($reply, '-32602', 'a long name');
        die "a long name came back\n" if length $reply > 1000;
        $client->send_raw(qq({"jsonrpc":"2.0","id":3,"method":"$long"}\n));
        $reply = $client->recv_line;
        is_text($reply, '-32601', 'a long method');
        die "a long method came back\n" if length $reply > 1000;
        $client->send_raw(qq({"jsonrpc":"2.0","method":)
                . '"notifications/cancelled","params":{"requestId":'
                . qq("$long"}}\n));
        check($client, 'jsonrpc', 'after long ids');

        $client = client($path);
        check($client, 'relay', 'before long ids');
        $client->send_raw(call_of('relay', qq("$long"), 'echo', '{}'));
        check($client, 'relay', 'relay, after long ids');
    }
}

# Opens and closes connections, with and without sending.
sub churn {
    my ($path, %option) = @_;
    for my $round (1 .. $option{rounds}) {
        my $socket = IO::Socket::UNIX->new(Peer => $path)
            or die "connect: $!\n";
        my $dialect = $dialects[ $round % 3 ];
        my $bytes = call_of($dialect, 1, 'echo', '{"text":"a"}');
        my $kind = $round % 5;
        syswrite $socket, $kind == 1 ? substr $bytes, 0, rand length $bytes
            : $bytes
            if $kind;
        shutdown $socket, $kind - 2 if $kind >= 2;
        close $socket;
        check(client($path), $dialect, 'a client that is new')
            if $round % 50 == 0;
    }
}

# Opens and holds connections until none is left, or `most`.
sub exhaust {
    my ($path, %option) = @_;
    my @all;
    while (1) {
        die "no end after " . @all . " connections\n" if @all > 20_000;
        my $client = client($path);
        push @all, $client;
        last if $option{most} && @all == $option{most};
        # A rejected connection is closed without a message.
        last if !can_talk($client) && !$option{most};
    }
    $option{say}->('full ' . @all);
    $option{wait}->();
}

# Returns 1 if the connection is served, 0 if it is closed.
sub can_talk {
    my ($client) = @_;
    return eval {
        $client->send_line('{"jsonrpc":"2.0","id":1,"method":"ping"}');
        $client->recv_json;
        1;
    };
}

# Sends beginnings of large frames, as many as the server keeps.
sub hoard {
    my ($path, %option) = @_;
    my $part = '{"jsonrpc":"2.0","id":1,"method":"' . 'x' x (9 * $MB);
    my @all = map { client($path) } 1 .. $option{connections};
    for my $client (@all) {
        send_to_end($client, $part);
    }
    $option{say}->('sent');
    $option{wait}->();
    # Some were closed; the others still work.
    my ($closed, $open) = (0, 0);
    for my $client (@all) {
        if (!eval { $client->send_raw(qq("}\n)); 1 }) {
            $closed++;
            next;
        }
        my $line = eval { $client->recv_line };
        defined $line ? $open++ : $closed++;
        is_text($line, '-32601', 'a frame of 9 MB') if defined $line;
    }
    $option{say}->("closed $closed open $open");
}

# Sends as many calls as the socket takes; each is answered once.
sub flood {
    my ($path, %option) = @_;
    my $client = client($path);
    my ($sent, $got) = (0, 0);
    my $batch = 200;
    while ($got < $option{calls}) {
        while ($sent < $option{calls} && $sent - $got < 5 * $batch) {
            $client->send_raw(join '', map {
                call_of('jsonrpc', $sent + $_, 'echo', '{"text":"flood"}')
            } 1 .. $batch);
            $sent += $batch;
        }
        for (1 .. $batch) {
            my $line = $client->recv_line;
            $got++;
            is_text($line, qq("id":$got,), 'a flood');
        }
    }
}

# Attacks nobody, to measure the cost of the attacker's CPU time.
sub spin {
    1 while 1;
}

# Sends bytes repeatedly, each with some answers of any kind.
sub repeat {
    my ($path, %option) = @_;
    my $client = client($path);
    # This version of MCP has batches.
    $client->rpc(
        'initialize', {
            protocolVersion => '2025-03-26',
            capabilities    => {},
            clientInfo      => { name => 'repeat', version => '1' }
        });
    for (1 .. $option{rounds}) {
        $client->send_raw($option{bytes});
        $client->recv_line for 1 .. $option{answers};
        $option{say}->('answered');
    }
}

1;
