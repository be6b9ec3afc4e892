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
    my $tool = $bench->toolgate($Toolgate::Bench::ECHO);

    my @dialects = qw(jsonrpc relay ipc);
    $bench->table('CPU time of the server per call',
        'connections × depth × bytes', @dialects, 'at most');

    for my $work (@work) {
        my ($connections, $depth, $size, $at_most) = @$work;
        # An `ipc` client has one call at a time.
        my @cells = map {
            my $dialect = $_;
            my %load = (
                connections => $connections,
                depth       => $depth,
                size        => $size,
                dialect     => $dialect,
            );
            $dialect eq 'ipc' && $depth > 1 ? undef : [
                $bench->pairs(
                    sub { $bench->load($bench->echo($dialect), %load)->{cpu} },
                    sub { $bench->load($tool, %load)->{cpu} })
            ];
        } @dialects;
        $bench->dialects([ "$connections × $depth × $size" ], $at_most, @cells);
    }
    $bench->end($tool);
};
