#!/usr/bin/perl
# MCP over Streamable HTTP for tests, on 127.0.0.1: a front of mcp.pl, one of
# which it starts for each session, and one for all of the modern era.  Writes
# its port to a file.  It ends when nothing has happened for five minutes
# (idle=SECONDS), or when the process that started it has.
#
#   mcp_http.pl DIR [legacy|modern] [BEHAVIOUR]...  [-- OPTIONS OF mcp.pl]
#
# DIR/port is its port, and DIR/requests has a line of JSON for each request,
# and one with the method GONE for each stream that was closed before its end.
# It is strict: what a client must send and does not is status 400.
#
#   json       answers in JSON where it can, and not in events
#   no_get     has no channel: 405
#   no_id      has no sessions
#   resume     its events have ids, and streams can be resumed
#   poll       the same, and it closes the stream of each call at once
#   says_400   of an unknown session, as some servers do, not 404
#   late       two calls of unknown sessions wait for each other: the first is
#              refused, the second not before a POST to /control/release
#   mute       does not answer notifications/cancelled
#   secret=X   wants "Authorization: Bearer X", else 401
#   raw=FILE   writes this instead of empty contents, byte for byte
#   broken=X   answers calls otherwise: html, cut, empty, huge, redirect
#
# A POST to /control/forget ends all sessions, and no DELETE was said;
# /control/cut ends all streams and connections.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use lib dirname(__FILE__) . '/../lib';
use Toolgate::Json;

my $MODERN = '2026-07-28';
my $VERSION = '2025-06-18';
my $META = 'io.modelcontextprotocol/protocolVersion';
my ($dir, %is, @options);
my $era = 'legacy';
my @held;
my (%conn, %child, %session, %waiting, %stream);
my ($last_id, $nstreams, $nsessions) = (0, 0, 0);

$dir = shift @ARGV;
while (@ARGV) {
    my $arg = shift @ARGV;
    if ($arg eq '--') {
        @options = splice @ARGV;
    } elsif ($arg =~ /^(?:legacy|modern)$/) {
        $era = $arg;
    } else {
        my ($name, $value) = split /=/, $arg, 2;
        $is{$name} = $value // 1;
    }
}
if ($is{raw}) {
    open my $fh, '<', $is{raw} or die "$is{raw}: $!";
    local $/;
    $is{raw} = <$fh>;
}
my $has_ids = $is{resume} || $is{poll};

sub note {
    my ($what) = @_;
    return if $is{silent};
    open my $fh, '>>', "$dir/requests" or die "$dir/requests: $!";
    syswrite $fh, Toolgate::Json::encode($what) . "\n";
    close $fh;
}

# --- what is written

sub put {
    my ($conn, $bytes) = @_;
    return if !$conn || !$conn->{socket};
    $conn->{socket}->blocking(1);
    print { $conn->{socket} } $bytes or drop($conn);
    $conn->{socket}->blocking(0) if $conn->{socket};
}

sub reply {
    my ($conn, $status, $type, $body, @more) = @_;
    put($conn, join "\r\n", "HTTP/1.1 $status Said",
        'Content-Length: ' . length $body,
        (length $type ? "Content-Type: $type" : ()), @more, '', $body);
}

sub refuse {
    my ($conn, $status, $code, $message, $id) = @_;
    my %answer = (jsonrpc => '2.0', id => $id,
        error => { code => $code, message => $message });
    reply($conn, $status, 'application/json', Toolgate::Json::encode(\%answer));
}

# A stream of events, which may be without a connection for a while.
sub open_stream {
    my ($conn, %more) = @_;
    my $stream = { conn => $conn, number => ++$nstreams, events => [], %more };
    $stream{$nstreams} = $stream;
    $conn->{stream} = $stream if $conn;
    return $stream;
}

sub begin_stream {
    my ($stream, @more) = @_;
    $stream->{is_begun} = 1;
    put($stream->{conn}, join "\r\n", 'HTTP/1.1 200 OK',
        'Content-Type: text/event-stream; charset=utf-8',
        'Cache-Control: no-cache', 'Transfer-Encoding: chunked', @more, '', '');
}

sub put_chunk {
    my ($stream, $text) = @_;
    put($stream->{conn}, sprintf("%x\r\n%s\r\n", length $text, $text));
}

sub put_event {
    my ($stream, $data) = @_;
    my $events = $stream->{events};
    push @$events, $data;
    my $id = $has_ids ? "id: $stream->{number}-" . @$events . "\n" : '';
    my $text = "${id}data: $data\n\n";
    $text = ": hello\r\nevent: message\r\n$text" if @$events % 2;
    put_chunk($stream, $text);
}

sub end_stream {
    my ($stream) = @_;
    return if $stream->{is_ended}++;
    if ($stream->{conn}) {
        put($stream->{conn}, "0\r\n\r\n");
        delete $stream->{conn}{stream};
        if (delete $stream->{conn}{is_cut}) { drop($stream->{conn}) }
    }
    delete $stream{ $stream->{number} } if !$has_ids;
}

sub drop {
    my ($conn) = @_;
    my $socket = delete $conn->{socket} or return;
    delete $conn{ fileno $socket };
    my $stream = delete $conn->{stream};
    delete $stream->{conn} if $stream;
    close $socket;
    note({ method => 'GONE', body => '', of => $stream->{of} })
        if $stream && $stream->{of};
    my $post = $stream && $stream->{post};
    to_child($post->{session}, { jsonrpc => '2.0',
        method => 'notifications/cancelled',
        params => { requestId => $post->{listen} } })
        if $post && $post->{listen};
}

# --- the servers behind it

sub start_child {
    my ($how) = @_;
    pipe my $their_in, my $in or die "pipe: $!";
    pipe my $out, my $their_out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN, '<&', $their_in or die;
        open STDOUT, '>&', $their_out or die;
        POSIX::close($_) for 3 .. 200;
        exec $^X, dirname(abs_path($0)) . '/mcp.pl', $how, @options or die;
    }
    close $_ for $their_in, $their_out;
    $in->blocking(0);
    my $child = { pid => $pid, in => $in, out => $out, buffer => '',
        unsent => '' };
    $child{ fileno $out } = $child;
    return $child;
}

sub end_child {
    my ($child) = @_;
    delete $child{ fileno $child->{out} };
    close $child->{in};
    close $child->{out};
    kill KILL => $child->{pid};
    waitpid $child->{pid}, 0;
}

# It may be writing itself, and read nothing before we have read that.
sub to_child {
    my ($session, $message) = @_;
    my $child = $session->{child};
    $child->{unsent} .= Toolgate::Json::encode($message) . "\n";
    flush_child($child);
}

sub flush_child {
    my ($child) = @_;
    my $n = syswrite $child->{in}, $child->{unsent};
    substr $child->{unsent}, 0, $n, '' if $n;
}

sub from_child {
    my ($session, $line) = @_;
    my $message = eval { Toolgate::Json::decode($line) } or return;
    if (!defined $message->{method}) {
        my $post = delete $waiting{ $message->{id} // '' } or return;
        $message->{id} = $post->{id};
        if ($post->{is_hello} && $message->{result}) {
            $session->{is_new} = 0;
        }
        return answer($post, $message);
    }
    my $token = $message->{params}{progressToken}
        // delete $message->{params}{_meta}{of};
    my $to;
    my @posts = grep { $_->{session} == $session } values %waiting;
    if (defined $token) {
        ($to) = grep { ($_->{token} // '') eq $token } @posts;
    } elsif (defined $message->{id}) {
        ($to) = sort { $b->{stream}{number} <=> $a->{stream}{number} } @posts;
    }
    if ($to) {
        begin_stream($to->{stream}) if !$to->{stream}{is_begun};
        return put_event($to->{stream}, Toolgate::Json::encode($message));
    }
    my $channel = $session->{channel};
    if ($era eq 'modern' && $channel) {
        $message->{params}{_meta}
            {'io.modelcontextprotocol/subscriptionId'} = $channel->{id};
        $channel = $channel->{stream};
    }
    put_event($channel, Toolgate::Json::encode($message)) if $channel;
}

sub answer {
    my ($post, $message) = @_;
    my $stream = $post->{stream};
    my @more = $post->{is_hello} && $post->{session}{id}
        ? "Mcp-Session-Id: $post->{session}{id}" : ();
    my $text = Toolgate::Json::encode($message);
    $text =~ s/"contents":\[\]/"contents":$is{raw}/ if $is{raw};
    if ($is{json} && !$stream->{is_begun}) {
        # Some print it for people.
        $text = JSON::PP->new->utf8->canonical->pretty->encode($message);
        reply($stream->{conn}, 200, 'application/json', $text, @more);
        delete $stream->{conn}{stream};
        delete $stream{ $stream->{number} };
        return;
    }
    begin_stream($stream, @more) if !$stream->{is_begun};
    put_event($stream, $text);
    end_stream($stream);
}

# --- requests

my %broken = (
    html     => sub { reply($_[0], 200, 'text/html', '<p>hello') },
    empty    => sub { reply($_[0], 202, '', '') },
    redirect => sub { reply($_[0], 307, '', '', 'Location: /else') },
    cut      => sub {
        my ($conn) = @_;
        begin_stream({ conn => $conn });
        put_chunk({ conn => $conn }, "data: {\"jsonrpc\"");
        drop($conn);
    },
    huge => sub {
        my ($conn) = @_;
        my $stream = { conn => $conn };
        begin_stream($stream);
        put_chunk($stream, 'data: ');
        put_chunk($stream, 'x' x 1048576) for 1 .. 34;
        drop($conn);
    },
);

# Of the modern era: what is wrong with the headers, or undef.
sub modern_mistake {
    my ($request, $message) = @_;
    my $h = $request->{headers};
    return 'version'
        if ($h->{'mcp-protocol-version'} // '') ne $MODERN
        || ($message->{params}{_meta}{$META} // '') ne $MODERN;
    return 'method' if ($h->{'mcp-method'} // '') ne $message->{method};
    return 'name'
        if $message->{method} eq 'tools/call'
        && ($h->{'mcp-name'} // '') ne $message->{params}{name};
    return 'session' if defined $h->{'mcp-session-id'};
    return;
}

sub session_of {
    my ($conn, $request, $message) = @_;
    my $id = $request->{headers}{'mcp-session-id'};
    if (($message->{method} // '') eq 'initialize') {
        my $session = { child => start_child('legacy'), is_new => 1,
            id => $is{no_id} ? undef : "session-$$-" . ++$nsessions };
        $session{ $session->{id} // '' } = $session;
        return $session;
    }
    my $session = $session{ $id // '' };
    if (!$session) {
        my ($status, $what) = defined $id && !$is{says_400}
            ? (404, 'Session not found')
            : (400, 'Bad Request: No valid session ID provided');
        my $refuse = sub { refuse($conn, $status, -32000, $what) };
        if ($is{late} && ($message->{method} // '') eq 'tools/call') {
            push @held, $refuse;
            return if @held != 2;
            $refuse = shift @held;
        }
        $refuse->();
        return;
    }
    if (($request->{headers}{'mcp-protocol-version'} // '') ne $VERSION) {
        refuse($conn, 400, -32000, 'wrong MCP-Protocol-Version');
        return;
    }
    return $session;
}

sub modern_session {
    $session{modern} //= { child => start_child('modern') };
    return $session{modern};
}

sub serve_message {
    my ($conn, $request, $message) = @_;
    my $method = $message->{method} // '';
    my $id = $message->{id};
    my $session;
    if ($era eq 'modern') {
        return refuse($conn, 404, -32601, 'Method not found', $id)
            if $method eq 'initialize';
        my $mistake = modern_mistake($request, $message);
        return refuse($conn, 400, -32020, "bad header: $mistake", $id)
            if $mistake;
        $session = modern_session();
    } else {
        $session = session_of($conn, $request, $message) or return;
        return refuse($conn, 400, -32000, 'not initialized', $id)
            if defined $id && $method !~ /^(?:initialize|)$/
            && !$session->{is_ready};
    }
    if (!defined $id || $method eq '') {
        $session->{is_ready} = 1 if $method eq 'notifications/initialized';
        if ($method eq 'notifications/cancelled') {
            my ($mine) = grep {
                $waiting{$_}{session} == $session
                    && $waiting{$_}{id} eq $message->{params}{requestId}
            } keys %waiting;
            $message->{params}{requestId} = $mine + 0 if $mine;
        }
        to_child($session, $message);
        return if $is{mute} && $method eq 'notifications/cancelled';
        return reply($conn, 202, '', '');
    }
    return $broken{ $is{broken} }->($conn)
        if $is{broken} && $method eq 'tools/call';
    my $post = { session => $session, id => $id,
        token => $message->{params}{_meta}{progressToken},
        is_hello => $method eq 'initialize',
        stream => open_stream($conn, of => $method) };
    $post->{stream}{post} = $post;
    if ($method eq 'subscriptions/listen') {
        begin_stream($post->{stream});
        put_event($post->{stream}, Toolgate::Json::encode({ jsonrpc => '2.0',
            method => 'notifications/subscriptions/acknowledged',
            params => {} }));
        $session->{channel} = $post;
        $post->{listen} = ++$last_id;
        return to_child($session, { %$message, id => $last_id });
    }
    $waiting{ ++$last_id } = $post;
    if ($is{poll} && $method eq 'tools/call') {
        begin_stream($post->{stream});
        put_chunk($post->{stream}, "retry: 50\n");
        put_event($post->{stream}, '');
        my $conn = delete $post->{stream}{conn};
        put($conn, "0\r\n\r\n");
        delete $conn->{stream};
    }
    to_child($session, { %$message, id => $last_id });
}

sub resume {
    my ($conn, $from) = @_;
    my ($number, $n) = $from =~ /^(\d+)-(\d+)$/;
    my $stream = $stream{ $number // '' };
    return refuse($conn, 400, -32000, 'no such event') if !$stream;
    my @missed = @{ $stream->{events} };
    @missed = @missed[ $n .. $#missed ];
    $stream->{conn} = $conn;
    $conn->{stream} = $stream;
    my $is_ended = delete $stream->{is_ended};
    begin_stream($stream);
    $stream->{events} = [ @{ $stream->{events} }[ 0 .. $n - 1 ] ];
    put_event($stream, $_) for @missed;
    end_stream($stream) if $is_ended;
}

sub serve_get {
    my ($conn, $request) = @_;
    return reply($conn, 405, '', '', 'Allow: POST')
        if $is{no_get} || $era eq 'modern';
    my $session = session_of($conn, $request, {}) or return;
    my $from = $request->{headers}{'last-event-id'};
    return resume($conn, $from) if defined $from;
    $session->{channel} = open_stream($conn);
    begin_stream($session->{channel});
    put_chunk($session->{channel}, ": here\n\n");
}

sub serve_delete {
    my ($conn, $request) = @_;
    my $session = session_of($conn, $request, {}) or return;
    forget($session);
    reply($conn, 200, '', '');
}

sub forget {
    my ($session) = @_;
    delete $session{ $_ } for grep { $session{$_} == $session } keys %session;
    end_child($session->{child});
    delete $waiting{$_}
        for grep { $waiting{$_}{session} == $session } keys %waiting;
}

sub control {
    my ($conn, $what) = @_;
    if ($what eq 'forget') {
        forget($_) for values %session;
    }
    if ($what eq 'release') {
        $_->() for splice @held;
        return reply($conn, 200, 'text/plain', scalar keys %session);
    }
    my @others = grep { $_ != $conn } values %conn;
    if ($what ne 'sessions') {
        drop($_) for @others;
    }
    reply($conn, 200, 'text/plain', scalar keys %session);
}

sub serve {
    my ($conn, $request) = @_;
    my $h = $request->{headers};
    return control($conn, $1) if $request->{path} =~ m{^/control/(\w+)};
    note($request);
    return reply($conn, 401, 'text/plain',
        'who are you, ' . ($h->{authorization} // 'nobody') . '?')
        if defined $is{secret}
        && ($h->{authorization} // '') ne "Bearer $is{secret}";
    return serve_get($conn, $request) if $request->{method} eq 'GET';
    return serve_delete($conn, $request) if $request->{method} eq 'DELETE';
    my $accept = $h->{accept} // '';
    return refuse($conn, 406, -32000, 'Not Acceptable')
        if $accept !~ m{application/json} || $accept !~ m{text/event-stream};
    return refuse($conn, 415, -32000, 'Unsupported Media Type')
        if ($h->{'content-type'} // '') ne 'application/json';
    my $message = eval { Toolgate::Json::decode($request->{body}) }
        or return refuse($conn, 400, -32700, 'Parse error');
    serve_message($conn, $request, $message);
}

# Takes one whole request from what was read.
sub take_request {
    my ($conn) = @_;
    $conn->{in} =~ /\A(.*?)\r\n\r\n/s or return;
    my ($head, $at, %request) = ($1, $+[0]);
    my ($first, @lines) = split /\r\n/, $head;
    @request{qw(method path)} = split / /, $first;
    for (@lines) {
        my ($name, $value) = split /: ?/, $_, 2;
        $request{headers}{ lc $name } = $value;
    }
    my $length = $request{headers}{'content-length'} // 0;
    return if length $conn->{in} < $at + $length;
    $request{body} = substr $conn->{in}, $at, $length;
    $conn->{in} = substr $conn->{in}, $at + $length;
    return \%request;
}

# --- all of it

$SIG{PIPE} = 'IGNORE';
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
    LocalPort => $is{port} // 0, Listen => 128, ReuseAddr => 1)
    or die "listen: $!";
open my $fh, '>', "$dir/port.new" or die "$dir/port: $!";
print {$fh} $listener->sockport;
close $fh;
rename "$dir/port.new", "$dir/port" or die "$dir/port: $!";
my $parent = getppid;
my $idle = time;
while (getppid == $parent && time - $idle < ($is{idle} // 300)) {
    my $select = IO::Select->new($listener, (map { $_->{socket} } values %conn),
        map { $_->{out} } values %child);
    my @unsent = grep { length $_->{unsent} } values %child;
    my $writes = IO::Select->new(map { $_->{in} } @unsent);
    my ($can_read) = IO::Select->select($select, $writes, undef, 1);
    flush_child($_) for @unsent;
    for my $handle (@{ $can_read // [] }) {
        $idle = time;
        if ($handle == $listener) {
            my $socket = $listener->accept or next;
            $socket->autoflush(1);
            $socket->blocking(0);
            setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
            $conn{ fileno $socket } = { socket => $socket, in => '' };
            next;
        }
        my $fd = fileno $handle;
        next if !defined $fd;
        if (my $conn = $conn{$fd}) {
            my $n = sysread $handle, $conn->{in}, 65536, length $conn->{in};
            next if !defined $n && $!{EAGAIN};
            if (!$n) { drop($conn); next }
            while ($conn->{socket} and my $request = take_request($conn)) {
                serve($conn, $request);
            }
        } elsif (my $child = $child{$fd}) {
            my ($session) = grep { $_->{child} == $child } values %session;
            if (!sysread $handle, $child->{buffer}, 65536,
                length $child->{buffer})
            {
                $session ? forget($session) : end_child($child);
                next;
            }
            while ($session && $child->{buffer} =~ s/^([^\n]*)\n//) {
                from_child($session, $1);
            }
        }
    }
}
end_child($_) for values %child;
