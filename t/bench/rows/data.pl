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
    my $tool = $bench->toolgate($tools);
    my @dialects = qw(jsonrpc relay ipc);
    $bench->table(
        'CPU time of the server per call, real arguments',
        'argument', 'connections × depth × bytes',
        @dialects, 'at most');
    for my $data (qw(source numbers nested)) {
        for my $work (@work) {
            my ($connections, $depth, $size) = @$work;
            my @cells = map {
                my $dialect = $_;
                # With its quotes escaped it is more than 1 MiB.
                my $fits = "$dialect$data$size" ne 'relaynested1000000';
                $fits
                    ? measure($bench, $tool, $data, $work, $dialect)
                    : undef;
            } @dialects;
            $bench->dialects([ $data, "$connections × $depth × $size" ],
                '1.8', @cells);
        }
    }
    $bench->end($tool);
}

# The figures of pairs() for an argument.
sub measure {
    my ($bench, $tool, $data, $work, $dialect) = @_;
    my ($connections, $depth, $size) = @$work;
    my %load = (
        connections => $connections,
        depth       => $depth,
        size        => $size,
        data        => $data,
        dialect     => $dialect,
    );
    my $echo = $bench->echo($dialect, $data, $size);
    return [
        $bench->pairs(
            sub { $bench->load($echo, %load)->{cpu} },
            sub { $bench->load($tool, %load, tool => $tool{$data})->{cpu} })
    ];
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
