package Toolgate::Tongue;

# A raw client that never reconnects, in any dialect and both eras of MCP, with
# one interface. It never waits: it sends when the socket accepts data, in
# pieces of any size, and returns input as events:
#
#   [sent => KEY]               the last byte of a request was sent
#   [answer => KEY, TEXT]       its answer
#   [unknown => KEY]            its answer: there is no such tool
#   [failed => KEY, WHY]        its answer: another failure
#   [list => KEY, NAMES]        the answer to list(): an array of names
#   [progress => KEY, NUMBER]   of a call that requested it
#   [told => KEY]               a broadcast, of a call with that key
#   [changed]                   the list of tools has changed
#   [ready]                     the handshake was answered
#   [strange => BYTES]          anything else, which is a fault
#   [end => WHY]                the connection is lost, which is a fault
#
# Keys name requests: NAME.1, NAME.2 … for a client NAME.

use strict;
use warnings;

use Carp qw(croak);
use Errno qw(EAGAIN EINTR);
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);

use Toolgate::Json;

our @KINDS = qw(ipc rpc legacy modern relay);

my $io = 'io.modelcontextprotocol';
my $meta = qq("$io/protocolVersion":"2026-07-28",)
    . qq("$io/clientCapabilities":{});
my %head = (
    relay => '{"kind":"mcp_request",',
    map { $_ => '{"jsonrpc":"2.0",' } qw(rpc legacy modern),
);

sub new {
    my ($class, $kind, $name, $path) = @_;
    my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path)
        or croak "connect to $path: $!";
    $socket->blocking(0);
    binmode $socket;
    my $self = bless {
        kind   => $kind,
        name   => $name,
        socket => $socket,
        in     => '',
        seen   => 0,     # of `in`: without a newline
        out    => [],    # [bytes, keys whose last byte is in them]
        done   => 0,     # of the first of `out`
        serial => 0,
        turn   => [],    # keys in the order of their answers, in ipc
        ready  => 1,
    }, $class;
    $self->greet;
    return $self;
}

sub kind { return $_[0]{kind} }
sub name { return $_[0]{name} }
sub socket { return $_[0]{socket} }
sub is_ready { return $_[0]{ready} }
sub wants_to_send { return scalar @{ $_[0]{out} } }
sub can_cancel { return $_[0]{kind} =~ /^(?:rpc|legacy|modern)$/ }
sub can_progress { return $_[0]{kind} =~ /^(?:legacy|modern|relay)$/ }
sub can_list { return $_[0]{kind} =~ /^(?:legacy|modern|relay)$/ }
sub can_batch { return $_[0]{kind} eq 'rpc' }

# The largest frame, without its envelope around an argument.
sub room {
    return ($_[0]{kind} eq 'relay' ? 1 << 20 : 10 << 20) - 1024;
}

sub close { close $_[0]{socket} }

# Describes the running requests for people.
sub state {
    my ($self) = @_;
    return ($self->{ready} ? '' : 'not ready, ')
        . scalar(@{ $self->{out} }) . " to send, $self->{done} bytes sent, "
        . length($self->{in}) . ' bytes heard';
}

# --- output ---------------------------------------------------------------

sub greet {
    my ($self) = @_;
    if ($self->{kind} eq 'legacy') {
        $self->say(qq($head{legacy}"id":"hello","method":"initialize",)
            . '"params":{"protocolVersion":"2025-11-25","capabilities":{},'
            . '"clientInfo":{"name":"tongue","version":"1"}}}');
        $self->say(qq($head{legacy}"method":"notifications/initialized"}));
        $self->{ready} = 0;
    } elsif ($self->{kind} eq 'modern') {
        $self->say(qq($head{modern}"id":"hello",)
            . '"method":"subscriptions/listen","params":{"notifications":'
            . qq({"toolsListChanged":true},"_meta":{$meta}}}));
        $self->{ready} = 0;
    }
}

sub say {
    my ($self, $text, @keys) = @_;
    push @{ $self->{out} }, [
        $self->{kind} eq 'ipc'
        ? pack('N', length $text) . $text
        : "$text\n",
        \@keys,
    ];
}

# Returns the id of a key on the wire: a number or a text.
sub id_of {
    my ($self, $key) = @_;
    return $self->{kind} =~ /^(?:legacy|relay)$/
        ? qq("$key") : $key =~ s/.*\.//r;
}

sub key_of {
    my ($self, $id) = @_;
    return $id =~ /^\d+$/ ? "$self->{name}.$id" : $id;
}

# Arguments are plain: no character needs an escape.
sub request {
    my ($self, $key, $tool, $args, $progress) = @_;
    my $kind = $self->{kind};
    my $object = '{' . join(',',
        map {qq("$_":"$args->{$_}")} sort keys %$args) . '}';
    return qq({"method":"call_tool","params":{"name":"$tool",)
        . qq("arguments":$object}})
        if $kind eq 'ipc';
    my $id = $self->id_of($key);
    return qq($head{rpc}"id":$id,"method":"$tool","params":$object})
        if $kind eq 'rpc';
    my @meta = (
        $kind eq 'modern' ? $meta : (),
        $progress ? qq("progressToken":"$key") : (),
    );
    my $about = @meta ? ',"_meta":{' . join(',', @meta) . '}' : '';
    return qq($head{$kind}"id":$id,"method":"tools/call",)
        . qq("params":{"name":"$tool","arguments":$object$about}});
}

# Calls a tool (in rpc the method of that name) with its key as the argument
# `n`. Returns the key. Options: progress, args (further ones).
sub call {
    my ($self, $tool, %option) = @_;
    my $key = $self->next_key;
    $self->say($self->request($key, $tool,
            { %{ $option{args} // {} }, n => $key }, $option{progress}),
        $key);
    push @{ $self->{turn} }, $key if $self->{kind} eq 'ipc';
    return $key;
}

sub next_key {
    my ($self) = @_;
    return "$self->{name}." . ++$self->{serial};
}

# Calls several methods in a batch. Returns their keys.
sub batch {
    my ($self, @methods) = @_;
    my @keys = map { $self->next_key } @methods;
    $self->say('['
            . join(',', map {
                $self->request($keys[$_], $methods[$_], { n => $keys[$_] })
            } 0 .. $#keys)
            . ']',
        @keys);
    return @keys;
}

sub list {
    my ($self) = @_;
    my $key = $self->next_key;
    my $params = $self->{kind} eq 'modern' ? qq("_meta":{$meta}) : '';
    my $id = $self->id_of($key);
    $self->say(qq($head{ $self->{kind} }"id":$id,"method":"tools/list",)
        . qq("params":{$params}}), $key);
    return $key;
}

sub cancel {
    my ($self, $key) = @_;
    my $id = $self->id_of($key);
    my $text = qq($head{ $self->{kind} }"method":);
    $self->say($self->{kind} eq 'rpc'
        ? qq($text"\$/cancelRequest","params":{"id":$id}})
        : qq($text"notifications/cancelled","params":{"requestId":$id)
            . ($self->{kind} eq 'modern' ? qq(,"_meta":{$meta}}}) : '}}'));
}

# Sends at most some bytes of the output. Returns events.
sub send {
    my ($self, $most) = @_;
    my @events;
    local $SIG{PIPE} = 'IGNORE';
    while ($most > 0 && @{ $self->{out} }) {
        my ($bytes, $keys) = @{ $self->{out}[0] };
        my $left = length($bytes) - $self->{done};
        my $n = syswrite $self->{socket}, $bytes,
            $left < $most ? $left : $most, $self->{done};
        if (!defined $n) {
            next if $! == EINTR;
            return (@events, [ end => "write: $!" ]) if $! != EAGAIN;
            last;
        }
        $most -= $n;
        $self->{done} += $n;
        next if $n < $left;
        shift @{ $self->{out} };
        $self->{done} = 0;
        push @events, map { [ sent => $_ ] } @$keys;
    }
    return @events;
}

# --- input ----------------------------------------------------------------

# Reads at most some bytes. Returns events.
sub receive {
    my ($self, $most) = @_;
    my $n = sysread $self->{socket}, $self->{in}, $most, length $self->{in};
    if (!defined $n) {
        return if $! == EAGAIN || $! == EINTR;
        return [ end => "read: $!" ];
    }
    return [ end => 'closed' ] if $n == 0;
    my @events;
    while (defined(my $message = $self->next_message)) {
        push @events, $self->{kind} eq 'ipc'
            ? $self->of_ipc($message) : $self->of_line($message);
    }
    return @events;
}

sub next_message {
    my ($self) = @_;
    if ($self->{kind} eq 'ipc') {
        return if length $self->{in} < 4;
        my $size = unpack 'N', $self->{in};
        return if length $self->{in} < 4 + $size;
        my $message = substr $self->{in}, 4, $size;
        substr $self->{in}, 0, 4 + $size, '';
        return $message;
    }
    my $end = index $self->{in}, "\n", $self->{seen};
    if ($end < 0) {
        $self->{seen} = length $self->{in};
        return;
    }
    $self->{seen} = 0;
    my $message = substr $self->{in}, 0, $end + 1, '';
    chop $message;
    return $message;
}

# Usual answers are not parsed as JSON: JSON::PP takes seconds for large ones.
my $plain = qr/"content":\[\{"type":"text","text":"([^"\\]*)"\}\]/;

sub of_ipc {
    my ($self, $message) = @_;
    my $key = shift @{ $self->{turn} } // return [ strange => $message ];
    return [ answer => $key, $1 ]
        if $message =~ /\A\{"result":\{$plain,"isError":false\}\}\z/;
    my $object = eval { Toolgate::Json::decode($message) };
    return [ strange => $message ] if ref $object ne 'HASH';
    return $self->outcome($key, $object);
}

sub of_line {
    my ($self, $line) = @_;
    if (length $line > 4096
        && $line =~ /\A\{[^{]*"id":"?([^",]+)"?,"result":\{[^\[]*(?:\{[^\[]*)?
            $plain,"isError":false\}\}\z/x)
    {
        return [ answer => $self->key_of($1), $2 ];
    }
    # A method's result is the text itself.
    return [ answer => $self->key_of($1), $2 ]
        if length $line > 4096
        && $line =~ /\A\{"jsonrpc":"2\.0","id":(\d+),
            "result":"([^"\\]*)"\}\z/x;
    my $message = eval { Toolgate::Json::decode($line) };
    return map { $self->of_message($_, $line) } @$message
        if ref $message eq 'ARRAY' && $self->can_batch;
    return $self->of_message($message, $line);
}

sub of_message {
    my ($self, $message, $line) = @_;
    return [ strange => $line ]
        if ref $message ne 'HASH'
        || ($self->{kind} eq 'relay'
        ? ($message->{kind} // '') !~ /^mcp_/
        : ($message->{jsonrpc} // '') ne '2.0');
    return $self->notified($message, $line) if exists $message->{method};
    my $id = $message->{id} // return [ strange => $line ];
    if ($id eq 'hello') {
        # For a subscription it would be the end.
        return [ strange => $line ] if $self->{ready} || !$message->{result};
        $self->{ready} = 1;
        return ['ready'];
    }
    return $self->outcome($self->key_of($id), $message);
}

sub notified {
    my ($self, $message, $line) = @_;
    my $method = $message->{method};
    my $params = $message->{params} // {};
    if ($method eq 'notifications/tools/list_changed' && $self->can_list) {
        return ['changed']
            if $self->{kind} ne 'modern'
            || ($params->{_meta}{"$io/subscriptionId"} // '') eq 'hello';
    } elsif ($method eq 'notifications/progress') {
        return [ progress => $params->{progressToken}, $params->{progress} ];
    } elsif ($method eq 'notifications/told') {
        return [ told => $params->{n} ];
    } elsif ($method eq 'notifications/subscriptions/acknowledged'
        && !$self->{ready})
    {
        $self->{ready} = 1;
        return ['ready'];
    }
    return [ strange => $line ];
}

sub outcome {
    my ($self, $key, $message) = @_;
    my ($result, $error) = @$message{qw(result error)};
    if ($error) {
        return [ unknown => $key ]
            if ($error->{type} // '') eq 'ToolNotFoundError'
            || ($error->{code} // 0) == -32601
            || ($error->{message} // '') =~ /^Unknown tool/;
        return [ failed => $key, $error->{message} // '' ];
    }
    # A method's result is the text.
    return [ answer => $key, $result ] if defined $result && !ref $result;
    return [ strange => Toolgate::Json::encode($message) ]
        if ref $result ne 'HASH';
    return [ list => $key, [ map { $_->{name} } @{ $result->{tools} } ] ]
        if $result->{tools};
    my $text = $result->{content}[0]{text} // '';
    return [ answer => $key, $text ] if !$result->{isError};
    return $text =~ /^Unknown tool/
        ? [ unknown => $key ] : [ failed => $key, $text ];
}

1;
