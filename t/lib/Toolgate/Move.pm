package Toolgate::Move;

# Reloads after which every session is in a new worker.

use strict;
use warnings;

use Exporter qw(import);

use Toolgate::Util;

our @EXPORT = qw(move old_gone sockets);

# Reloads as $tg->reload() does, and waits for the end of old workers.
sub move {
    my ($tg, $body, %option) = @_;
    my @old = $tg->worker_pids;
    $tg->reload($body, %option);
    old_gone($tg, @old);
}

sub old_gone {
    my ($tg, @old) = @_;
    wait_for {
        my %now = map { $_ => 1 } $tg->worker_pids(all => 1);
        return !grep { $now{$_} } @old;
    } 'the old workers to go';
}

# Returns the open sockets of a process, which change if it reconnects.
sub sockets {
    my ($pid) = @_;
    return join ' ', sort grep {/^socket:/}
        map { readlink($_) // '' } glob "/proc/$pid/fd/*";
}

1;
