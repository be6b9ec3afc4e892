# A client that behaves, beside others that do not: its median, against the
# one that it has alone.  The attackers share the processor of the load
# generator, at the lowest priority: what they cost it is not the server's.

use strict;
use warnings;

use Toolgate::Attacker;
use Toolgate::Hostile;

my $many = 1_000_000;
my @attacks = (
    [ 'a byte a second × 1,000', 'trickle', connections => 1000, pace => 1 ],
    [ 'never reading × 60', 'deaf', connections => 60 ],
    [ 'half closing',       'half',    rounds => $many ],
    [ 'garbage',            'garbage', rounds => $many ],
    [ '10 MB of brackets',  'deep',    rounds => $many ],
    [ 'a million keys',     'keys',    rounds => $many ],
    [ 'ids of 1 MB',        'ids',     rounds => $many ],
    [ 'opening and closing', 'churn',  rounds => $many ],
    [ 'connections nearly all taken', 'exhaust', most => 4000 ],
    [ '9 MB of a message, and no more × 48', 'hoard', connections => 48 ],
    [ 'a flood of calls', 'flood', calls => 1000 * $many ],
);

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;

    $bench->table('Hostile clients', 'beside whom',
        'server busy with them', 'median latency alone', 'beside them',
        'ratio', 'at most', 'met');

    for my $attack (@attacks) {
        my ($name, $what, @options) = @$attack;
        my $tool = $bench->toolgate(
            "tool_idle_timeout off frame=1h;\ntool_send_timeout 1h;\n"
                . $Toolgate::Hostile::TOOLS,
            # The load generator is a new client: some are left for it.
            $what eq 'exhaust' ? (connections => 4096) : ());
        my (@usual, @busy);
        my ($alone, $beside, $ratio) = $bench->pairs(
            sub {
                my $figure = $bench->load($tool);
                push @usual, $figure->{cpu};
                return $figure->{p50};
            },
            sub {
                my $attacker = Toolgate::Attacker->start(
                    $what, $tool->{socket}, @options,
                    nice => 19,
                    cpu  => $bench->{client});
                # Those who hold something say when they do.
                $attacker->line if $what =~ /^(?:trickle|exhaust|hoard)$/;
                my $figure = $bench->load($tool);
                push @busy, 1 - $usual[-1] / ($figure->{cpu} || 1);
                my $ended = $attacker->ended;
                die "$name: $ended\n" if defined $ended;
                $attacker->stop;
                return $figure->{p50};
            });
        # Of the CPU time of its worker, what the calls do not explain.
        my $busy = Toolgate::Bench::median(@busy);
        $bench->line([
                $name, sprintf('%.0f %%', 100 * ($busy > 0 ? $busy : 0)),
                $us->($alone), $us->($beside), sprintf '%.2f', $ratio
            ],
            value   => $ratio,
            at_most => 2);
        $bench->end($tool);
    }
};
