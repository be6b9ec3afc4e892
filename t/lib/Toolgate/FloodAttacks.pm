package Toolgate::FloodAttacks;

# Floods by clients: functions of the server's socket and options, for
# Toolgate::Attacker. They print "flooding" at the begin and "round" after each
# round, and die at a wrong answer.

use strict;
use warnings;

use Errno qw(EAGAIN EINTR);
use Time::HiRes qw(sleep time);

use Toolgate::Attacks;
use Toolgate::Client;

# Takes CPU time without a flood.
sub spin {
    my ($path, %option) = @_;
    $option{say}->('flooding');
    for (1 .. $option{rounds}) {
        my $until = time + 1;
        1 while time < $until;
        $option{say}->('round');
    }
    return;
}

# Sends a text repeatedly, about 256 KiB a round, and reads the answers.
# Options: dialect, bytes (or a function), rounds, pace (seconds between two
# bytes).
sub pour {
    my ($path, %option) = @_;
    my $dialect = $option{dialect} // 'jsonrpc';
    my $bytes = ref $option{bytes} ? $option{bytes}->() : $option{bytes};
    $bytes x= 1 + int(262_144 / length $bytes) if !$option{pace};
    local $SIG{PIPE} = 'IGNORE';
    my $client;
    $option{say}->('flooding');
    for (1 .. $option{rounds}) {
        my $at = 0;
        while ($at < length $bytes) {
            if (!$client) {
                $client = Toolgate::Client->connect($path);
                Toolgate::Attacks::check($client, $dialect, 'before a flood');
                $at = 0;
            }
            my $n = pour_some($client->{in}, $bytes, $at, $option{pace});
            $client = undef if $n < 0;
            $at += $n if $n > 0;
        }
        $option{say}->('round');
    }
    Toolgate::Attacks::check(Toolgate::Client->connect($path), $dialect,
        'a new client');
    return;
}

# Writes from an offset without waiting, and reads. Returns the number of bytes
# written, or -1 if the socket is closed.
sub pour_some {
    my ($socket, $bytes, $at, $pace) = @_;
    vec(my $in = '', fileno $socket, 1) = 1;
    my $out = $in;
    select $in, $out, undef, undef;
    if (vec $in, fileno $socket, 1) {
        my $n = sysread $socket, my $read, 262_144;
        return -1 if defined $n ? !$n : !($!{EAGAIN} || $!{EINTR});
    }
    return 0 if !vec $out, fileno $socket, 1;
    my $n = syswrite $socket, $bytes, $pace ? 1 : 65_536, $at;
    sleep $pace if $pace;
    return $n // ($!{EAGAIN} || $!{EINTR} ? 0 : -1);
}

# Sends the calls of a round at once, each by its own client, and waits for all
# answers. Options: tool, dialect (ipc clients get no notifications), text
# (bytes of the argument `text`), count, fails (each answer must be an error),
# rounds.
sub calls {
    my ($path, %option) = @_;
    my $dialect = $option{dialect} // 'ipc';
    my $tool = $option{tool};
    wait_for_tool($path, $tool);
    my @clients = map { Toolgate::Client->connect($path) }
        1 .. $option{count} // 1;
    my $text = 'x' x ($option{text} // 0);
    my $call = Toolgate::Attacks::call_of($dialect, 1, $tool,
        qq({"text":"$text"}));
    for my $round (1 .. $option{rounds}) {
        $_->send_raw($call) for @clients;
        $option{say}->('flooding') if $round == 1;
        for my $client (@clients) {
            my $answer = answer_of($client, $dialect);
            my $is_error = index($answer, '"isError":true') >= 0
                || index($answer, '"error":{') >= 0;
            next if $is_error == !!$option{fails};
            die "$tool: " . substr($answer, 0, 200) . "\n";
        }
        $option{say}->('round');
    }
    return;
}

sub answer_of {
    my ($client, $dialect) = @_;
    return $client->recv_line if $dialect ne 'ipc';
    return $client->recv_bytes(unpack 'N', $client->recv_bytes(4));
}

sub wait_for_tool {
    my ($path, $tool) = @_;
    my $client = Toolgate::Client->connect($path);
    my $until = time + 120;
    while (!is_listed($client, $tool)) {
        die "no tool $tool\n" if time > $until;
        sleep 0.05;
    }
    $client->close;
    return;
}

sub is_listed {
    my ($client, $tool) = @_;
    my $params = {};
    while (1) {
        my $list = $client->rpc('tools/list', $params)->{result};
        return 1 if grep { $_->{name} eq $tool } @{ $list->{tools} };
        $params = { cursor => $list->{nextCursor} // return };
    }
}

# Searches an output with patterns, also by clients that leave at once. Options:
# tool (its output is searched), patterns, rounds.
sub searches {
    my ($path, %option) = @_;
    my $client = Toolgate::Client->connect($path);
    my $text = $client->call_tool($option{tool})->{result}{content}[0]{text};
    my ($key) = $text =~ /"output":"(\w{32})"/ or die "no output in $text\n";
    my @arguments = map { { output => $key, pattern => $_ } }
        @{ $option{patterns} };
    $option{say}->('flooding');
    for (1 .. $option{rounds}) {
        for my $arguments (@arguments) {
            my $gone = Toolgate::Client->connect($path);
            $gone->request('tools/call',
                { name => 'toolgate_output', arguments => $arguments });
            $gone->rpc('ping');
            $gone->close;
        }
        my @ids = map {
            $client->request('tools/call',
                { name => 'toolgate_output', arguments => $_ })
        } @arguments;
        for my $id (@ids) {
            my $reply = $client->reply($id);
            $reply->{result}{isError} or die "a pattern has found something\n";
        }
        $option{say}->('round');
    }
    return;
}

# Broadcasts a large text to many listeners. Options: listeners, reading
# (otherwise they are closed before each fourth broadcast), size, rounds.
sub broadcasts {
    my ($path, %option) = @_;
    my $teller = Toolgate::Client->connect($path);
    my $text = 'x' x $option{size};
    my @listeners;
    for my $round (1 .. $option{rounds}) {
        if ($round % 4 == 1 && (!@listeners || !$option{reading})) {
            $_->close for @listeners;
            @listeners = map { listen_to($path) } 1 .. $option{listeners};
            $option{say}->('flooding') if $round == 1;
        }
        my $id = $teller->request('tell', { text => $text });
        my $is_told = 0;
        while (1) {
            my $line = $teller->recv_line;
            last if $line =~ /^\{"jsonrpc":"2.0","id":$id,/;
        }
        $teller->{buf} = '';
        take($option{size}, @listeners) if $option{reading};
        $option{say}->('round');
    }
    $_->close for @listeners;
    return;
}

sub listen_to {
    my ($path) = @_;
    my $client = Toolgate::Client->connect($path);
    $client->rpc('ping');
    return $client;
}

# Reads and drops some bytes of each listener.
sub take {
    my ($size, @clients) = @_;
    my %left = map { fileno($_->{in}) => [ $_->{in}, $size ] } @clients;
    while (%left) {
        my $in = '';
        vec($in, $_, 1) = 1 for keys %left;
        select $in, undef, undef, undef;
        for my $fd (grep { vec $in, $_, 1 } keys %left) {
            my $n = sysread $left{$fd}[0], my $text, 1_048_576;
            next if !defined $n && ($!{EAGAIN} || $!{EINTR});
            die "a listener that reads was closed\n" if !$n;
            delete $left{$fd} if ($left{$fd}[1] -= $n) <= 0;
        }
    }
    return;
}

# Makes all rules of each day due at noon. Options: clock, rounds.
sub due {
    my ($path, %option) = @_;
    my $client = Toolgate::Client->connect($path);
    for my $round (1 .. $option{rounds}) {
        my $day = sprintf '2026-%02d-%02d', 4 + $round / 28, 1 + $round % 28;
        my $next = sprintf '2026-%02d-%02d', 4 + ($round + 1) / 28,
            1 + ($round + 1) % 28;
        $option{clock}->set("${day}T12:00:00Z");
        $option{say}->('flooding') if $round == 1;
        while (1) {
            my $rules = $client->result_of('automation.status')->{rules};
            last if !grep { $_->{nextRunAt} lt $next } @$rules;
            sleep 0.2;
        }
        $option{say}->('round');
    }
    return;
}

# Waits for each new list of Toolgate::Flood->lists.
sub lists {
    my ($path, %option) = @_;
    my $client = Toolgate::Client->connect($path);
    $option{say}->('flooding');
    my $seen = 0;
    for (1 .. $option{rounds}) {
        my $round = 0;
        while ($round <= $seen) {
            sleep 0.1;
            $client->request('tools/list');
            my $line = $client->recv_line;
            ($round) = $line =~ /In round (\d+)/;
            $round //= 0;
        }
        $seen = $round;
        $option{say}->('round');
    }
    return;
}

# Waits for the order to end: the flood continues by itself.
sub wait_for_end {
    my ($path, %option) = @_;
    $option{say}->('flooding');
    $option{wait}->();
    return;
}

1;
