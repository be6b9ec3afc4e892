package Toolgate::Web;

# An HTTP server on 127.0.0.1 whose paths determine the response, with a process
# per connection. It stores requests (unless is_silent), and ends with the test.
#
#   /echo           the request as JSON: method, path, headers, body
#   /status/N       status N, and "this is N"
#   /leak/N         status 500, N bytes, the request's Authorization, and more
#   /times/N/S/KEY  status S to the first N of that KEY, then 200
#   /bytes/N        N bytes; /more/N without Content-Length
#   /type/TEXT      a body of that Content-Type, of bytes as ?body=HEX
#   /gzip/N         N compressed bytes; /packed/N to about half of them
#   /to/URL         a redirect with status ?status=, or 302
#   /hang/KEY       no answer; the files hang.KEY and gone.KEY say that it
#                   waits, and that the connection is closed
#   /wait/KEY       an answer when there is a file go.KEY
#   /nap/S/TEXT     TEXT, S seconds later
#   /drip           bytes one by one, for ever
#   /close /garbage /half   no answer, an invalid one, or half of one

use strict;
use warnings;

use Carp qw(croak);
use Compress::Zlib ();
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Toolgate::Guard;
use Toolgate::Json;
use Toolgate::Util;

sub new {
    my ($class, $tg, %option) = @_;
    my $socket = IO::Socket::INET->new(
        LocalAddr => $option{address} // '127.0.0.1',
        Listen    => 128,
        ReuseAddr => 1
    ) or croak "listen: $!";
    my $dir = $tg->dir . '/web';
    mkdir $dir or croak "$dir: $!" if !-d $dir;
    my $self = bless {
        dir       => $dir,
        port      => $socket->sockport,
        is_silent => $option{is_silent},
    }, $class;
    push @{ $tg->{spawned} }, $self;
    $self->{pid} = fork // croak "fork: $!";
    return $self if $self->{pid};
    $SIG{$_} = 'DEFAULT' for qw(TERM INT ALRM);
    Toolgate::Guard::die_with_parent();
    $SIG{CHLD} = $SIG{PIPE} = 'IGNORE';
    eval { $self->run($socket) };
    POSIX::_exit(0);
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    waitpid $pid, 0;
}

sub port { return $_[0]{port} }
sub url { return "http://127.0.0.1:$_[0]{port}" . ($_[1] // '') }

# Returns the requests so far, as of /echo, with the connection's number.
sub requests {
    my ($self) = @_;
    return map { Toolgate::Json::decode($_) }
        lines_of("$self->{dir}/requests.$self->{port}");
}

sub connections {
    my ($self) = @_;
    my %seen = map { $_->{connection} => 1 } $self->requests;
    return scalar keys %seen;
}

sub is_there { return -e "$_[0]{dir}/$_[1]" }
sub wait_file {
    my ($self, $name) = @_;
    wait_for { $self->is_there($name) } "$name of the HTTP server";
    return 1;
}

sub touch {
    my ($self, $name) = @_;
    open my $fh, '>', "$self->{dir}/$name" or croak "$name: $!";
    close $fh;
}

# --- the server ------------------------------------------------------------

sub run {
    my ($self, $listener) = @_;
    my $n = 0;
    while (my $socket = $listener->accept) {
        $n++;
        next if fork;
        Toolgate::Guard::die_with_parent();
        close $listener;
        $socket->autoflush(1);
        my $buffer = '';
        while (my $request = read_request($socket, \$buffer)) {
            $request->{connection} = $n;
            $self->remember($request) if !$self->{is_silent};
            $self->answer($socket, $request) or last;
        }
        POSIX::_exit(0);
    }
}

sub read_request {
    my ($socket, $buffer) = @_;
    my %request;
    while (index($$buffer, "\r\n\r\n") < 0) {
        sysread($socket, $$buffer, 65536, length $$buffer) or return;
    }
    $$buffer =~ s/\A(.*?)\r\n\r\n//s;
    my ($head, @lines) = split /\r\n/, $1;
    @request{qw(method path)} = split / /, $head;
    for (@lines) {
        my ($name, $value) = split /: ?/, $_, 2;
        $request{headers}{ lc $name } = $value;
    }
    my $length = $request{headers}{'content-length'} // 0;
    while (length $$buffer < $length) {
        sysread($socket, $$buffer, 65536, length $$buffer) or return;
    }
    $request{body} = substr $$buffer, 0, $length, '';
    return \%request;
}

sub remember {
    my ($self, $request) = @_;
    open my $fh, '>>:raw', "$self->{dir}/requests.$self->{port}" or die;
    syswrite $fh, Toolgate::Json::encode($request) . "\n";
    close $fh;
}

sub reply {
    my ($socket, $status, $type, $body, @more) = @_;
    print $socket join "\r\n", "HTTP/1.1 $status Said",
        'Content-Length: ' . length $body,
        (length $type ? "Content-Type: $type" : ()), @more, '', $body;
    return 1;
}

sub answer {
    my ($self, $socket, $request) = @_;
    my ($name, $rest) = $request->{path} =~ m{^/(\w*)/?(.*)} or return;
    my $serve = $self->can("serve_$name") or return reply($socket, 404, '', '');
    return $serve->($self, $socket, $rest, $request);
}

sub decoded { return $_[0] =~ s/%(..)/chr hex $1/ger }

sub serve_echo {
    my ($self, $socket, $rest, $request) = @_;
    return reply($socket, 200, 'application/json',
        Toolgate::Json::encode($request));
}

sub serve_status {
    my ($self, $socket, $n) = @_;
    return reply($socket, $n, 'text/plain', "this is $n\n");
}

sub serve_leak {
    my ($self, $socket, $n, $request) = @_;
    return reply($socket, 500, 'text/plain',
        'x' x $n . $request->{headers}{authorization} . 'y' x 5000);
}

sub serve_times {
    my ($self, $socket, $rest, $request) = @_;
    my ($n, $status) = split m{/}, $rest;
    my $came = grep { $_->{path} eq $request->{path} } $self->requests;
    return reply($socket, $came > $n ? 200 : $status, 'text/plain', "$came\n");
}

sub serve_bytes {
    my ($self, $socket, $n) = @_;
    return reply($socket, 200, 'text/plain', 'x' x $n);
}

sub serve_more {
    my ($self, $socket, $n) = @_;
    print $socket "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (; $n > 0; $n -= 1000) {
        my $chunk = 'x' x ($n > 1000 ? 1000 : $n);
        printf $socket "%x\r\n%s\r\n", length $chunk, $chunk or return;
    }
    return print $socket "0\r\n\r\n";
}

sub serve_type {
    my ($self, $socket, $rest) = @_;
    my ($type, $body) = split /\?body=/, $rest;
    return reply($socket, 200, decoded($type), pack 'H*', $body);
}

sub serve_gzip {
    my ($self, $socket, $n) = @_;
    return reply($socket, 200, 'text/plain',
        Compress::Zlib::memGzip('x' x $n), 'Content-Encoding: gzip');
}

sub serve_packed {
    my ($self, $socket, $n) = @_;
    my $text = join '', map { sprintf '%08x', rand 2**32 } 1 .. $n / 8;
    return reply($socket, 200, 'text/plain', Compress::Zlib::memGzip($text),
        'Content-Encoding: gzip');
}

sub serve_to {
    my ($self, $socket, $rest) = @_;
    my ($to, $status) = split /\?status=/, $rest;
    return reply($socket, $status // 302, '', '', 'Location: ' . decoded($to));
}

sub serve_hang {
    my ($self, $socket, $key) = @_;
    $self->touch("hang.$key");
    sysread $socket, my $nothing, 1;
    $self->touch("gone.$key");
    return;
}

sub serve_wait {
    my ($self, $socket, $key, $request) = @_;
    $self->touch("hang.$key");
    until ($self->is_there("go.$key")) {
        if (IO::Select->new($socket)->can_read(0.02)) {
            $self->touch("gone.$key");
            return;
        }
    }
    return reply($socket, 200, 'text/plain', "waited for $key");
}

sub serve_nap {
    my ($self, $socket, $rest) = @_;
    my ($seconds, $text) = split m{/}, $rest, 2;
    return if $seconds && IO::Select->new($socket)->can_read($seconds);
    return reply($socket, 200, 'text/plain', decoded($text));
}

sub serve_drip {
    my ($self, $socket) = @_;
    print $socket "HTTP/1.1 200 OK\r\n\r\n" or return;
    while (print $socket 'x') { select undef, undef, undef, 0.01 }
    return;
}

sub serve_close { return }

sub serve_garbage {
    my ($self, $socket) = @_;
    print $socket "220 this is another protocol\r\n\r\n";
    return;
}

sub serve_half {
    my ($self, $socket) = @_;
    print $socket "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    return;
}

1;
