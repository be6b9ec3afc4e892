# An agent's ping beside a server that floods the bridge in one way after the
# other (t/servers/flood.pl): the median and the longest wait, and the memory
# of the bridge.  The server shares no processor with the bridge and the agent.

use strict;
use warnings;

use List::Util qw(max min);
use Time::HiRes qw(time);

use Toolgate::Guard;
use Toolgate::Process;
use Toolgate::Util;

# Not those that go on to the agent: they wait for it to read.
my @kinds = qw(requests pings blank empty number garbage progress changed
    answers);

# For some time: the waits for answers to pings, in ms, shortest first.
sub waits {
    my ($bench, $bridge) = @_;
    my @waits;
    my $end = time + $bench->{ms} / 1000;
    for (my $from = time; $from < $end; $from = time) {
        $bridge->rpc('ping');
        push @waits, 1000 * (time - $from);
    }
    @waits = sort { $a <=> $b } @waits;
    return @waits;
}

sub peak {
    my ($pid) = @_;
    my ($kb) = (slurp("/proc/$pid/status") // '') =~ /^VmHWM:\s*(\d+)/m;
    return ($kb // 0) / 1024;
}

sub on {
    my ($cpu, @command) = @_;
    return Toolgate::Process->spawn({ stderr => '/dev/null' },
        'taskset', '-c', $cpu, @command);
}

return sub {
    my ($bench) = @_;
    my $path = Toolgate::Guard::root() . '/flood.sock';
    $bench->table('The longest wait of an agent, beside a flood of its server',
        'flood', 'median', 'memory', 'longest wait', 'at most', 'met');
    for my $how (map { ([$_], [ $_, 'reads' ]) } @kinds) {
        my (@longest, @median, $memory);
        for (1 .. $bench->{pairs}) {
            my $flood = on($bench->{server}, 'perl', "$TOP/t/servers/flood.pl",
                $path, @$how);
            $flood->recv_line;
            my $bridge = on($bench->{client}, "$BUILD/toolgate-bridge", $path);
            $bridge->rpc('initialize', {
                protocolVersion => '2025-11-25',
                capabilities    => {},
            });
            $flood->recv_line;
            my @waits = waits($bench, $bridge);
            push @longest, $waits[-1];
            push @median,  $waits[ @waits / 2 ];
            $memory = max($memory // 0, peak($bridge->pid));
            $_->signal('TERM'), $_->wait_exit for $bridge, $flood;
        }
        my $longest = min(@longest);
        $bench->line([
                join(', ', @$how), sprintf('%.2f ms', min(@median)),
                sprintf('%.1f MB', $memory), sprintf('%.1f ms', $longest)
            ],
            value   => $longest,
            at_most => 5,
            unit    => 'ms');
    }
};
