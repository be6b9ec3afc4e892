# The bridge: how soon it answers, what it holds, and what a call through it
# costs.  The agent and the bridge share a processor, as the load generator
# has it in the raw echo's round trip; then all three share one.

use strict;
use warnings;

use Toolgate::Util;

return sub {
    my ($bench) = @_;
    my $tool = $bench->toolgate($Toolgate::Bench::ECHO);
    my $agent = sub {
        my ($tool, @option) = @_;
        return Toolgate::Bench::figures(
            $bench->run("$BUILD/bench/bench_agent", @option,
                "$BUILD/toolgate-bridge", $tool->{socket}));
    };

    $bench->table('The bridge', 'what', 'compared with', 'Toolgate', 'ratio',
        'at most');

    my $bare = Toolgate::Bench::figures(
        $bench->run("$BUILD/bench/bench_agent", '--starts' => 200,
            '--cpu' => $bench->{client},
            "$BUILD/bench/bench_agent", '--answer'));
    my $start = $agent->($tool, '--starts' => 200, '--cpu' => $bench->{client});
    my $ms = $start->{start_p50} / 1e6;
    $bench->line([
            'time from start to the answer to `initialize`',
            sprintf('a program that only answers: %.2f ms',
                $bare->{start_p50} / 1e6),
            sprintf('%.2f ms', $ms), ''
        ],
        value   => $ms,
        at_most => 2,
        unit    => 'ms');

    for my $all (0, 1) {
        my $cpu = $all ? $bench->{server} : $bench->{client};
        my $rss;
        my ($echo, $call, $ratio) = $bench->pairs(
            sub {
                $bench->load($bench->echo('jsonrpc'), cpu => $cpu)->{p50};
            },
            sub {
                my $figure = $agent->($tool, '--calls' => 20_000,
                    '--cpu' => $cpu);
                $rss = $figure->{rss} / 1024;
                return $figure->{call_p50};
            });
        if (!$all) {
            $bench->line(
                [ 'resident memory after 20,000 calls', '',
                    sprintf('%.2f MB', $rss),
                    '' ],
                value   => $rss,
                at_most => 2,
                unit    => 'MB');
        }
        $bench->line([
                'round trip of a call'
                    . ($all ? ', all on one processor' : ''),
                'raw echo: ' . Toolgate::Bench::us($echo),
                Toolgate::Bench::us($call), sprintf '%.2f', $ratio
            ],
            $all ? () : (value => $ratio, at_most => 2.5));
    }
    $bench->end($tool);
};
