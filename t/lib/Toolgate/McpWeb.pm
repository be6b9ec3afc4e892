package Toolgate::McpWeb;

# An MCP server over Streamable HTTP, the stand-in t/servers/mcp_http.pl.

use strict;
use warnings;

use Cwd qw(abs_path);
use Carp qw(croak);
use File::Basename qw(dirname);
use IO::Socket::INET;
use Toolgate::Guard;
use Toolgate::Json;
use Toolgate::Util;

my $program = abs_path(dirname(__FILE__) . '/../../servers/mcp_http.pl');
my $n = 0;

# See there for its options.
sub new {
    my ($class, $tg, @how) = @_;
    my $dir = $tg->dir . '/mcp-web-' . ++$n;
    mkdir $dir or croak "$dir: $!";
    my $self = bless { dir => $dir, how => \@how }, $class;
    push @{ $tg->{spawned} }, $self;
    return $self->start;
}

# Starts it, at its former address.
sub start {
    my ($self) = @_;
    my @how = @{ $self->{how} };
    unshift @how, "port=$self->{port}" if $self->{port};
    unlink "$self->{dir}/port";
    $self->{pid} = fork // croak "fork: $!";
    if (!$self->{pid}) {
        Toolgate::Guard::die_with_parent();
        $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM);
        exec $^X, $program, $self->{dir}, @how or die "$program: $!";
    }
    wait_for { -e "$self->{dir}/port" } 'the MCP server over HTTP';
    $self->{port} = slurp("$self->{dir}/port");
    return $self;
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    waitpid $pid, 0;
}

sub port { return $_[0]{port} }
sub url { return "http://127.0.0.1:$_[0]{port}/mcp" }

# Returns the requests so far: hashes with method, path, headers and body; only
# those with this method of MCP or of HTTP.
sub requests {
    my ($self, $of) = @_;
    my $all = $self->{requests} //= [];
    my @lines = lines_of("$self->{dir}/requests");
    for my $line (@lines[ @$all .. $#lines ]) {
        my $request = Toolgate::Json::decode($line);
        $request->{message} = eval { Toolgate::Json::decode($request->{body}) };
        push @$all, $request;
    }
    return grep {
        !defined $of
            || ($_->{message} && ($_->{message}{method} // '') eq $of)
            || $_->{method} eq $of
    } @$all;
}

# Returns the methods of all requests, as one text.
sub methods {
    my ($self) = @_;
    return join ' ', map {
        $_->{message} ? $_->{message}{method} // 'reply' : $_->{method}
    } $self->requests;
}

# forget, cut, release or sessions. Returns the number of sessions.
sub control {
    my ($self, $what) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $self->{port}) or croak "connect: $!";
    print {$socket} "POST /control/$what HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    my $reply = '';
    1 while $reply !~ /\r\n\r\n./s && sysread $socket, $reply, 4096,
        length $reply;
    my ($sessions) = $reply =~ /\r\n\r\n(\d+)/ or croak "control: $reply";
    return $sessions;
}

1;
