package Toolgate::Floods;

# Everything that works for somebody in a worker, flooded in each way that it
# can be: a list of floods, each with what the server's config needs, and a
# process that floods until it is stopped.
#
#   name    what floods, and with what
#   most    ms that another client may wait, on a quiet machine
#   conf    directives of the server
#   flood   what the process does: a function as those of Toolgate::Attacks,
#           with the path of the server's socket
#   before  that process is there before the server is: its backend, for
#           instance

use strict;
use warnings;

use IO::Select ();
use IO::Socket::UNIX ();
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(time);

use Toolgate::Client;

# What a peer of a worker may send without end.
my @lines = (
    [ 'blank lines', "\n" ],
    [ '{}',          "{}\n" ],
    [ '1',           "1\n" ],
    [ 'garbage',     "no JSON\n" ],
    [ 'answers to nothing',
        qq({"jsonrpc":"2.0","id":999999,"result":{"a":[1,2,3]}}\n) ],
    [ 'progress of nothing',
        '{"jsonrpc":"2.0","method":"notifications/progress","params":'
            . qq({"progressToken":999999,"progress":1}}\n) ],
    [ 'requests', qq({"jsonrpc":"2.0","id":1,"method":"sampling/x"}\n) ],
);

# Writes the same for ever, and says so now and then.  Returns when the other
# side has closed.
sub pour {
    my ($socket, $text, $option) = @_;
    my $chunk = $text x (1 + int(1_000_000 / length $text));
    my ($at, $said) = (0, 0);
    while (1) {
        my $n = syswrite $socket, $chunk, length($chunk) - $at, $at;
        return if !defined $n;
        $at = ($at + $n) % length $chunk;
        next if time - $said < 0.1;
        $option->{say}->('flooding');
        $said = time;
    }
}

# Listens at a path; each connection gets the same lines without end.
sub backend {
    my ($path, $text, $option) = @_;
    unlink $path;
    my $listener = IO::Socket::UNIX->new(
        Type   => SOCK_STREAM,
        Local  => $path,
        Listen => 16
    ) or die "listen on $path: $!";
    $option->{say}->('listening');
    while (1) {
        my $socket = $listener->accept or die "accept: $!";
        pour($socket, $text, $option);
    }
}

sub of_backend {
    my ($dir, $what, $text, $notify) = @_;
    my $path = "$dir/flood.sock";
    return {
        name => "a backend, $what",
        most => 5,
        conf => "tool flooded { pass unix:$path protocol=jsonrpc $notify; }\n",
        before => 1,
        flood  => sub {
            my (undef, %option) = @_;
            backend($path, $text, \%option);
        },
    };
}

# All floods, with files in a folder.
sub all {
    my ($dir) = @_;
    my @floods = map { of_backend($dir, @$_, 'notify') } @lines;
    push @floods,
        of_backend($dir, 'notifications',
        qq({"jsonrpc":"2.0","method":"news","params":{"a":1}}\n), 'notify');
    return @floods;
}

1;
