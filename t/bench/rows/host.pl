# A program that has libtoolgate: how long its server takes to start and to
# stop, and what a call of a function of its costs beside one that NGINX calls
# in a shared object, and beside `return` of the same text, which calls none.

use strict;
use warnings;

use Toolgate::Guard;
use Toolgate::Native;
use Toolgate::Process;
use Toolgate::Util;

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;
    my $dir = Toolgate::Guard::root() . '/host';
    mkdir $dir, 0700;
    local $ENV{XDG_RUNTIME_DIR} = $dir;
    my @host = ("$BUILD/bench/bench_host", '--cpu' => $bench->{server});

    $bench->table('The library in a program', 'what', 'compared with',
        'Toolgate', 'ratio', 'at most');
    my $life = Toolgate::Bench::figures(
        $bench->run(@host, '--cycles' => 2000));
    for my $what (qw(start stop)) {
        my $ms = $life->{"${what}_p50"} / 1e6;
        $bench->line([
                "$what, median of 2,000 (90 %: "
                    . $us->($life->{"${what}_p90"}) . ')',
                '', sprintf('%.3f ms', $ms), ''
            ],
            value   => $ms,
            at_most => 1,
            unit    => 'ms');
    }

    # A function in NGINX that does the same: it gets the text, and answers.
    my $so = Toolgate::Native->probe(
        Toolgate::Guard::root() . '/probe.so', 'bench');
    (my $body = $Toolgate::Bench::ECHO) =~
        s/return (.*);/library $so probe_echo_argument $1;/;
    my $return  = $bench->toolgate($Toolgate::Bench::ECHO);
    my $library = $bench->toolgate($body);
    my $process = Toolgate::Process->spawn({ stderr => '/dev/stderr' }, @host);
    chomp(my $socket = $process->recv_line);
    my $host = { socket => $socket, pids => [ $process->pid ] };
    for my $depth (1, 8) {
        my $connections = $depth == 1 ? 16 : 64;
        for my $other ([ library => $library, at_most => 1.1 ],
            [ return => $return ])
        {
            my ($name, $tool, @bound) = @$other;
            my ($one, $own, $ratio) = $bench->pairs(map {
                my $tool = $_;
                sub {
                    $bench->load($tool, connections => $connections,
                        depth => $depth)->{cpu};
                }
            } $tool, $host);
            $bench->line([
                    "a call, $connections × $depth × 64",
                    "NGINX, `$name`: " . $us->($one),
                    $us->($own), sprintf '%.2f', $ratio
                ],
                value => $ratio, @bound);
        }
    }
    $process->signal('TERM');
    $process->stop;
    $bench->end($_) for $return, $library;
};
