# Idle connections: what each costs the worker, and what ten thousand of them
# cost a busy one.  Each has made a call before it went idle.

use strict;
use warnings;

my $count = 10_000;

return sub {
    my ($bench) = @_;
    my $us   = \&Toolgate::Bench::us;
    my $tool = $bench->toolgate($Toolgate::Bench::ECHO);

    $bench->table('Idle connections', 'what', 'without', 'with 10,000 idle',
        'ratio', 'at most');

    my @bytes;
    my ($without, $with, $ratio) = $bench->pairs(
        sub { $bench->load($tool)->{p50} },
        sub {
            my $figure = $bench->load($tool, idle => $count);
            push @bytes, $figure->{idle_bytes};
            return $figure->{p50};
        });

    # Later rounds find the memory of the first one.
    my $bytes = $bytes[0];
    $bench->line(
        [ 'memory of the worker per connection', '',
            sprintf('%.0f B', $bytes), '' ],
        value   => $bytes,
        at_most => 2048,
        unit    => 'B');
    $bench->line([
            'median latency of a busy connection', $us->($without),
            $us->($with),                   sprintf '%.2f', $ratio
        ],
        value   => $ratio,
        at_most => '1.10');
    $bench->end($tool);
};
