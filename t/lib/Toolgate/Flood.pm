package Toolgate::Flood;

# What a stranger may send without end: MCP servers by URL, on stdio and behind
# a socket, and HTTP servers that flood whoever calls them.
#
#   my $flood = Toolgate::Flood->new($tg);
#   $flood->url('pings')      the URL of an MCP server, calls of whose tool
#                             `go` are answered with endless pings
#   $flood->stdio('pings')    the command of one on stdio
#   $flood->http              the URL of a server whose body never ends
#
# A flood ends with its connection, or after 120 s.

use strict;
use warnings;

use Carp qw(croak);
use IO::Socket::INET;
use JSON::PP ();
use Toolgate::Guard;
use Toolgate::Util;

my $json = JSON::PP->new->utf8->canonical;

# What is repeated: bytes of a line, or of an event stream.
my %said = (
    blank   => "\n",
    brackets => "{}\n",
    numbers => "1\n",
    garbage => "\0\1\2\n",
    pings   => '{"jsonrpc":"2.0","id":1,"method":"ping"}' . "\n",
    roots   => '{"jsonrpc":"2.0","id":1,"method":"roots/list"}' . "\n",
    asks    => '{"jsonrpc":"2.0","id":1,"method":"x/y"}' . "\n",
    notes   => '{"jsonrpc":"2.0","method":"notifications/message",'
        . '"params":{"level":"info","data":"x"}}' . "\n",
    changes => '{"jsonrpc":"2.0",'
        . '"method":"notifications/tools/list_changed"}' . "\n",
    progress => '{"jsonrpc":"2.0","method":"notifications/progress",'
        . '"params":{"progressToken":3,"progress":1}}' . "\n",
    answers => '{"jsonrpc":"2.0","id":77,"result":{}}' . "\n",
    long    => '{"jsonrpc":"2.0","method":"x","params":{"x":"'
        . 'x' x 1_000_000 . '"}}' . "\n",
    endless => 'x' x 65_536,
);

sub kinds { return sort keys %said }

sub new {
    my ($class, $tg) = @_;
    return bless { tg => $tg }, $class;
}

# The bytes of one write, at least 64 KiB.
sub block {
    my ($kind, $is_events) = @_;
    my $one = $said{$kind} // croak "no flood $kind";
    # Of a stream of events, its own kinds of nothing remain what they are.
    if ($is_events && $kind ne 'blank' && $kind ne 'endless') {
        $one = "data: $one\n";
    }
    return $one x (1 + int 65_536 / length $one);
}

# Writes without end.
sub pour {
    my ($fh, $block, $is_chunked) = @_;
    $block = sprintf("%x\r\n%s\r\n", length $block, $block) if $is_chunked;
    my $until = time + 120;
    while (time < $until) {
        my $at = 0;
        while ($at < length $block) {
            my $n = syswrite $fh, $block, length($block) - $at, $at;
            return if !$n;
            $at += $n;
        }
    }
}

# --- by URL ---------------------------------------------------------------

sub read_request {
    my ($client) = @_;
    my $text = '';
    while ($text !~ /\r\n\r\n/) {
        sysread($client, $text, 65_536, length $text) or return;
    }
    my ($head, $body) = split /\r\n\r\n/, $text, 2;
    my ($length) = $head =~ /^content-length: *(\d+)/mi;
    while (length $body < ($length // 0)) {
        sysread($client, $body, 65_536, length $body) or return;
    }
    return ($head, $body);
}

sub send_json {
    my ($client, $status, $body) = @_;
    my $answer = join "\r\n", "HTTP/1.1 $status x",
        'Content-Type: application/json', 'Content-Length: ' . length $body,
        '', $body;
    return syswrite $client, $answer;
}

sub send_events {
    my ($client) = @_;
    return syswrite $client, join "\r\n", 'HTTP/1.1 200 OK',
        'Content-Type: text/event-stream', 'Transfer-Encoding: chunked', '',
        '';
}

# What a well-behaved server answers to this request, as JSON; or undef.
sub answer {
    my ($message) = @_;
    my $method = $message->{method} // '';
    my %result = (
        initialize => {
            protocolVersion => '2025-06-18',
            capabilities    => { tools => {} },
            serverInfo      => { name => 'flood', version => '1' },
        },
        ping         => {},
        'tools/list' => { tools => [ map {
            { name => $_, inputSchema => { type => 'object' } }
        } qw(go echo) ] },
        'tools/call' =>
            { content => [ { type => 'text', text => 'hello' } ] },
    );
    return undef if !defined $message->{id};
    my %answer = (jsonrpc => '2.0', id => $message->{id});
    return $json->encode({ %answer,
        $result{$method}
        ? (result => $result{$method})
        : (error => { code => -32601, message => 'no such method' }) });
}

# One connection: $where is the method of MCP whose answer is the flood, or GET.
sub serve_url {
    my ($client, $kind, $where) = @_;
    while (my ($head, $body) = read_request($client)) {
        my $message = eval { $json->decode($body) } // {};
        my $method = $head =~ /^GET/ ? 'GET' : $message->{method} // 'reply';
        my $is_flood = $method eq $where
            && ($where ne 'tools/call' || $message->{params}{name} eq 'go');
        if ($is_flood) {
            send_events($client);
            return pour($client, block($kind, 1), 1);
        }
        if ($method eq 'GET') {
            send_json($client, 405, '{}');
        } elsif (defined $message->{id} && $method ne 'reply') {
            send_json($client, 200, answer($message));
        } else {
            send_json($client, 202, '');
        }
    }
}

# A process that accepts and has a process for each connection; its port.
sub listen_tcp {
    my ($self, $serve) = @_;
    my $socket = IO::Socket::INET->new(
        LocalAddr => '127.0.0.1', Listen => 64, ReuseAddr => 1)
        or croak "listen: $!";
    my $pid = fork // croak "fork: $!";
    if (!$pid) {
        Toolgate::Guard::die_with_parent();
        $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM);
        $SIG{CHLD} = 'IGNORE';
        $SIG{PIPE} = 'IGNORE';
        while (1) {
            my $client = $socket->accept or next;
            if (!fork) {
                Toolgate::Guard::die_with_parent();
                $serve->($client);
                POSIX::_exit(0);
            }
        }
    }
    push @{ $self->{tg}{spawned} },
        bless { pid => $pid }, 'Toolgate::Flood::Process';
    my $port = $socket->sockport;
    close $socket;
    return $port;
}

sub url {
    my ($self, $kind, $where) = @_;
    block($kind, 1);
    my $port = $self->listen_tcp(
        sub { serve_url($_[0], $kind, $where // 'tools/call') });
    return "http://127.0.0.1:$port/mcp";
}

# A server of HTTP whose answer never ends.
sub http {
    my ($self, $kind) = @_;
    my $block = block($kind // 'blank', 0);
    my $port = $self->listen_tcp(
        sub {
            my ($client) = @_;
            read_request($client);
            syswrite $client, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                . "Transfer-Encoding: chunked\r\n\r\n";
            pour($client, $block, 1);
        });
    return "http://127.0.0.1:$port/";
}

# --- on stdio -------------------------------------------------------------

# The command of an MCP server whose tool `go` floods, for nginx.conf.
sub stdio {
    my ($self, $kind, $to) = @_;
    block($kind, 0);
    my @command = ($^X, "-I$TOP/t/lib", '-MToolgate::Flood',
        '-e', 'Toolgate::Flood::serve_stdio(@ARGV)', $kind, $to // 'stdout');
    return join ' ', map {"'$_'"} @command;
}

sub serve_stdio {
    my ($kind, $to) = @_;
    $SIG{PIPE} = 'DEFAULT';
    $| = 1;
    while (my $line = <STDIN>) {
        my $message = eval { $json->decode($line) } // {};
        if (($message->{method} // '') eq 'tools/call'
            && $message->{params}{name} eq 'go')
        {
            pour($to eq 'stdout' ? \*STDOUT : \*STDERR, block($kind, 0));
            exit;
        }
        my $answer = answer($message);
        print "$answer\n" if defined $answer;
    }
}

package Toolgate::Flood::Process;

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    waitpid $pid, 0;
}

1;
