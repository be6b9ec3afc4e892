package Toolgate::Many;

# Many calls of a tool that returns its argument `key`, a hundred at once.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT = qw(requests calls leave);

# Returns numbered requests, whose keys are k and the number.
sub requests {
    my ($n, $from, $tool) = @_;
    return join '', map {
        qq({"jsonrpc":"2.0","id":$_,"method":"tools/call","params":)
            . qq({"name":"$tool","arguments":{"key":"k$_"}}}\n)
    } $from .. $from + $n - 1;
}

# Returns undef if each was answered with its own key, else the first error.
sub calls {
    my ($client, $tool, $n) = @_;
    for (my $from = 1; $from <= $n; $from += 100) {
        $client->send_raw(requests(100, $from, $tool));
        my %seen;
        for (1 .. 100) {
            my $line = $client->recv_line;
            $seen{$1}++ if $line =~ /"id":(\d+),.*\bk\1\b/;
        }
        return $from if keys %seen != 100;
    }
    return;
}

# Runs clients that cancel some calls, and leave before the others end.
sub leave {
    my ($tg, $tool) = @_;
    for (1 .. 20) {
        my $client = $tg->connect;
        $client->send_raw(requests(100, 1, $tool));
        $client->notify('notifications/cancelled', { requestId => $_ })
            for 1 .. 50;
        $client->close;
    }
}

1;
