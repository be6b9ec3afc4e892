# A call that a shared object answers, against one that `return` does: the
# same text, and the server's CPU time.

use strict;
use warnings;

use Toolgate::Guard;
use Toolgate::Native;

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;

    my $so = Toolgate::Native->probe(
        Toolgate::Guard::root() . '/probe.so', 'bench');
    (my $body = $Toolgate::Bench::ECHO) =~
        s/return .*;/library $so probe_echo_text;/;
    my $return  = $bench->toolgate($Toolgate::Bench::ECHO);
    my $library = $bench->toolgate($body);

    $bench->table('Libraries', 'connections × depth × bytes',
        'return', 'library', 'ratio', 'at most');
    my ($one, $other, $ratio) = $bench->pairs(map {
        my $tool = $_;
        sub { $bench->load($tool, connections => 16)->{cpu} }
    } $return, $library);
    $bench->line([
            '16 × 1 × 64', $us->($one), $us->($other), sprintf '%.2f', $ratio
        ],
        value   => $ratio,
        at_most => 1.1);
    $bench->end($_) for $return, $library;
};
