package Toolgate::Command;

# The command line under test; the test is its server (Toolgate::Parent).

use strict;
use warnings;

use Exporter qw(import);
use Test::More ();
use Time::HiRes qw(time);

use Toolgate::Client;
use Toolgate::Parent;
use Toolgate::Util;

our @EXPORT = qw(ends finish greet);

# Starts toolgate with the test's socket. Options: stdin, env, cwd.
sub start {
    my ($tg, @args) = @_;
    my $option = ref $args[0] ? shift @args : {};
    my $cli = $tg->spawn({
            cwd => $option->{cwd},
            env => {
                TOOLGATE_SOCKET => $tg->socket_path,
                %{ $option->{env} // {} },
            },
        },
        "$BUILD/toolgate",
        @args);
    $cli->send_raw($option->{stdin}) if defined $option->{stdin};
    close $cli->{out};
    return $cli;
}

# Accepts its connection with the greeting, and answers its ping.
sub greet {
    my ($parent) = @_;
    my $conn = $parent->accept;
    my $hello = $conn->recv_json;
    die 'no hello but ' . $conn->encode($hello)
        if ($hello->{method} // '') ne 'notifications/toolgate/hello'
        || exists $hello->{id};
    Toolgate::Parent::answer($conn, Toolgate::Parent::request($conn, 'ping'),
        { pong => \1 });
    return $conn;
}

# Waits for its end: exit status (128 + n for a signal), stdout, stderr.
sub finish {
    my ($cli, $timeout) = @_;
    my $deadline = time + ($timeout // $Toolgate::Client::TIMEOUT);
    1 while $cli->fill($deadline);
    my $status = $cli->wait_exit;
    return ($status & 127 ? 128 + ($status & 127) : $status >> 8,
        $cli->buffered, $cli->stderr);
}

# Checks its exit status, and optionally stdout and stderr (text or pattern).
sub ends {
    my ($cli, $name, $status, @want) = @_;
    my ($got, @texts) = finish($cli);
    Test::More::is($got, $status, "$name: status");
    for my $i (grep { defined $want[$_] } 0, 1) {
        my $is = ref $want[$i] ? \&Test::More::like : \&Test::More::is;
        $is->($texts[$i], $want[$i], "$name: std" . ('out', 'err')[$i]);
    }
    return ($got, @texts);
}

1;
