package Toolgate::Client;

# One end of a conversation: a socket, or the pipes of a program
# (Toolgate::Process), with bytes, lines and ipc frames. Every wait has a
# deadline, and dies with what was expected and what came instead.

use strict;
use warnings;

use Carp qw(croak);
use Errno qw(EAGAIN EINTR EPIPE ECONNRESET);
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(time);

use Toolgate::Json;

# Only a hanging peer takes longer, however busy the machine is.
our $TIMEOUT = 180;
my @known;

sub connect {
    my ($class, $path) = @_;
    my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path)
        or croak "connect to $path: $!";
    return $class->over($socket, $socket, $path);
}

sub over {
    my ($class, $in, $out, $name) = @_;
    $_->blocking(0) for $in, $out;
    binmode $_ for $in, $out;
    my $self = bless {
        in    => $in,
        out   => $out,
        name  => $name,
        buf   => '',
        eof   => 0,
        id    => 0,
        aside => [],
        said  => [],
    }, $class;
    push @known, { name => $name, said => $self->{said} };
    shift @known if @known > 200;
    return $self;
}

# Remembers the beginnings of recent messages.
sub note {
    my ($self, $how, $from) = @_;
    my $said = $self->{said};
    my $size = length($_[3]) - $from;
    push @$said, [ $how, time, $size, substr $_[3], $from, 200 ];
    shift @$said if @$said > 6;
}

# Returns the conversations of recently active clients, for diagnosis.
sub conversations {
    my @busy = sort { $b->{said}[-1][1] <=> $a->{said}[-1][1] }
        grep { @{ $_->{said} } } @known;
    splice @busy, 8 if @busy > 8;
    return map {
        join "\n", $_->{name}, map {
            my ($how, $when, $size, $text) = @$_;
            $text =~ s/[^ -~]/./g;
            sprintf '  %.3f %s %d bytes: %s', $when, $how, $size, $text;
        } @{ $_->{said} };
    } @busy;
}

sub name { return $_[0]{name} }
sub encode { return Toolgate::Json::encode($_[1]) }
sub decode { return Toolgate::Json::decode($_[1]) }

# Returns the pid of the peer, from the socket's credentials.
sub peer_pid {
    my ($self) = @_;
    my $cred = getsockopt $self->{in}, Socket::SOL_SOCKET(), 17;
    return (unpack 'iII', $cred)[0];
}

sub send_raw {
    my ($self, $bytes, $timeout) = @_;
    croak "$self->{name}: closed here already" if !$self->{out};
    my $deadline = time + ($timeout // $TIMEOUT);
    local $SIG{PIPE} = 'IGNORE';
    my $sent = 0;
    $self->note('sent', 0, $bytes);
    while ($sent < length $bytes) {
        my $n = syswrite $self->{out}, $bytes, 65536, $sent;
        if (defined $n) {
            $sent += $n;
            next;
        }
        next if $! == EINTR;
        croak "$self->{name}: write: $!" if $! != EAGAIN;
        my $left = $deadline - time;
        croak "$self->{name}: took $sent of " . length($bytes) . ' bytes'
            if $left <= 0;
        IO::Select->new($self->{out})->can_write($left);
    }
    return $sent;
}

# Writes without waiting. Returns the number of bytes.
sub send_some {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $sent = 0;
    while ($sent < length $bytes) {
        my $n = syswrite $self->{out}, $bytes, 65536, $sent;
        last if !defined $n && $! != EINTR;
        $sent += $n // 0;
    }
    return $sent;
}

# Takes a string (sent unchanged) or a reference (sent as JSON).
sub send_line {
    my ($self, $message) = @_;
    $message = $self->encode($message) if ref $message;
    return $self->send_raw("$message\n");
}

sub send_ipc {
    my ($self, $message) = @_;
    $message = $self->encode($message) if ref $message;
    return $self->send_raw(pack('N', length $message) . $message);
}

# Reads once. Returns false after the deadline.
sub fill {
    my ($self, $deadline) = @_;
    return 0 if $self->{eof};
    while (1) {
        my $had = length $self->{buf};
        my $n = sysread $self->{in}, $self->{buf}, 262144, $had;
        if ($n) {
            $self->note('got', $had, $self->{buf});
            return 1;
        }
        if (defined $n || $! == ECONNRESET || $! == EPIPE) {
            $self->note('end of file', 0, '');
            $self->{eof} = 1;
            return 0;
        }
        next if $! == EINTR;
        croak "$self->{name}: read: $!" if $! != EAGAIN;
        my $left = $deadline - time;
        return 0 if $left <= 0;
        IO::Select->new($self->{in})->can_read($left);
    }
}

# Reads until $take finds something in the buffer.
sub await {
    my ($self, $what, $timeout, $take) = @_;
    my $deadline = time + ($timeout // $TIMEOUT);
    while (1) {
        my $found = $take->();
        return $found if defined $found;
        next if $self->fill($deadline);
        my $rest = substr $self->{buf}, 0, 200;
        my $why = $self->{eof} ? 'end of file' : 'nothing more';
        croak "$self->{name}: $why while waiting for $what"
            . ($rest eq '' ? '' : ", had '$rest'");
    }
}

sub recv_line {
    my ($self, $timeout) = @_;
    # Continue the search for the newline: large lines come in pieces.
    my $from = 0;
    my $end = index $self->{buf}, "\n";
    $end = $self->await(
        'a line', $timeout,
        sub {
            my $at = index $self->{buf}, "\n", $from;
            $from = length $self->{buf};
            return $at < 0 ? undef : $at;
        }) if $end < 0;
    my $line = substr $self->{buf}, 0, $end + 1, '';
    chop $line;
    return $line;
}

sub recv_json {
    my ($self, $timeout) = @_;
    return shift @{ $self->{aside} } if @{ $self->{aside} };
    return $self->decode($self->recv_line($timeout));
}

sub recv_bytes {
    my ($self, $count, $timeout) = @_;
    return $self->await(
        "$count bytes",
        $timeout,
        sub {
            return if length $self->{buf} < $count;
            return substr $self->{buf}, 0, $count, '';
        });
}

sub recv_ipc {
    my ($self, $timeout) = @_;
    my $size = unpack 'N', $self->recv_bytes(4, $timeout);
    return $self->decode($self->recv_bytes($size, $timeout));
}

# Returns the next message that $wanted accepts; keeps the others in order.
sub recv_where {
    my ($self, $wanted, $timeout, $what) = @_;
    my $deadline = time + ($timeout // $TIMEOUT);
    my $aside = $self->{aside};
    for my $i (0 .. $#$aside) {
        return splice @$aside, $i, 1 if $wanted->($aside->[$i]);
    }
    while (1) {
        my $left = $deadline - time;
        croak "$self->{name}: no " . ($what // 'such message') if $left <= 0;
        my $message = $self->decode($self->recv_line($left));
        return $message if $wanted->($message);
        push @$aside, $message;
    }
}

# Returns the result of a call that must not fail.
sub result_of {
    my ($self, $method, %params) = @_;
    my $reply = $self->rpc($method, \%params);
    die "$method: $reply->{error}{message}\n" if $reply->{error};
    return $reply->{result};
}

# Returns the reply to a JSON-RPC request, whatever else arrives before.
sub rpc {
    my ($self, $method, $params, $timeout) = @_;
    my $id = $self->request($method, $params);
    return $self->reply($id, $timeout);
}

sub request {
    my ($self, $method, $params) = @_;
    my $id = ++$self->{id};
    $self->send_line({
        jsonrpc => '2.0',
        id      => $id,
        method  => $method,
        defined $params ? (params => $params) : (),
    });
    return $id;
}

sub notify {
    my ($self, $method, $params) = @_;
    return $self->send_line({
        jsonrpc => '2.0',
        method  => $method,
        defined $params ? (params => $params) : (),
    });
}

sub reply {
    my ($self, $id, $timeout) = @_;
    return $self->recv_where(
        sub {
            my ($m) = @_;
            return ref $m eq 'HASH' && !exists $m->{method}
                && defined $m->{id} && $m->{id} eq $id;
        },
        $timeout,
        "reply to request $id");
}

sub notification {
    my ($self, $method, $timeout) = @_;
    return $self->recv_where(
        sub {
            my ($m) = @_;
            return ref $m eq 'HASH' && !exists $m->{id}
                && ($m->{method} // '') eq $method;
        },
        $timeout,
        "notification $method");
}

# Returns the names of the listed tools, with blanks between.
sub tool_names {
    my ($self) = @_;
    return join ' ', map { $_->{name} }
        @{ $self->rpc('tools/list')->{result}{tools} };
}

# Calls a tool by MCP. Returns the reply with `result` or `error`.
sub call_tool {
    my ($self, $name, $arguments, $timeout) = @_;
    return $self->rpc('tools/call',
        { name => $name, arguments => $arguments // {} }, $timeout);
}

# Calls a tool by ipc, which has no ids: one call at a time.
sub ipc_call {
    my ($self, $name, $arguments, $timeout) = @_;
    $self->send_ipc({
        method => 'call_tool',
        params => { name => $name, arguments => $arguments // {} },
    });
    return $self->recv_ipc($timeout);
}

# Waits for the peer's close, and checks that nothing unread is left.
sub at_eof {
    my ($self, $timeout) = @_;
    my $deadline = time + ($timeout // $TIMEOUT);
    while (!$self->{eof} && $self->{buf} eq '') {
        last if !$self->fill($deadline);
    }
    return $self->{eof} && $self->{buf} eq '' && !@{ $self->{aside} };
}

# Checks that nothing arrives for some seconds, for "is never answered", after a
# later message was answered.
sub is_silent {
    my ($self, $seconds) = @_;
    return 0 if $self->{buf} ne '' || @{ $self->{aside} };
    my $deadline = time + $seconds;
    return !$self->fill($deadline) && !$self->{eof};
}

sub buffered { return $_[0]{buf} }

sub shutdown_write {
    my ($self) = @_;
    if ($self->{in} == $self->{out}) {
        shutdown $self->{out}, 1;
    } else {
        close $self->{out};
    }
    $self->{out} = undef;
}

sub close {
    my ($self) = @_;
    close $_ for grep { defined && defined fileno $_ } $self->{in},
        $self->{out};
    $self->{in} = $self->{out} = undef;
    $self->{eof} = 1;
}

1;
