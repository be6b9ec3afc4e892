package Toolgate::Proxy;

# A proxy for HTTP on 127.0.0.1, and by CONNECT for HTTPS. It resolves all names
# to 127.0.0.1, so that a client that reaches NAME.test uses it. It stores the
# heads of requests, and ends with the test.

use strict;
use warnings;

use Carp qw(croak);
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Toolgate::Guard;
use Toolgate::Util;

# Options: refuses => a status for all requests.
sub new {
    my ($class, $tg, %option) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
        Listen => 128) or croak "listen: $!";
    my $port = $listener->sockport;
    my $self = bless { port => $port, %option,
        heads => $tg->dir . "/proxy.$port" }, $class;
    push @{ $tg->{spawned} }, $self;
    $self->{pid} = fork // croak "fork: $!";
    return $self if $self->{pid};
    $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM);
    Toolgate::Guard::die_with_parent();
    $SIG{CHLD} = $SIG{PIPE} = 'IGNORE';
    while (my $client = $listener->accept) {
        next if fork;
        Toolgate::Guard::die_with_parent();
        close $listener;
        eval { $self->serve($client) };
        POSIX::_exit(0);
    }
    POSIX::_exit(0);
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    waitpid $pid, 0;
}

sub url { return "http://127.0.0.1:$_[0]{port}" }
sub heads { return slurp($_[0]{heads}) // '' }

# --- the proxy ---------------------------------------------------------------

sub serve {
    my ($self, $client) = @_;
    my $head = '';
    while ($head !~ /\r\n\r\n/) {
        sysread $client, $head, 65536, length $head or return;
    }
    open my $fh, '>>', $self->{heads} or die "$self->{heads}: $!";
    syswrite $fh, $head =~ s/\r\n\r\n\K.*//sr;
    return syswrite $client,
        "HTTP/1.1 $self->{refuses} No\r\nContent-Length: 0\r\n\r\n"
        if $self->{refuses};
    my ($bytes, $select, $server, %to) = ($head, IO::Select->new($client));
    if ($head =~ /^CONNECT [^:]+:(\d+)/) {
        $server = reach($1) or return;
        $select->add($server);
        syswrite $client, "HTTP/1.1 200 Yes\r\n\r\n";
        $bytes = '';
    }
    while (1) {
        # Each request may name another server.
        if ($bytes =~ s{\A([A-Z]+ )http://[^/:]+(?::(\d+))?}{$1}) {
            my $port = $2 // 80;
            $server = $to{$port} //= reach($port) or return;
            $select->add($server) if !$select->exists($server);
        }
        put($server, $bytes);
        $bytes = '';
        for my $from ($select->can_read) {
            sysread $from, my $more, 65536 or return;
            if ($from != $client) { put($client, $more) }
            else { $bytes = $more }
        }
    }
}

sub reach {
    my ($port) = @_;
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
}

sub put {
    my ($to, $bytes) = @_;
    my $at = 0;
    while ($at < length $bytes) {
        $at += syswrite($to, $bytes, length($bytes) - $at, $at) // die "$!";
    }
}

1;
