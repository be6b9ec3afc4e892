# The longest wait of another party beside each flood of Toolgate::Floods, and
# what the worker and the runner, or the client that is flooded, grow by
# meanwhile.  The process that is flooded
# has a processor of its own; the flood comes from the other one, at the lowest
# priority, as in rows/hostile.pl.  The time for which the kernel keeps the
# worker, the runner or the client from a processor is not counted.  Nobody
# knows all of that time of a program, so its wait is shown and has no bound.
# Of several runs the shortest wait counts, as anything else on the machine only
# adds to it, and the largest growth.
#
# Environment: BENCH_FLOODS, a regular expression for "SOURCE: KIND", selects
# some floods.

use strict;
use warnings;

use List::Util qw(max min);

use Toolgate::Flooded;
use Toolgate::Floods;

# How often a flood may be measured until it has done a round.
my $WINDOWS = 20;

# Whose waits are shown, and those that have a bound.
my @shown = qw(echo ask run);
my @bound = qw(echo ask ping);

# One run: waits by probe, growth by process, and the names of the latter.
sub run {
    my ($bench, $row) = @_;
    my $flooded = Toolgate::Flooded->start(
        $row,
        cpu        => $bench->{client},
        server_cpu => $bench->{server},
        rounds     => 1_000_000);
    $flooded->flood;
    my %figure;
    for (1 .. $WINDOWS) {
        my $longest = $flooded->measure($bench->{ms} / 1000);
        $figure{$_} = max($figure{$_} // 0, $longest->{$_})
            for keys %$longest;
        my $ended = $flooded->ended;
        die "$ended\n" if defined $ended;
        last if !$row->{attack} || $flooded->rounds;
        last if max(values %figure) > 1000;
    }
    %figure = (%figure, $flooded->growth, names => [ $flooded->names ]);
    $flooded->stop;
    return \%figure;
}

sub ms { return defined $_[0] ? sprintf '%.1f ms', $_[0] : '' }

return sub {
    my ($bench) = @_;
    my $wanted = $ENV{BENCH_FLOODS} // '';
    Toolgate::Flooded::run_on($bench->{client}, $$);
    $bench->table('The longest wait beside a flood, and the growth of memory',
        'source: flood', 'wait for a worker', 'for the runner',
        'for a program', 'memory growth of both', 'at most',
        'longest wait', 'at most', 'met');
    for my $row (Toolgate::Floods::all()) {
        my $name = "$row->{source}: $row->{kind}";
        next if $name !~ /$wanted/ || !$row->{wait};
        my @runs = map {
            my $figure = eval { run($bench, $row) };
            $figure // do { warn "$name: $@"; () };
        } 1 .. $bench->{pairs};
        if (!@runs) {
            $bench->{missed}++;
            $bench->say("| $name | failed |" . ' |' x 7);
            next;
        }
        my %best = map {
            my $probe = $_;
            $probe => min(map { $_->{$probe} } @runs);
        } grep { exists $runs[0]{$_} } @shown, 'ping';
        my @grown = map {
            my $who = $_;
            max(map { $_->{$who} } @runs);
        } @{ $runs[0]{names} };
        my $wait = max(grep {defined} @best{@bound});
        my $is_large = max(@grown) > $row->{memory};
        $bench->{missed}++ if $is_large;
        my $memory = join(', ', map { sprintf '%.0f', $_ } @grown) . ' MB';
        $memory = "**$memory**" if $is_large;
        $bench->line([
                $name, map({ ms($best{$_}) } @shown), $memory,
                "$row->{memory} MB", ms($wait)
            ],
            value   => $wait,
            at_most => $row->{wait},
            unit    => 'ms');
    }
    Toolgate::Flooded::run_on(
        join(',', $bench->{server}, $bench->{client}), $$);
};
