#!/usr/bin/perl
# A server on a Unix socket that floods each of its clients as soon as it has
# answered the first request.  It ends when its standard input does.
#
#   flood.pl SOCKET KIND [reads]
#
# reads: it answers requests between the pieces of its flood; else it reads
# nothing any more.  It says "ready" when it listens, and "floods" for each
# client whose flood has begun.  Kinds:
#
#   requests, pings         requests of MCP, each with an id of its own
#   blank, empty, number    lines of nothing, `{}` and `1`
#   garbage                 lines that are no JSON
#   progress, told, changed notifications
#   answers                 answers to requests that there are not
#   large                   notifications of 60 KB

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use JSON::PP ();
use Socket qw(SOCK_STREAM);

my ($path, $kind, $reads) = @ARGV;
my $json = JSON::PP->new->canonical->utf8->allow_nonref;
my $PIECE = 65536;

sub notification {
    my ($method, $params) = @_;
    return $json->encode(
        { jsonrpc => '2.0', method => $method, params => $params }) . "\n";
}

sub pieces {
    my ($line) = @_;
    return $line x ($PIECE / length($line) + 1);
}

my %flood = (
    blank    => pieces("\n"),
    empty    => pieces("{}\n"),
    number   => pieces("1\n"),
    garbage  => pieces("oops\n"),
    answers  => pieces(qq({"jsonrpc":"2.0","id":987654,"result":{}}\n)),
    told     => pieces(notification('notifications/message', {})),
    changed  => pieces(notification('notifications/tools/list_changed', {})),
    large    => notification('notifications/message', { x => 'y' x 60_000 }),
    progress => pieces(
        notification('notifications/progress',
            { progressToken => 'none', progress => 1 })),
);
my %method = (requests => 'roots/list', pings => 'ping');
my $asked = 0;

sub piece {
    return $flood{$kind} if !$method{$kind};
    return join '', map {
        qq({"jsonrpc":"2.0","id":$_,"method":"$method{$kind}"}\n)
    } map { ++$asked } 1 .. 1000;
}
die "no such flood: $kind\n" if !$flood{$kind} && !$method{$kind};

sub answer {
    my ($request) = @_;
    my $method = $request->{method};
    my $result = {};
    if ($method eq 'initialize') {
        $result = {
            protocolVersion => '2025-11-25',
            capabilities    => { tools => { listChanged => JSON::PP::true } },
            serverInfo      => { name => 'flood', version => '1' },
        };
    } elsif ($method eq 'tools/list') {
        $result = {
            tools => [ { name => 'one', inputSchema => { type => 'object' } } ]
        };
    } elsif ($method eq 'tools/call') {
        $result = { content => [ { type => 'text', text => 'done' } ] };
    }
    return $json->encode(
        { jsonrpc => '2.0', id => $request->{id}, result => $result }) . "\n";
}

$SIG{PIPE} = 'IGNORE';
$| = 1;
unlink $path;
my $listener = IO::Socket::UNIX->new(
    Type   => SOCK_STREAM,
    Local  => $path,
    Listen => 16
) or die "$path: $!\n";
print "ready\n";

my %client; # by its socket: in, out, floods

sub hear {
    my ($socket) = @_;
    my $client = $client{$socket};
    my $n = sysread $socket, $client->{in}, 65536, length $client->{in};
    if (!$n) {
        return if !defined $n && $!{EAGAIN};
        delete $client{$socket};
        close $socket;
        return;
    }
    while ($client->{in} =~ s/\A([^\n]*)\n//) {
        my $message = eval { $json->decode($1) };
        next
            if ref $message ne 'HASH'
            || !exists $message->{id}
            || !exists $message->{method};
        $client->{out} .= answer($message);
        next if $client->{floods};
        $client->{floods} = 1;
        print "floods\n";
    }
    return;
}

while (1) {
    my @sockets = map { $_->{socket} } values %client;
    my @in = grep { $reads || !$client{$_}{floods} } @sockets;
    my @out = grep { $client{$_}{floods} || $client{$_}{out} ne '' } @sockets;
    my ($can_read, $can_write) = IO::Select->select(
        IO::Select->new($listener, \*STDIN, @in),
        IO::Select->new(@out));
    for my $handle (@{ $can_read // [] }) {
        if ($handle == \*STDIN) {
            exit if !sysread STDIN, my $line, 4096;
        } elsif ($handle == $listener) {
            my $socket = $listener->accept or next;
            $socket->blocking(0);
            $client{$socket} = { socket => $socket, in => '', out => '' };
        } else {
            hear($handle);
        }
    }
    for my $socket (@{ $can_write // [] }) {
        my $client = $client{$socket} or next;
        $client->{out} .= piece()
            if $client->{floods} && length $client->{out} < $PIECE;
        my $n = syswrite $socket, $client->{out}, $PIECE;
        if (defined $n) {
            substr $client->{out}, 0, $n, '';
        } elsif (!$!{EAGAIN}) {
            delete $client{$socket};
            close $socket;
        }
    }
}
