package Toolgate::Flood;

# Endless input from servers: MCP servers by URL, on stdio and on a socket,
# backends of `pass`, and HTTP servers that flood their clients.
#
#   my $flood = Toolgate::Flood->new($tg);
#   $flood->url('pings')      the URL of an MCP server, calls of whose tool
#                             `go` are answered with endless pings
#   $flood->stdio('pings')    the command of one on stdio
#   $flood->lists('many')     the command of one whose list changes each second
#   $flood->http              the URL of a server whose body never ends
#   $flood->backend('unix', 'pings')  the address of a backend that sends pings
#   $flood->socket('pings', 'initialize', 'reads')  the path of an MCP server
#                             that sends pings after the request initialize
#
# A flood ends with its connection, or after 120 s. With `cpu`, its processes
# run on that processor, at the lowest priority.

use strict;
use warnings;

use Carp qw(croak);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX ();
use Socket qw(SOCK_STREAM);
use Toolgate::Attacker;
use Toolgate::Guard;
use Toolgate::Native;
use Toolgate::Tls ();
use Toolgate::Util;

my $json = JSON::PP->new->utf8->canonical;

# Repeated content: a line, or events of a stream. What is large is made by the
# process that sends it: each test forks many that do not.
my $MB = 1_000_000;
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
    news    => '{"jsonrpc":"2.0","method":"x","params":{"a":1}}' . "\n",
    long    => sub {
        '{"jsonrpc":"2.0","method":"x","params":{"x":"' . 'x' x $MB . qq("}}\n);
    },
    huge    => sub {
        '{"jsonrpc":"2.0","id":77,"result":{"x":"' . 'x' x (9 * $MB)
            . qq("}}\n);
    },
    many    => sub {
        '{"jsonrpc":"2.0","id":77,"result":[' . '{},' x (3 * $MB) . "{}]}\n";
    },
    # In addition to a list of 15 MB.
    lists   => '{"jsonrpc":"2.0",'
        . '"method":"notifications/tools/list_changed"}' . "\n",
    frames  => pack('N/a', '{}'),
    frame   => sub { pack 'N/a', '{"result":"' . 'x' x (9 * $MB) . '"}' },
    endless => 'x' x 65_536,
);

# Large results of the tool `go`: a number of blocks, or bytes of text.
my %large = (
    blocks => 366_000,
    text   => 32_000_000,
);

sub new {
    my ($class, $tg, %option) = @_;
    return bless { tg => $tg, cpu => $option{cpu} // '' }, $class;
}

# A large result, as JSON.
sub large_result {
    my ($kind) = @_;
    my $block = '{"type":"text","text":"%s"}';
    return '{"content":['
        . ($kind eq 'text' ? sprintf $block, 'x' x $large{$kind}
            : join ',', (sprintf $block, 'x') x $large{$kind}) . ']}';
}

# Moves the caller to a processor, at the lowest priority; '' does nothing.
sub move_to {
    my ($cpu) = @_;
    return if $cpu eq '';
    Toolgate::Attacker::yield_processor();
    system "taskset -pc $cpu $$ >/dev/null";
    return;
}

sub said {
    my ($kind) = @_;
    my $said = $said{$kind} // croak "no flood $kind";
    return ref $said ? $said->() : $said;
}

# Returns the bytes of one write, at least 64 KiB.
sub block {
    my ($kind, $is_events) = @_;
    my $one = said($kind);
    # Comments and blank lines of an event stream stay unchanged.
    if ($is_events && $kind ne 'blank' && $kind ne 'endless') {
        $one = "data: $one\n";
    }
    return $one x (1 + int 65_536 / length $one);
}

# Returns a function of the next block. Requests have unique ids.
sub blocks {
    my ($kind) = @_;
    my ($head, $tail) = said($kind) =~ /^(.*"id":)1(,"method".*)$/s;
    if (!defined $head) {
        my $block = block($kind);
        return sub { $block };
    }
    my $id = 0;
    return sub {
        my $from = $id + 1;
        $id += 1000;
        return join '', map {"$head$_$tail"} $from .. $id;
    };
}

# Writes a byte of a line every few milliseconds.
sub trickle {
    my ($fh) = @_;
    my $until = time + 120;
    while (time < $until) {
        for my $byte (split //, $said{news}) {
            syswrite $fh, $byte or return;
            select undef, undef, undef, 0.002;
        }
    }
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
    my ($client, $status, $body, $type) = @_;
    my $answer = join "\r\n", "HTTP/1.1 $status x",
        'Content-Type: ' . ($type // 'application/json'),
        'Content-Length: ' . length $body, '', $body;
    for (my $at = 0; $at < length $answer;) {
        $at += syswrite($client, $answer, 1_048_576, $at) || return;
    }
    return 1;
}

sub send_events {
    my ($client) = @_;
    return syswrite $client, join "\r\n", 'HTTP/1.1 200 OK',
        'Content-Type: text/event-stream', 'Transfer-Encoding: chunked', '',
        '';
}

# Checks for a call of the tool `go`.
sub is_go {
    my ($message) = @_;
    return ($message->{method} // '') eq 'tools/call'
        && $message->{params}{name} eq 'go';
}

# Returns a regular answer as JSON, or undef; for `go` the large result.
sub answer {
    my ($message, $kind) = @_;
    my $method = $message->{method} // '';
    my $large = is_go($message) && $large{ $kind // '' }
        ? large_result($kind)
        : $method eq 'tools/list' && ($kind // '') eq 'lists'
        ? large_list()
        : undef;
    if (defined $large) {
        my $id = $json->allow_nonref->encode($message->{id});
        return qq({"jsonrpc":"2.0","id":$id,"result":$large});
    }
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

# Serves a connection; $where is the method whose answer floods, or GET.
sub serve_url {
    my ($client, $kind, $where) = @_;
    while (my ($head, $body) = read_request($client)) {
        my $message = eval { $json->decode($body) } // {};
        my $method = $head =~ /^GET/ ? 'GET' : $message->{method} // 'reply';
        my $is_flood = $method eq $where && !$large{$kind}
            && ($where ne 'tools/call' || is_go($message));
        if ($is_flood) {
            send_events($client);
            return pour($client, block($kind, 1), 1);
        }
        if ($method eq 'GET') {
            send_json($client, 405, '{}');
        } elsif (defined $message->{id} && $method ne 'reply') {
            send_json($client, 200, answer($message, $kind));
        } else {
            send_json($client, 202, '');
        }
    }
}

# Starts a process that forks for each connection.
sub listen_on {
    my ($self, $socket, $serve) = @_;
    my $pid = fork // croak "fork: $!";
    if (!$pid) {
        Toolgate::Guard::die_with_parent();
        move_to($self->{cpu});
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
    close $socket;
    return;
}

# Listens on a free port, which is returned.
sub listen_tcp {
    my ($self, $serve) = @_;
    my $socket = IO::Socket::INET->new(
        LocalAddr => '127.0.0.1', Listen => 64, ReuseAddr => 1)
        or croak "listen: $!";
    my $port = $socket->sockport;
    $self->listen_on($socket, $serve);
    return $port;
}

# Listens on a Unix socket, whose path is returned.
sub listen_unix {
    my ($self, $serve) = @_;
    my $path = $self->{tg}->dir . '/flood.sock';
    my $socket = IO::Socket::UNIX->new(
        Type => SOCK_STREAM, Local => $path, Listen => 64)
        or croak "listen on $path: $!";
    chmod 0777, $path;
    $self->listen_on($socket, $serve);
    return $path;
}

sub url {
    my ($self, $kind, $where) = @_;
    my $port = $self->listen_tcp(
        sub { serve_url($_[0], $kind, $where // 'tools/call') });
    return "http://127.0.0.1:$port/mcp";
}

# An HTTP server whose answer never ends: a body of some kind, `headers`, single
# bytes (`trickle`), or nothing (`silent`). Or the answer is large: a result
# (`blocks`), a text in another charset (`latin`).
sub http {
    my ($self, $kind) = @_;
    $kind //= 'blank';
    my $serve = {
        silent  => sub { sleep 120 },
        headers => sub {
            pour($_[0], "X-Header: y\r\n" x 5_000);
        },
        trickle => sub {
            syswrite $_[0], "HTTP/1.1 200 OK\r\n\r\n";
            trickle($_[0]);
        },
        blocks => sub { send_json($_[0], 200, large_result('blocks')) },
        latin  => sub {
            send_json($_[0], 200, "\xe4" x (9 * $MB),
                'text/plain; charset=iso-8859-1');
        },
    }->{$kind};
    my $block = $serve ? '' : block($kind, 0);
    $serve //= sub {
        syswrite $_[0], "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
            . "Transfer-Encoding: chunked\r\n\r\n";
        pour($_[0], $block, 1);
    };
    my $port = $self->listen_tcp(
        sub { read_request($_[0]); $serve->($_[0]) });
    return "http://127.0.0.1:$port/";
}

# --- a backend of `pass` --------------------------------------------------

# Floods each connection, over unix, tcp or tls. Returns its address.
sub backend {
    my ($self, $transport, $kind) = @_;
    my $block = $kind eq 'trickle' ? '' : block($kind, 0);
    return $self->tls_backend($kind) if $transport eq 'tls';
    my $serve = sub {
        $kind eq 'trickle' ? trickle($_[0]) : pour($_[0], $block);
    };
    return '127.0.0.1:' . $self->listen_tcp($serve) if $transport eq 'tcp';
    return 'unix:' . $self->listen_unix($serve);
}

# Sends its standard input to each client of `openssl s_server`.
sub tls_backend {
    my ($self, $kind) = @_;
    my $dir = $self->{tg}->dir;
    Toolgate::Tls::certify($dir, 'flood');
    my $port = Toolgate::Tls::free_port();
    pipe my $in, my $out or croak "pipe: $!";
    for my $is_server (1, 0) {
        my $pid = fork // croak "fork: $!";
        push @{ $self->{tg}{spawned} },
            bless { pid => $pid }, 'Toolgate::Flood::Process';
        next if $pid;
        Toolgate::Guard::die_with_parent();
        move_to($self->{cpu});
        if ($is_server) {
            close $out;
            Toolgate::Process::exec_command(
                { stdin => $in, stderr => '/dev/null' },
                qw(openssl s_server -quiet -accept), "127.0.0.1:$port",
                '-cert', "$dir/flood.pem", '-key', "$dir/flood.key");
        }
        $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM PIPE);
        close $in;
        pour($out, block($kind, 0));
        POSIX::_exit(0);
    }
    close $_ for $in, $out;
    wait_for {
        IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port");
    }
    'openssl to listen';
    return "127.0.0.1:$port";
}

# --- a server behind a socket ---------------------------------------------

# Floods each client after the request $where: a method of MCP, or tools/call
# for the tool `go`, which is not answered. With $reads it answers other
# requests in between; otherwise it stops reading.
sub socket {
    my ($self, $kind, $where, $reads) = @_;
    croak "no flood $kind" if !$said{$kind} && !$large{$kind};
    pipe my $begun, my $say or croak "pipe: $!";
    my $path = $self->listen_unix(sub {
        serve_socket($_[0], $kind, $where, $reads, $say);
    });
    close $say;
    $self->{tg}{flood_begun} = $begun;
    return $path;
}

# Waits until a client of socket() is flooded.
sub wait_begun {
    my ($tg) = @_;
    sysread $tg->{flood_begun}, my $said, 1 or croak 'no flood';
    return;
}

sub serve_socket {
    my ($client, $kind, $where, $reads, $say) = @_;
    my $next = $large{$kind} ? undef : blocks($kind);
    my ($in, $out, $floods) = ('', '', 0);
    my $take = sub {
        my ($message) = @_;
        my $method = $message->{method} // return;
        my $is_begin = $next && !$floods && $method eq $where
            && ($where ne 'tools/call' || is_go($message));
        my $answer = $is_begin && is_go($message) ? undef
            : answer($message, $kind);
        $out .= "$answer\n" if defined $answer;
        return if !$is_begin;
        $floods = 1;
        syswrite $say, '.';
    };
    $client->blocking(0);
    vec(my $this = '', fileno $client, 1) = 1;
    while (1) {
        $out = $next->() if $floods && $out eq '';
        my $can_read = !$floods || $reads ? $this : '';
        my $can_write = $out ne '' ? $this : '';
        select $can_read, $can_write, undef, undef;
        if ($can_read ne '' && vec $can_read, fileno $client, 1) {
            my $n = sysread $client, $in, 65_536, length $in;
            return if defined $n ? !$n : !$!{EAGAIN};
            while ($in =~ s/\A([^\n]*)\n//) {
                # Decoding all responses to a flood would take too long.
                next if index($1, '"method"') < 0;
                $take->(eval { $json->decode($1) } // {});
            }
        }
        if ($can_write ne '' && vec $can_write, fileno $client, 1) {
            my $n = syswrite $client, $out, 65_536;
            return if !defined $n && !$!{EAGAIN};
            substr $out, 0, $n // 0, '';
        }
    }
}

# --- threads of a library -------------------------------------------------

# Returns the shared object of t/libraries/storm.c.
my $library;

sub library {
    my ($self) = @_;
    return $library //= Toolgate::Native->build('t/libraries/storm.c',
        $self->{tg}->dir . '/storm.so');
}

# --- on stdio -------------------------------------------------------------

# Returns the command for nginx.conf that runs a function of this module.
sub command {
    my ($self, $function, @arguments) = @_;
    my @command = ($^X, "-I$TOP/t/lib", '-MToolgate::Flood', '-e',
        "Toolgate::Flood::$function(\@ARGV)", @arguments, $self->{cpu});
    return join ' ', map {"'$_'"} @command;
}

# Returns the command that prints a large result.
sub program {
    my ($self, $kind) = @_;
    return $self->command('print_large', $kind);
}

sub print_large {
    my ($kind, $cpu) = @_;
    move_to($cpu);
    print large_result($kind);
}

# Returns the command of an MCP server whose tool `go` floods.
sub stdio {
    my ($self, $kind, $to) = @_;
    return $self->command('serve_stdio', $kind, $to // 'stdout');
}

sub serve_stdio {
    my ($kind, $to, $cpu) = @_;
    move_to($cpu);
    $SIG{PIPE} = 'DEFAULT';
    $| = 1;
    while (my $line = <STDIN>) {
        my $message = eval { $json->decode($line) } // {};
        if (is_go($message) && !$large{$kind}) {
            pour($to eq 'stdout' ? \*STDOUT : \*STDERR, block($kind, 0));
            exit;
        }
        my $answer = answer($message, $kind);
        print "$answer\n" if defined $answer;
    }
}

# A list of 15 MB, different each time.
my $lists = 0;

sub large_list {
    return '{"tools":[' . join(',', tools_of('large', ++$lists)) . ']}';
}

# Returns the command of an MCP server whose list changes each second: `many`
# small tools (4,000), `heavy` ones (30 with 1,000 patterns each), or `large`
# (15 MiB).
sub lists {
    my ($self, $kind) = @_;
    return $self->command('serve_lists', $kind);
}

# Returns tools as JSON.
sub tools_of {
    my ($kind, $round) = @_;
    my $tool = sub {
        my ($name, $properties) = @_;
        return qq({"name":"$name","description":"In round $round.",)
            . qq("inputSchema":{"type":"object","properties":{$properties}}});
    };
    return map { $tool->("tool$_", '"text":{"type":"string"}') } 1 .. 4000
        if $kind eq 'many';
    if ($kind eq 'large') {
        my $properties = join ',', map {qq("p$_":{"type":"string"})} 1 .. 140;
        return map { $tool->("large$_", $properties) } 1 .. 4400;
    }
    return map {
        my $n = $_;
        $tool->("heavy$n", join ',', map {
            qq("p$_":{"pattern":"^((a{1,30}){1,30}){1,30}$n$_$round"})
        } 1 .. 1000);
    } 1 .. 30;
}

sub serve_lists {
    my ($kind, $cpu) = @_;
    move_to($cpu);
    $| = 1;
    my $round = 0;
    my ($buffer, $list) = ('', '');
    my $is_listed = 0;
    vec(my $in = '', 0, 1) = 1;
    while (1) {
        if (!select my $ready = $in, undef, undef, 1) {
            print $said{changes} if $is_listed;
            next;
        }
        sysread STDIN, $buffer, 65_536, length $buffer or exit;
        while ($buffer =~ s/\A([^\n]*)\n//) {
            my $message = eval { $json->decode($1) } // {};
            if (($message->{method} // '') ne 'tools/list') {
                my $answer = answer($message) // next;
                $answer =~ s/"tools":\{\}/"tools":{"listChanged":true}/;
                print "$answer\n";
                next;
            }
            $is_listed = 1;
            print qq({"jsonrpc":"2.0","id":$message->{id},"result":{"tools":[),
                join(',', tools_of($kind, ++$round)), "]}}\n";
        }
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
