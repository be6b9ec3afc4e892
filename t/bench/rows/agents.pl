# Twenty agents (BENCH_AGENTS), each with five MCP servers from npm: each agent
# starts its own, as agents do, or one Toolgate has them and each agent starts
# a bridge.  Agents start one after the other, list all tools, and stay.
# Memory is what processes have, pages that are shared divided (PSS).

use strict;
use warnings;

use Time::HiRes qw(time);

use Toolgate::Guard;
use Toolgate::Node;
use Toolgate::Process;
use Toolgate::Util;

my $agents = $ENV{BENCH_AGENTS} // 20;
my @servers = qw(everything filesystem github memory sequential-thinking);

# Tools that the agent can call.  Toolgate does not list those that must run as
# an MCP task to a client that has no such tasks; the server itself does.
sub callable {
    my ($list) = @_;
    return grep { ($_->{execution}{taskSupport} // '') ne 'required' } @$list;
}

# Starts the MCP servers of one agent together and waits until it has the tools
# of all, at least `tools` of them.
sub agent {
    my ($tools, @commands) = @_;
    my $start = time;
    my @ends = map {
        Toolgate::Process->spawn({ stderr => '/dev/null' }, @$_)
    } @commands;
    my %id = map {
        $_ => $_->request('initialize', {
            protocolVersion => '2025-11-25',
            capabilities    => {},
            clientInfo      => { name => 'bench', version => '1' },
        })
    } @ends;
    for my $end (@ends) {
        $end->reply($id{$end}, 120);
        $end->notify('notifications/initialized');
        $id{$end} = $end->request('tools/list');
    }
    my $count = 0;
    for my $end (@ends) {
        # A notification follows if the list is not complete yet.
        while (1) {
            my $listed = callable($end->reply($id{$end}, 120)->{result}{tools});
            $count += $listed, last if @ends > 1 || $listed >= $tools;
            $end->recv_where(
                sub { ($_[0]{method} // '') =~ /list_changed/ }, 120, 'news');
            $id{$end} = $end->request('tools/list');
        }
    }
    return { ends => \@ends, seconds => time - $start, tools => $count };
}

# Everything that was started, but this and what other rows did.
my %others;

sub weigh {
    my @pids = grep { !$others{$_} } keys %{ Toolgate::Guard::processes() };
    my $pss = 0;
    for my $pid (@pids) {
        my $text = slurp("/proc/$pid/smaps_rollup") // '';
        $pss += $1 if $text =~ /^Pss:\s+(\d+) kB/m;
    }
    return (scalar @pids, $pss / 1024);
}

# All agents: how many processes, MB, seconds of each agent, tools.
sub measure_agents {
    my ($tools, @commands) = @_;
    my @agents;
    push @agents, agent($tools, @commands) for 1 .. $agents;
    my ($processes, $mb) = weigh();
    $_->stop for map { @{ $_->{ends} } } @agents;
    return {
        processes => $processes,
        mb        => $mb,
        seconds   => [ map { $_->{seconds} } @agents ],
        tools     => $agents[-1]{tools},
    };
}

return sub {
    my ($bench) = @_;
    Toolgate::Node::install();
    %others = %{ Toolgate::Guard::processes() };
    my $bin = "$TOP/t/clients/node_modules/.bin";
    my $dir = Toolgate::Guard::root() . '/notes';
    mkdir $dir or die "$dir: $!\n";
    my %command = map { $_ => [ "$bin/mcp-server-$_" ] } @servers;
    push @{ $command{filesystem} }, $dir;

    my $own = measure_agents(0, @command{@servers});
    my $tool = $bench->toolgate(
        join('', map {
            "mcp_server $_ { exec @{ $command{$_} }; start at=boot; "
                . "idle off; }\n"
        } @servers),
        workers => 2);
    my $shared = measure_agents($own->{tools},
        [ "$BUILD/toolgate-bridge", $tool->{socket} ]);
    $bench->end($tool);
    die "$shared->{tools} tools, not $own->{tools}\n"
        if $shared->{tools} != $own->{tools};

    my $median = sub { Toolgate::Bench::median(@{ $_[0]{seconds} }) };
    my $worst = sub { (sort { $b <=> $a } @{ $_[0]{seconds} })[0] };
    $bench->table("$agents agents, each with " . @servers . ' MCP servers',
        'what', 'each starts its own', 'one Toolgate', 'ratio');
    for my $row (
        [ 'processes', '%d', $own->{processes}, $shared->{processes} ],
        [ 'memory of all (PSS)', '%.0f MB', $own->{mb}, $shared->{mb} ],
        [
            'time until an agent has all tools, median', '%.1f ms',
            map { 1000 * $median->($_) } $own, $shared
        ],
        [
            'longest time until an agent has all tools', '%.1f ms',
            map { 1000 * $worst->($_) } $own, $shared
        ])
    {
        my ($what, $format, $one, $other) = @$row;
        $bench->say('| '
                . join(' | ', $what, sprintf($format, $one),
                    sprintf($format, $other), sprintf('%.3f', $other / $one))
                . ' |');
    }
};
