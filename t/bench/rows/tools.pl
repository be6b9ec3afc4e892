# Does a call cost more where there are more tools?

use strict;
use warnings;

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;

    # Tools named as unlike as those of real servers: a word and a number.
    my $server = sub {
        my ($n) = @_;
        my $body = $Toolgate::Bench::ECHO;
        $body .= qq(tool tool_$_ { description "Number $_."; )
            . qq(input_schema '$Toolgate::Bench::SCHEMA'; )
            . qq(return \$tool_arg_text; }\n)
            for 2 .. $n;
        return $bench->toolgate($body);
    };
    my @tool = map { $server->($_) } 10, 5000;

    $bench->table('Many tools', 'what', '10 tools', '5,000 tools', 'ratio',
        'at most');
    my ($few, $many, $ratio) =
        $bench->pairs(map { my $tool = $_;
            sub { $bench->load($tool, connections => 16)->{cpu} } } @tool);
    $bench->line([
            'CPU time per call, 16 × 1 × 64', $us->($few),
            $us->($many),                   sprintf '%.2f', $ratio
        ],
        value   => $ratio,
        at_most => '1.10');
    $bench->end($_) for @tool;
};
