package Toolgate::HttpClient;

# A client of HTTP/1.1 on raw sockets, which sends what a test wants: valid
# requests, streams of events, and everything else. http_block() is the
# configuration for the server that it talks to.

use strict;
use warnings;

use parent qw(Toolgate::Client);

use Carp qw(croak);
use Exporter qw(import);

our @EXPORT = qw(http_block);

# Returns an http block with a server on the socket http.sock of the test's
# folder. Options: http (text for the level of http), listen (further
# directives `listen`).
sub http_block {
    my ($tg, $body, %option) = @_;
    my $dir = $tg->dir;
    my $paths = join '', map {"${_}_temp_path $dir/$_;\n"}
        qw(client_body proxy fastcgi uwsgi scgi);
    my ($http, $listen) = map { $_ // '' } @option{qw(http listen)};
    return <<"END";
http {
access_log off;
$paths$http
server {
listen unix:$dir/http.sock;
$listen
$body
}
}
END
}

sub new {
    my ($class, $tg) = @_;
    return $class->connect($tg->dir . '/http.sock');
}

# Sends a request. Options: headers ([ name => value, ... ]), body (sets
# Content-Length).
sub send_request {
    my ($self, $method, $path, %option) = @_;
    my @headers = @{ $option{headers} // [] };
    my $text = "$method $path HTTP/1.1\r\n";
    my %has = map { lc($headers[ 2 * $_ ]) => 1 } 0 .. @headers / 2 - 1;
    unshift @headers, Host => 'localhost' if !$has{host};
    push @headers, 'Content-Length' => length $option{body}
        if defined $option{body} && !$has{'content-length'};
    while (my ($name, $value) = splice @headers, 0, 2) {
        $text .= "$name: $value\r\n" if defined $value;
    }
    $self->send_raw("$text\r\n" . ($option{body} // ''));
    $self->{method} = $method;
}

# Reads status line and headers. Returns { status, headers => { name => value,
# with ", " between repeated ones } }.
sub recv_head {
    my ($self) = @_;
    my $line = $self->recv_line;
    my ($status) = $line =~ m{^HTTP/1\.1 (\d{3})\b}
        or croak "$self->{name}: not a status line: $line";
    my %headers;
    while (($line = $self->recv_line) =~ /^([^:\r]+): *(.*?)\r?$/) {
        my ($name, $value) = (lc $1, $2);
        $headers{$name} =
            exists $headers{$name} ? "$headers{$name}, $value" : $value;
    }
    return { status => $status, headers => \%headers };
}

# Reads one chunk. Returns undef after the last one.
sub recv_chunk {
    my ($self) = @_;
    my $size = hex $self->recv_line =~ s/\r\z//r;
    my $bytes = $size ? $self->recv_bytes($size) : undef;
    $self->recv_line;
    return $bytes;
}

# Reads a response; its body is in `body`, and decoded in `json` if it is JSON.
sub recv_response {
    my ($self) = @_;
    my $response = $self->recv_head;
    my ($length, $coding) =
        @{ $response->{headers} }{qw(content-length transfer-encoding)};
    my $body = '';
    if ($self->{method} eq 'HEAD' || $response->{status} =~ /^(?:1..|[23]04)$/)
    {
        # no body
    } elsif (($coding // '') eq 'chunked') {
        while (defined(my $chunk = $self->recv_chunk)) { $body .= $chunk }
    } elsif (defined $length) {
        $body = $self->recv_bytes($length) if $length;
    } else {
        $self->fill(time + $Toolgate::Client::TIMEOUT) while !$self->{eof};
        $body = delete $self->{buf};
        $self->{buf} = '';
    }
    $response->{body} = $body;
    $response->{json} = $self->decode($body)
        if ($response->{headers}{'content-type'} // '') eq 'application/json'
        && length $body;
    return $response;
}

sub ask {
    my ($self, @request) = @_;
    $self->send_request(@request);
    return $self->recv_response;
}

# Reads an event of a stream whose head was read: { data, id, ..., comment },
# each a text. Returns undef at the end of the stream.
sub recv_event {
    my ($self) = @_;
    my $stream = $self->{stream} //= \(my $empty = '');
    my $end;
    while (($end = index $$stream, "\n\n") < 0) {
        my $chunk = $self->recv_chunk;
        if (!defined $chunk) {
            croak "$self->{name}: half an event: $$stream" if length $$stream;
            delete $self->{stream};
            return undef;
        }
        $$stream .= $chunk;
    }
    my %event;
    for (split /\n/, substr $$stream, 0, $end + 2, '') {
        my ($name, $value) = /^([^:]*): ?(.*)$/ or croak "not a field: $_";
        $name = 'comment' if $name eq '';
        $event{$name} =
            exists $event{$name} ? "$event{$name}\n$value" : $value;
    }
    return \%event;
}

1;
