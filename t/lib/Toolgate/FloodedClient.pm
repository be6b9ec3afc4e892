package Toolgate::FloodedClient;

# A client that its server floods, by the row's `victim`:
#
#   bridge    toolgate-bridge, pinged by its agent
#   library   a program with libtoolgate (t/host), which serves another client
#             in the event loop of its own client
#   command   toolgate, which ends with the answer or its timeout
#
# `where` is the method that begins the flood; with `reads` the server still
# answers calls. See Toolgate::Flood->socket.

use strict;
use warnings;
use parent -norequire, 'Toolgate::Flooded';

use Time::HiRes qw(sleep time);

use Toolgate::Flood;
use Toolgate::Host;
use Toolgate::Util;

# Seconds that a command waits for a missing answer.
my $COMMAND_TIMEOUT = 2;

sub names { return 'client' }
sub busy  { return 'client' }

sub launch {
    my ($self) = @_;
    my $start = $self->can("launch_$self->{row}{victim}");
    $self->{probes} = [];
    $start->($self);
    return;
}

sub add_probe {
    my ($self, $client) = @_;
    $self->{probes} = [ {
        name    => 'ping',
        request => qq({"jsonrpc":"2.0","id":"probe","method":"ping"}\n),
        answer  => qr/"id":"probe"/,
        pause   => 0.001,
        client  => $client,
        always_reads => 1,
    } ];
    return;
}

sub launch_bridge {
    my ($self) = @_;
    my $bridge = $self->{tg}->bridge([ $self->{address} ]);
    $bridge->rpc('initialize', {
        protocolVersion => '2025-11-25',
        capabilities    => { roots => {} },
    });
    $bridge->notify('notifications/initialized');
    $self->{process} = $bridge;
    $self->{client} = $bridge->pid;
    $self->add_probe($bridge);
    return;
}

sub launch_library {
    my ($self) = @_;
    my $host = Toolgate::Host->start($self->{tg}, 'uv');
    $host->do('start');
    $host->do("client new $self->{address} bare");
    $host->do('client open');
    $host->event(qr/^connected/);
    $self->{process} = $host;
    $self->{client} = $host->pid;
    $self->add_probe($host->connect_to);
    return;
}

# The command starts with the flood.
sub launch_command {
    my ($self) = @_;
    my $reads = $self->{row}{reads};
    $self->{process} = $self->{tg}->spawn(
        { env => { TOOLGATE_SOCKET => $self->{address} } },
        Toolgate::Test::build_dir() . '/toolgate', 'call', 'echo',
        '--timeout', $reads ? 60 : $COMMAND_TIMEOUT);
    $self->{client} = $self->{process}->pid;
    return;
}

sub flood {
    my ($self) = @_;
    my ($row, $process) = @$self{qw(row process)};
    if ($row->{where} eq 'tools/call') {
        if ($row->{victim} eq 'bridge') {
            $process->request('tools/call', { name => 'go' });
        } else {
            $process->do('client begin 60000 call go {}');
        }
    }
    Toolgate::Flood::wait_begun($self->{tg});
    return $self->SUPER::flood;
}

sub read_answer {
    my ($self, $probe) = @_;
    my $client = $probe->{client};
    $client->fill(time + $Toolgate::Client::TIMEOUT)
        or die "$probe->{name}: no answer\n";
    my $end = rindex $client->{buf}, "\n";
    my $lines = substr $client->{buf}, 0, $end + 1, '';
    return $lines =~ $probe->{answer} ? $& : undef;
}

sub reconnect { die "ping: no answer\n" }

# If the server reads, a call is answered as well.
sub serve {
    my ($self) = @_;
    my ($row, $process) = @$self{qw(row process)};
    if ($row->{victim} eq 'command') {
        $self->note_peak;
        sleep 0.01;
        return 1;
    }
    $self->SUPER::serve;
    return 1 if !$self->{attacker} || !$row->{reads};
    if ($row->{victim} eq 'bridge') {
        $self->send_probe(my $call = {
            name    => 'call',
            client  => $process,
            request => '{"jsonrpc":"2.0","id":"call","method":"tools/call",'
                . qq("params":{"name":"echo"}}\n),
            answer  => qr/"id":"call".*hello/,
        });
        while (!defined $self->take_answer($call)) { }
    } else {
        $process->do('client begin 60000 call echo {}');
        $process->event(qr/^answered .*hello/);
    }
    return 1;
}

sub note_peak {
    my ($self) = @_;
    # Before exec() it is a copy of the test.
    return if (slurp("/proc/$self->{client}/comm") // '') ne "toolgate\n";
    my $peak = Toolgate::Flooded::peak_kb($self->{client});
    $self->{peak} = $peak if $peak > ($self->{peak} // 0);
    return;
}

sub growth {
    my ($self) = @_;
    return $self->SUPER::growth if !defined $self->{peak};
    return (client => $self->{peak} / 1024);
}

sub is_whole {
    my ($self) = @_;
    return $self->{row}{victim} eq 'command' || $self->{process}->is_running;
}

# Returns what a command has ended with.
sub ended {
    my ($self) = @_;
    return $self->SUPER::ended if $self->{row}{victim} ne 'command';
    my $process = $self->{process};
    return if $process->is_running;
    1 while $process->fill(time + 1);
    my ($status, $out) = ($process->{status}, $process->buffered);
    return 'done' if $self->{row}{reads} ? $status == 0 && $out =~ /^hello/
        : $status != 0 && $process->stderr =~ /no response/;
    return "status $status, '$out', " . $process->stderr;
}

sub stop_client {
    my ($self) = @_;
    my ($process, $victim) = ($self->{process}, $self->{row}{victim});
    return 0 if $victim eq 'command';
    return $process->stop if $victim eq 'library';
    $process->signal('TERM');
    return $process->wait_exit;
}

1;
