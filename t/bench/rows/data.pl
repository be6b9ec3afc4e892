# What real arguments cost: source code, which has an escape every 22 bytes,
# an array of numbers, and nested objects; and validating them alone, beside
# simdjson.

use strict;
use warnings;

use Toolgate::Util;

# Answers with its text, or with the text of its data.
my $tools = <<"END";
$Toolgate::Bench::ECHO
tool data {
    description  "Answers with its data.";
    input_schema '{"type":"object","properties":{"data":{
                   "type":["array","object"]}},"required":["data"]}';
    return       \$tool_arg_data;
}
END

my @work = ([ 16, 1, 65_536 ], [ 4, 1, 1_000_000 ]);
my %tool = (source => 'echo', numbers => 'data', nested => 'data');

sub calls {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;
    my $tool = $bench->toolgate($tools);
    $bench->table(
        'CPU time of the server per call, real arguments',
        'argument', 'connections × depth × bytes',
        'dialect', 'raw echo', 'Toolgate', 'ratio', 'at most');
    for my $data (qw(source numbers nested)) {
        for my $work (@work) {
            my ($connections, $depth, $size) = @$work;
            for my $dialect (qw(jsonrpc relay ipc)) {
                # With its quotes escaped it is more than 1 MiB.
                next if $dialect eq 'relay' && "$data$size" eq 'nested1000000';
                my %load = (
                    connections => $connections,
                    depth       => $depth,
                    size        => $size,
                    data        => $data,
                    dialect     => $dialect,
                );
                my $echo = $bench->echo($dialect, $data, $size);
                my ($theirs, $ours, $ratio) = $bench->pairs(
                    sub { $bench->load($echo, %load)->{cpu} },
                    sub {
                        $bench->load($tool, %load, tool => $tool{$data})
                            ->{cpu};
                    });
                $bench->line([
                        $data,     "$connections × $depth × $size", $dialect,
                        $us->($theirs), $us->($ours), sprintf '%.2f', $ratio
                    ],
                    value   => $ratio,
                    at_most => '1.8');
            }
        }
    }
    $bench->end($tool);
}

sub validation {
    my ($bench) = @_;
    $bench->table('Validation alone', 'data', 'bytes', 'simdjson', 'Toolgate',
        'ratio of times', 'at most');
    for my $data (qw(text source numbers nested)) {
        for my $size (65_536, 1_000_000) {
            my @arguments = ($data, $size, $bench->{server});
            my $ns = sub {
                my ($program) = @_;
                my $line = $bench->run("$BUILD/bench/$program", @arguments);
                return Toolgate::Bench::figures($line)->{ns};
            };
            my ($theirs, $ours, $ratio) = $bench->pairs(
                sub { $ns->('bench_simdjson') },
                sub { $ns->('bench_check') });
            $bench->line([
                    $data, $size,
                    map({ sprintf '%.1f GB/s', $size / $_ } $theirs, $ours),
                    sprintf '%.2f', $ratio
                ],
                value   => $ratio,
                at_most => '1.0');
        }
    }
}

return sub {
    my ($bench) = @_;
    calls($bench);
    validation($bench);
};
