# A call that is passed on to a backend over Unix sockets, against a raw relay
# in front of the raw echo: two hops each.  What the backend, a raw echo in
# both, takes counts, too.

use strict;
use warnings;

my @work = ([ 16, 1, 64, 1.5 ], [ 16, 1, 65_536, 1.6 ]);

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;
    my $backend = $bench->echo('passed');
    my $relay = $bench->relay($bench->echo('jsonrpc'));
    (my $body = $Toolgate::Bench::ECHO) =~
        s/return .*;/pass unix:$backend->{socket};/;
    my $tool = $bench->toolgate($body);
    push @{ $tool->{pids} }, @{ $backend->{pids} };

    $bench->table(
        'CPU time of two hops per call',
        'connections × depth × bytes', 'raw relay and echo',
        'Toolgate and echo', 'ratio', 'at most');
    for my $work (@work) {
        my ($connections, $depth, $size, $at_most) = @$work;
        my %load = (
            connections => $connections,
            depth       => $depth,
            size        => $size,
        );
        my ($raw, $passed, $ratio) = $bench->pairs(
            sub { $bench->load($relay, %load)->{cpu} },
            sub { $bench->load($tool, %load)->{cpu} });
        $bench->line([
                "$connections × $depth × $size", $us->($raw),
                $us->($passed),                  sprintf '%.2f', $ratio
            ],
            value   => $ratio,
            at_most => sprintf '%.2f', $at_most);
    }
    $bench->end($tool);
};
