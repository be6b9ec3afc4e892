# Two workers against one.  There is no third processor for the load
# generator, so the calls are such that cost the server much (a pattern of the
# schema that tries some ten thousand ways) and the generator little.

use strict;
use warnings;

return sub {
    my ($bench) = @_;
    if ($bench->{server} == $bench->{client}) {
        $bench->say("\nTwo workers: needs two processors");
        return;
    }
    (my $body = $Toolgate::Bench::ECHO) =~
        s/"type":"string"/"type":"string","pattern":"^(?!.*a.*a.*b)"/;
    my $one = $bench->toolgate($body);
    my $two = $bench->toolgate(
        $body,
        workers => 2,
        cpus    => [ @$bench{qw(server client)} ]);

    $bench->table('Two workers on two processors', 'what', 'one worker',
        'two workers', 'ratio', 'at least');
    my ($first, $second, $ratio) =
        $bench->pairs(map { my $tool = $_;
            sub {
                return $bench->load($tool, connections => 64, size => 50)
                    ->{per_second};
            } } $one, $two);
    $bench->line([
            'calls per second, 64 × 1 × 50',
            map({ sprintf '%.0f', $_ } $first, $second), sprintf '%.2f', $ratio
        ],
        value    => $ratio,
        at_least => 1.7);
    $bench->end($_) for $one, $two;
};
