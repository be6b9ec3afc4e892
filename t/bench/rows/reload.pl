# A thousand reloads (BENCH_RELOADS), each with another catalogue, under busy
# clients that do not know how to connect again.  The load generator ends when
# a connection does.  Neither workers nor clients have a processor of their
# own: while new workers start there is none to spare.

use strict;
use warnings;

use Toolgate::Process;
use Toolgate::Util;

my $reloads = $ENV{BENCH_RELOADS} // 1000;

# Every list of tools is another one.
sub body {
    my ($n) = @_;
    (my $body = $Toolgate::Bench::ECHO) =~ s/its text/its text, $n/;
    return $body;
}

# Busy clients, from now on.
sub start {
    my ($tool, $dialect, $connections, $depth) = @_;
    my $load = Toolgate::Process->spawn({ stderr => '/dev/stderr' },
        "$BUILD/bench/bench_load",
        '--socket'      => $tool->{socket},
        '--dialect'     => $dialect,
        '--connections' => $connections,
        '--depth'       => $depth,
        '--ms'          => 86_400_000,
        '--windows');
    $load->recv_line(60);
    return $load;
}

return sub {
    my ($bench) = @_;
    my $ms   = sub { sprintf '%.2f ms', $_[0] / 1e6 };
    my $tool = $bench->toolgate(body(0), workers => 2);
    my $tg   = $tool->{tg};

    $bench->table("$reloads reloads with busy clients", 'clients', 'calls',
        'median latency', 'longest call per reload, median', 'longest call',
        'lost connections', 'at most');
    # One alone, then those of all dialects at once.
    for my $together ([ [ jsonrpc => 1, 1 ] ],
        [ [ jsonrpc => 16, 4 ], [ relay => 16, 1 ], [ ipc => 16, 1 ] ])
    {
        my @loads = map { start($tool, @$_) } @$together;
        for my $n (1 .. $reloads) {
            # Each reload is a window of its own.
            $_->signal('USR1') for @loads;
            $tg->reload(body($n));
        }
        for my $work (@$together) {
            my $load = shift @loads;
            my ($dialect, $connections, $depth) = @$work;
            $load->signal('TERM');
            my $line   = eval { $load->recv_line(60) } // '';
            my $figure = Toolgate::Bench::figures($line);
            my $lost   = $figure->{calls} ? 0 : $connections;
            $bench->line([
                    "$connections × $depth, $dialect",
                    $figure->{calls} // '-',
                    map({ $ms->($figure->{$_} // 0) }
                        qw(p50 pause_p50 pause_max)),
                    $lost
                ],
                value   => $lost,
                at_most => 0);
            $load->stop;
        }
    }
    $bench->end($tool);
};
