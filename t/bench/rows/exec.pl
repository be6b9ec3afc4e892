# `exec` of /bin/true against a bare posix_spawn and wait of it, both on the
# server's processor.

use strict;
use warnings;

use Toolgate::Util;

return sub {
    my ($bench) = @_;
    my $us   = \&Toolgate::Bench::us;
    my $tool = $bench->toolgate(
        'tool true { description "Does nothing."; exec /bin/true; }');

    $bench->table('Programs', 'what', 'posix_spawn and wait', 'Toolgate',
        'ratio', 'at most');

    my ($bare, $exec, $ratio) = $bench->pairs(
        sub {
            return Toolgate::Bench::figures(
                $bench->run("$BUILD/bench/bench_spawn", '--count' => 500,
                    '--cpu' => $bench->{server}, '/bin/true'))->{p50};
        },
        sub {
            return $bench->load($tool, tool => 'true', reply => '',
                calls => 500)->{p50};
        });
    $bench->line([
            'a run of `/bin/true`, median', $us->($bare), $us->($exec),
            sprintf '%.2f',                 $ratio
        ],
        value   => $ratio,
        at_most => 1.5);
    $bench->end($tool);
};
