package Toolgate::Flooded;

# A server under a flood of Toolgate::Floods, and another client that calls the
# worker (echo), the runner (ask: a port where nobody listens) and a program
# (run).
#
#   my $flooded = Toolgate::Flooded->start($row);
#   $flooded->flood;              the flood begins
#   $flooded->serve;              one call of each; dies if one is wrong
#   $flooded->measure(2);         for 2 s: { echo => ms, ask => ms, run => ms }
#   $flooded->ended;              'done' when the flood has ended as expected
#   $flooded->growth;             MB that worker and runner have grown by
#   $flooded->stop;               0: all have ended as expected
#
# With `victim` in the row, a client is flooded by its server:
# Toolgate::FloodedClient.

use strict;
use warnings;

use List::Util qw(max min);
use Time::HiRes qw(sleep time);

use Toolgate::Attacker;
use Toolgate::Attacks;
use Toolgate::Clock;
use Toolgate::Flood;
use Toolgate::FloodAttacks;
use Toolgate::FloodedClient;
use Toolgate::Floods;
use Toolgate::Measure;
use Toolgate::Util;

my $TOOLS = <<'END';
tool echo { return $tool_arg_text; }
tool run  { exec cat /proc/self/schedstat; }
tool http { http GET http://127.0.0.1:1/; }
END

# Minimum number of calls of others in a test.
my $SERVED = 20;

# Maximum number of log lines that a flood may cause.
my $LOGGED = 110_000;

# Seconds after which a measurement gives up waiting for an answer.
our $PATIENCE = 30;

# Calls, with a pattern of the answer (first group: ns that the program waited
# for a processor), and the pause after an answer in seconds. By ipc, whose
# clients get no notifications.
my %probe = (
    echo => {
        request => call('echo', '{"text":"hi"}'),
        answer  => qr/hi/,
        pause   => 0.001,
    },
    ask => {
        request => call('http', '{}'),
        answer  => qr/127\.0\.0\.1/,
        pause   => 0.002,
    },
    run => {
        request => call('run', '{}'),
        answer  => qr/\d+ (\d+) \d+/,
        pause   => 0.005,
    },
);
my @PROBES = qw(echo ask run);

# A search of another client, instead of `ask`, if outputs are searched.
sub search {
    my ($self) = @_;
    my $answer = Toolgate::Client->encode(
        $self->{tg}->connect->ipc_call('many'));
    my ($key) = $answer =~ /output\W+([0-9a-f]{32})/
        or die "no output in " . substr($answer, 0, 300) . "\n";
    return (
        request => call('toolgate_output',
            qq({"output":"$key","pattern":"nowhere"})),
        answer => qr/nowhere|match/,
    );
}

sub call {
    my ($tool, $arguments) = @_;
    return pack 'N/a', qq({"method":"call_tool","params":{"name":"$tool",)
        . qq("arguments":$arguments}});
}

# Options: cpu (of all but the flooded process), server_cpu (of that one),
# rounds (of the attack).
sub start {
    my ($class, $row, %option) = @_;
    $class = 'Toolgate::FloodedClient' if $row->{victim};
    my $tg = Toolgate::Test->new(workers => 1);
    my $self = bless { row => $row, tg => $tg, option => \%option }, $class;
    $tg->allow_log($row->{log}) if $row->{log};
    if (my $server = $row->{server}) {
        my ($method, @arguments) = @$server;
        my $flood = Toolgate::Flood->new($tg, cpu => $option{cpu});
        $self->{address} = $flood->$method(@arguments);
    }
    $self->launch;
    $self->place if defined $option{cpu};
    # Usual memory, before it is measured.
    $self->serve for 1 .. ($BUILD_ENV{san} ? 1 : 10);
    for my $who ($self->names) {
        reset_peak($self->{$who});
        $self->{rss}{$who} = rss_kb($self->{$who});
    }
    return $self;
}

# Starts NGINX and the other client.
sub launch {
    my ($self) = @_;
    my ($row, $tg) = @$self{qw(row tg)};
    (my $conf = $row->{conf} // '') =~ s/%%SERVER%%/$self->{address}/g;
    # Only memory, which sanitizers hide, needs a long flood.
    $conf =~ s/\b(timeout |max=)1s/${1}500ms/g if $BUILD_ENV{san};
    $self->{clock} = Toolgate::Clock->new($tg) if $row->{clock};
    $self->{clock}->set('2026-04-01T11:00:00Z') if $self->{clock};
    $tg->conf("tool_idle_timeout off;\n$TOOLS$conf",
        main => $self->{clock} ? $self->{clock}->main : '',
        events => 'worker_connections 16384;')->start;
    $self->{probes} = [ map { $self->probe($_) } @PROBES ];
    ($self->{worker}) = $tg->worker_pids;
    $self->serve;
    $self->{runner} = $tg->runner_pid;
    return;
}

sub tg { return $_[0]{tg} }

# Processes whose memory is measured; $self->{NAME} is the pid.
sub names { return qw(worker runner) }

# Returns the flooded process.
sub busy { return $_[0]{row}{busy} // 'worker' }

# Gives the flooded process one processor, all others the other one.
sub place {
    my ($self) = @_;
    my ($cpu, $server_cpu) = @{ $self->{option} }{qw(cpu server_cpu)};
    for my $who ($self->names) {
        run_on($who eq $self->busy ? $server_cpu : $cpu, $self->{$who});
    }
    return;
}

# Moves a process to these processors.
sub run_on {
    my ($cpus, $pid) = @_;
    system("taskset -apc $cpus $pid >/dev/null") == 0
        or die "taskset failed\n";
    return;
}

# Returns the peak memory since reset_peak(), in KiB.
sub peak_kb {
    my ($pid) = @_;
    my ($kb) = (slurp("/proc/$pid/status") // '') =~ /^VmHWM:\s*(\d+)/m;
    return $kb // 0;
}

sub reset_peak {
    my ($pid) = @_;
    open my $fh, '>', "/proc/$pid/clear_refs" or return;
    syswrite $fh, "5\n";
    return;
}

# Returns the growth by the name of each process.
sub growth {
    my ($self) = @_;
    return map {
        my $grown = peak_kb($self->{$_}) - $self->{rss}{$_};
        ($_ => $grown > 0 ? $grown / 1024 : 0);
    } $self->names;
}

# Checks that no runner was restarted.
sub is_whole {
    my ($self) = @_;
    my ($worker) = $self->{tg}->worker_pids;
    return $worker == $self->{worker}
        && $self->{tg}->runner_pid == $self->{runner};
}

sub flood {
    my ($self) = @_;
    my ($name, %attack) = @{ $self->{row}{attack} // ['wait_for_end'] };
    # More are for the bounds of memory, as well.
    $attack{count} = min($attack{count}, 8)
        if $BUILD_ENV{san} && $attack{count};
    my %option = %{ $self->{option} };
    $self->{attacker} = Toolgate::Attacker->start(
        Toolgate::FloodAttacks->can($name) // die("no attack $name\n"),
        $self->{tg}->socket_path,
        rounds => $option{rounds} // $self->{row}{rounds},
        clock  => $self->{clock},
        defined $option{cpu} ? (idle => 1, cpu => $option{cpu}) : (),
        %attack);
    my $line = $self->{attacker}->line;
    die "$line\n" if $line ne 'flooding';
    return;
}

# Returns the attack's last line, or undef.
sub ended { return $_[0]{attacker}->ended }

# Ends a flood that needs no client.
sub end_flood {
    my ($self) = @_;
    $self->{attacker}->go if !$self->{row}{attack};
    return;
}

# Returns the number of rounds of the attack.
sub rounds {
    my ($self) = @_;
    $self->{attacker}->ended;
    return scalar(() = $self->{attacker}{said}->buffered =~ /round/g);
}

# --- the other client -----------------------------------------------------

sub probe {
    my ($self, $name) = @_;
    return {
        name => $name,
        %{ $probe{$name} },
        $name eq 'ask' && $self->{row}{searches} ? $self->search : (),
        client => $self->{tg}->connect,
    };
}

# Returns ns that the kernel made the processes of a call wait for a processor:
# this one, the worker and maybe the runner, or the flooded client.
sub delay {
    my ($self, $probe) = @_;
    my @pids = ($self->{worker}, $probe->{name} ne 'echo' && $self->{runner},
        $self->{client});
    my $delay = 0;
    for my $pid ($$, grep {$_} @pids) {
        $delay += (split / /, slurp("/proc/$pid/schedstat") // '0 0')[1];
    }
    return $delay;
}

sub send_probe {
    my ($self, $probe) = @_;
    $probe->{delay} = $self->delay($probe);
    $probe->{sent} = time;
    $probe->{client}->send_raw($probe->{request});
    return;
}

# Returns the answer, or undef for another message.
sub read_answer {
    my ($self, $probe) = @_;
    return Toolgate::Client->encode($probe->{client}->recv_ipc);
}

# Returns the duration of the answer in ms, without waits for a processor, or
# undef for another message. Dies if the answer is wrong.
sub take_answer {
    my ($self, $probe) = @_;
    my $answer = $self->read_answer($probe) // return;
    my $took = 1000 * (time - $probe->{sent});
    $probe->{sent} = undef;
    my ($waited) = $answer =~ $probe->{answer}
        or die "$probe->{name}: " . substr($answer, 0, 200) . "\n";
    my $delay = $self->delay($probe) - $probe->{delay};
    $delay += $waited if $waited =~ /../;
    return max(0, $took - $delay / 1e6);
}

sub serve {
    my ($self) = @_;
    for my $probe (@{ $self->{probes} }) {
        $self->send_probe($probe);
        while (!defined $self->take_answer($probe)) { }
    }
    return 1;
}

# Connects again after a missing answer.
sub reconnect { return $_[0]{tg}->connect }

# Ends the flooded client. Returns 0 if it ends as expected.
sub stop_client { return 0 }

# Checks whether a probe would wait because the runner starts a program for
# another one: that is the kernel's work.
sub has_runner_busy {
    my ($probe, @probes) = @_;
    return 0 if $probe->{name} eq 'echo';
    return scalar grep { $_->{sent} && $_->{name} ne 'echo' } @probes;
}

# Returns the longest waits within some seconds, in ms.
sub measure {
    my ($self, $seconds) = @_;
    my $end = time + $seconds;
    my @probes = @{ $self->{probes} };
    my %longest = map { $_->{name} => 0 } @probes;
    $_->{next} = 0 for @probes;
    while (1) {
        my $now = time;
        last if $now > $end + $PATIENCE;
        last if $now > $end && !grep { $_->{sent} } @probes;
        my $pause = 0.1;
        my $in = '';
        for my $probe (@probes) {
            if (!$probe->{sent} && $now < $end) {
                next if has_runner_busy($probe, @probes);
                if ($probe->{next} > $now) {
                    my $left = $probe->{next} - $now;
                    $pause = $left if $left < $pause;
                    next;
                }
                $self->send_probe($probe);
            }
            vec($in, fileno $probe->{client}{in}, 1) = 1
                if $probe->{sent} || $probe->{always_reads};
        }
        select $in, undef, undef, $pause;
        for my $probe (@probes) {
            next if !vec $in, fileno $probe->{client}{in}, 1;
            if (!$probe->{sent}) {
                $self->read_answer($probe);
                next;
            }
            my $took = $self->take_answer($probe) // next;
            $longest{ $probe->{name} } = $took
                if $took > $longest{ $probe->{name} };
            $probe->{next} = time + $probe->{pause};
        }
    }
    for my $probe (grep { $_->{sent} } @probes) {
        my $waits = 1000 * (time - $probe->{sent});
        $longest{ $probe->{name} } = max($longest{ $probe->{name} }, $waits);
        # The next measurement is independent.
        $probe->{sent} = undef;
        $probe->{client} = $self->reconnect;
    }
    return \%longest;
}

# Runs all floods of matching sources. TOOLGATE_FLOODS, a regular expression for
# "SOURCE: KIND", selects some.
sub test_all {
    my ($sources) = @_;
    my $wanted = $ENV{TOOLGATE_FLOODS} // '';
    for my $row (grep { $_->{source} =~ $sources } Toolgate::Floods::all()) {
        my $name = "$row->{source}: $row->{kind}";
        test($row, $name) if $name =~ $wanted;
    }
    return;
}

# Checks that others are served at least $SERVED times, no process grows beyond
# its bound, and the flood and all processes end as expected.
sub test {
    my ($row, $name) = @_;
    my $self = __PACKAGE__->start($row);
    $self->flood;
    my $n = 0;
    my $is_served = eval {
        for ($n = 0; $n < $SERVED || !defined $self->ended; $n++) {
            $self->serve;
            $self->end_flood if $n == $SERVED;
        }
        1;
    };
    Test::More::ok($is_served, "$name: others are served")
        or Test::More::diag($@);
    wait_for { defined $self->ended } "$name: the flood to end";
    Test::More::is($self->ended, 'done', "$name: it ends as it should");
    Test::More::ok($self->is_whole, "$name: nobody has died");
    my %grown = $self->growth;
    Test::More::diag(join ', ', "$name: served $n times",
        map { sprintf "$_ +%d MB", $grown{$_} } $self->names);
    memory_below $grown{$_}, $row->{memory}, "$name: memory of the $_"
        for $self->names;
    Test::More::cmp_ok(logged($self->{tg}), '<', $LOGGED,
        "$name: lines of the log");
    Test::More::is($self->stop, 0, "$name: all end as they should");
    return;
}

# Returns log lines except those about connections and the probe's calls, which
# count as well if they are few.
sub logged {
    my ($tg) = @_;
    my $log = $tg->log;
    my $lines = $log =~ tr/\n//;
    return $lines if $lines < $LOGGED;
    my $usual = qr/ call of "(?:echo|http|run)"| client .* connected to /;
    return scalar grep { $_ !~ $usual } split /\n/, $log;
}

# Ends the flood and all processes. Returns 0 if they end as expected.
sub stop {
    my ($self) = @_;
    $self->{attacker}->stop if $self->{attacker};
    my $tg = $self->{tg};
    my $failed = $self->stop_client;
    $_->stop for splice @{ $tg->{spawned} };
    return $failed || ($tg->stop // 0) if !defined $self->{option}{cpu};
    my $status = eval { $tg->stop };
    # A busy runner would disturb the next measurement.
    kill KILL => $self->{runner}
        if $self->{runner} && is_runner($self->{runner});
    return $failed || $status;
}

1;
