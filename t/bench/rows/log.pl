# What a line about each call costs: the server's CPU time of a call, against
# one without.

use strict;
use warnings;

my @logs = (
    [ 'default, buffer=32k'  => 'tool_log LOG default buffer=32k;' ],
    [ 'json, buffer=32k'     => 'tool_log LOG json buffer=32k;' ],
    [ 'of one\'s own, buffer=32k' => 'tool_log LOG own buffer=32k;' ],
    [ 'default, each written' => 'tool_log LOG;' ],
);
my $format = q(tool_log_format own '$time_iso8601 $tool_client_uid )
    . q($tool_name $tool_status $tool_run_time $tool_bytes_out';);

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;
    my $off = $bench->toolgate($Toolgate::Bench::ECHO);

    $bench->table('Logs of calls', 'tool_log, 16 × 1 × 64', 'off', 'on',
        'a line', 'at most', 'met');
    for my $log (@logs) {
        my ($name, $line) = @$log;
        (my $body = $line) =~ s/LOG/calls.log/;
        my $on = $bench->toolgate($body . $Toolgate::Bench::ECHO,
            stream => $format);
        my ($without, $with) = $bench->pairs(map {
            my $tool = $_;
            sub { $bench->load($tool, connections => 16)->{cpu} }
        } $off, $on);
        $bench->line([
            $name, $us->($without), $us->($with), $us->($with - $without)
        ]);
        $bench->end($on);
    }
    $bench->end($off);
};
