# What is known of calls besides, and what that costs: the server's CPU time of
# a call with a line in a log, with records in a trace, and with its numbers,
# against one without.

use strict;
use warnings;

use Toolgate::Guard;
use Toolgate::Scratch;
use Toolgate::Trace;
use Toolgate::Util;

my @logs = (
    [ 'default, buffer=32k'  => 'tool_log LOG default buffer=32k;' ],
    [ 'json, buffer=32k'     => 'tool_log LOG json buffer=32k;' ],
    [ 'own format, buffer=32k' => 'tool_log LOG own buffer=32k;' ],
    [ 'default, unbuffered' => 'tool_log LOG;' ],
);
my @traces = (
    [ 'both frames'               => 'tool_trace LOG;' ],
    [ 'both frames, body=4k'      => 'tool_trace LOG body=4k;' ],
    [ 'only other clients, `if=`'  => 'tool_trace LOG if=$tool_client_name;' ],
);
my $format = q(tool_log_format own '$time_iso8601 $tool_client_uid )
    . q($tool_name $tool_status $tool_run_time $tool_bytes_out';);
my $us = \&Toolgate::Bench::us;
my %load = (connections => 16);

# A line for what a server has more than another one.
sub compare {
    my ($bench, $name, $off, $on) = @_;
    my ($without, $with) = $bench->pairs(map {
        my $server = $_;
        sub { $bench->load($server, %load)->{cpu} }
    } $off, $on);
    $bench->line([
        $name, $us->($without), $us->($with), $us->($with - $without)
    ]);
}

sub measure_log {
    my ($bench, $off, @rows) = @_;
    for my $row (@rows) {
        my ($name, $line) = @$row;
        (my $body = $line) =~ s/LOG/calls.log/;
        my $on = $bench->toolgate($body . $Toolgate::Bench::ECHO,
            stream => $format);
        compare($bench, $name, $off, $on);
        $bench->end($on);
    }
}

# A module that writes no numbers.
sub uncounted {
    return Toolgate::Scratch->build(
        Toolgate::Guard::root(),
        {
            CFLAGS => '',
            edit   => sub {
                my ($top) = @_;
                Toolgate::Scratch::edit(
                    "$top/module/nginx/shm/ngx_tg_counters.h",
                    sub {
                        s/__atomic_store_n\(&counters->n\[i\][^;]*;
                         /(void) counters; (void) i; (void) n;/x;
                    });
            },
        });
}

return sub {
    my ($bench) = @_;
    my $off = $bench->toolgate($Toolgate::Bench::ECHO);

    $bench->table('Logs of calls', 'tool_log, 16 × 1 × 64', 'off', 'on',
        'per line', 'at most');
    measure_log($bench, $off, @logs);

    if (has_msgpack()) {
        $bench->table('Traces', 'tool_trace, 16 × 1 × 64', 'off', 'on',
            'per call', 'at most');
        measure_log($bench, $off, @traces);
    }

    my $bare = do {
        local $Toolgate::Util::BUILD_ENV{module} = uncounted();
        $bench->toolgate($Toolgate::Bench::ECHO);
    };
    $bench->table('Counters of calls', 'counters, 16 × 1 × 64', 'off', 'on',
        'per call', 'at most');
    compare($bench, 'counters of a tool', $bare, $off);
    $bench->end($_) for $bare, $off;
};
