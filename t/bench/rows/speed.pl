# What a call costs the server, against the raw echo: connections, depth and
# size as the project's targets have them.

use strict;
use warnings;

my @work = (
    [ 1,  1, 64,        1.1 ],
    [ 16, 1, 64,        1.2 ],
    [ 64, 8, 64,        1.8 ],
    [ 1,  1, 4096,      1.1 ],
    [ 16, 1, 65_536,    1.25 ],
    [ 4,  1, 1_000_000, 1.4 ],
);

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;
    my $tool = $bench->toolgate($Toolgate::Bench::ECHO);

    $bench->table(
        'CPU time of the server per call',
        'connections × depth × bytes',
        'dialect', 'raw echo', 'Toolgate', 'ratio', 'at most');

    for my $work (@work) {
        my ($connections, $depth, $size, $at_most) = @$work;
        for my $dialect (qw(jsonrpc relay ipc)) {
            # It has one call at a time.
            next if $dialect eq 'ipc' && $depth > 1;
            my %load = (
                connections => $connections,
                depth       => $depth,
                size        => $size,
                dialect     => $dialect,
            );
            my ($echo, $toolgate, $ratio) = $bench->pairs(
                sub { $bench->load($bench->echo($dialect), %load)->{cpu} },
                sub { $bench->load($tool, %load)->{cpu} });
            $bench->line([
                    "$connections × $depth × $size", $dialect,
                    $us->($echo), $us->($toolgate), sprintf '%.2f', $ratio
                ],
                value   => $ratio,
                at_most => $at_most);
        }
    }
    $bench->end($tool);
};
