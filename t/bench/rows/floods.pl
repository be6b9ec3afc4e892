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

# A line for the floods of one kind of source that have one bound: the longest
# wait, and the growth of memory that is nearest to its bound.
sub summarize {
    my ($bench, $group) = @_;
    my @floods = @{ $group->{floods} };
    my $bound = $group->{row}{wait};
    my ($slow) = sort { $b->{wait} <=> $a->{wait} } @floods;
    my ($large) = sort {
        $b->{memory} / $b->{bound} <=> $a->{memory} / $a->{bound}
    } @floods;
    my $slow_n = ($group->{failed} // 0) + grep { $_->{wait} > $bound } @floods;
    my $large_n = grep { $_->{memory} > $_->{bound} } @floods;
    $bench->{missed} += $slow_n + $large_n if $slow_n || $large_n;
    my $cell = \&Toolgate::Bench::bound;
    $bench->say('| '
            . join(' | ', $group->{source}, scalar @floods,
                @floods ? (ms($slow->{wait}), $slow->{kind}) : ('failed', ''),
                $cell->("$bound ms", $slow_n),
                @floods
                ? (sprintf('%.0f MB', $large->{memory}),
                    $cell->("$large->{bound} MB", $large_n))
                : ('', ''))
            . ' |');
    return;
}

sub ms { return defined $_[0] ? sprintf '%.1f ms', $_[0] : '' }

return sub {
    my ($bench) = @_;
    my $wanted = $ENV{BENCH_FLOODS} // '';
    Toolgate::Flooded::run_on($bench->{client}, $$);
    print "\n| flood | wait for a worker | for the runner | for a program |"
        . " memory growth | at most | longest wait | at most |\n";
    my (@groups, %group);
    for my $row (Toolgate::Floods::all()) {
        my $name = "$row->{source}: $row->{kind}";
        next if $name !~ /$wanted/ || !$row->{wait};
        my @runs = map {
            my $figure = eval { run($bench, $row) };
            $figure // do { warn "$name: $@"; () };
        } 1 .. $bench->{pairs};
        my $source = $row->{source} =~ s/,.*//r;
        my $group = $group{"$source $row->{wait}"} //= do {
            push @groups,
                my $new = { source => $source, row => $row, floods => [] };
            $new;
        };
        if (!@runs) {
            print "| $name | failed |\n";
            $group->{failed}++;
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
        push @{ $group->{floods} }, {
            kind   => $row->{kind},
            wait   => $wait,
            memory => max(@grown),
            bound  => $row->{memory},
        };
        print '| '
            . join(' | ', $name, map({ ms($best{$_}) } @shown),
                join(', ', map { sprintf '%.0f', $_ } @grown) . ' MB',
                "$row->{memory} MB", ms($wait), "$row->{wait} ms")
            . " |\n";
    }
    $bench->table('The longest wait beside floods, and the growth of memory',
        'source', 'floods', 'longest wait', 'with', 'at most',
        'memory growth', 'at most');
    summarize($bench, $_) for @groups;
    Toolgate::Flooded::run_on(
        join(',', $bench->{server}, $bench->{client}), $$);
};
