package Toolgate::Bench;

# Common parts of the bench: the limit and Toolgate are measured by turns on one
# processor, with a load generator on another. Rows are in t/bench/rows; see
# t/bench/README.md.

use strict;
use warnings;

use Carp qw(croak);
use IO::Socket::UNIX ();

use Toolgate::Guard;
use Toolgate::Process;
use Toolgate::Util;

our $SCHEMA = '{"type":"object","properties":{"text":{"type":"string"}},'
    . '"required":["text"]}';
our $ECHO = <<"END";
tool echo {
    description  "Answers with its text.";
    input_schema '$SCHEMA';
    return       \$tool_arg_text;
}
END

# Environment: BENCH_PAIRS, number of turns (5); BENCH_MS, time of each
# measurement (500).
sub new {
    my ($class) = @_;
    my @cpus = processors();
    return bless {
        pairs  => $ENV{BENCH_PAIRS} // 5,
        ms     => $ENV{BENCH_MS}    // 500,
        server => $cpus[0],
        client => $cpus[1] // $cpus[0],
        rows   => [],
        serial => 0,
    }, $class;
}

# Returns the processors that this process may use.
sub processors {
    my ($list) =
        (slurp('/proc/self/status') // '') =~ /^Cpus_allowed_list:\s*(\S+)/m;
    return map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $list // '0';
}

# --- servers --------------------------------------------------------------

# Returns the raw echo in a dialect: { socket, pids }. For data that needs
# escapes, its escaped text is prepared.
sub echo {
    my ($self, $dialect, @data) = @_;
    return $self->{echo}{"$dialect @data"} //= do {
        my $socket = join '.', Toolgate::Guard::root() . '/echo', $dialect,
            @data;
        my $pid = $self->spawn("$BUILD/bench/bench_echo", $socket, $dialect,
            $self->{server}, @data);
        wait_for { IO::Socket::UNIX->new(Peer => $socket) }
            'the raw echo to listen';
        { socket => $socket, pids => [$pid] };
    };
}

# Returns a raw relay in front of a raw echo: { socket, pids }.
sub relay {
    my ($self, $echo) = @_;
    my $socket = "$echo->{socket}.relay";
    my $pid = $self->spawn("$BUILD/bench/bench_relay", $socket,
        $echo->{socket}, $self->{server});
    wait_for { IO::Socket::UNIX->new(Peer => $socket) }
    'the raw relay to listen';
    return { socket => $socket, pids => [ $pid, @{ $echo->{pids} } ] };
}

# Starts NGINX with a server, one worker (or `workers`) on the server's
# processor: { socket, pids, tg }.
sub toolgate {
    my ($self, $body, %option) = @_;
    my $workers = $option{workers} // 1;
    my $tg = Toolgate::Test->new(workers => $workers);
    my $cpus = $option{cpus} // [ $self->{server} ];
    my $main = join '', 'worker_cpu_affinity',
        map({ ' ' . mask($cpus->[ $_ % @$cpus ]) } 0 .. $workers - 1),
        ";\n", $option{main} // '';
    $tg->conf(
        $body,
        main   => $main,
        stream => $option{stream},
        events => 'worker_connections '
            . ($option{connections} // 16_384) . ';')->start;
    return {
        socket => $tg->socket_path,
        pids   => [ $tg->worker_pids ],
        tg     => $tg,
    };
}

sub mask {
    my ($cpu) = @_;
    return '1' . '0' x $cpu;
}

sub spawn {
    my ($self, @command) = @_;
    my $pid = fork // croak "fork: $!";
    if ($pid == 0) {
        Toolgate::Process::exec_command({ stderr => '/dev/stderr' },
            @command);
    }
    push @{ $self->{spawned} }, $pid;
    return $pid;
}

# Ends a server of toolgate().
sub end {
    my ($self, $server) = @_;
    $server->{tg}->stop;
}

# Ends a process of spawn().
sub stop {
    my ($self) = @_;
    for my $pid (@{ $self->{spawned} // [] }) {
        kill TERM => $pid;
        waitpid $pid, 0;
    }
}

# --- load -----------------------------------------------------------------

# Runs the load generator against a server. Returns its figures.
sub load {
    my ($self, $server, %option) = @_;
    my %all = (
        ms  => $self->{ms},
        cpu => $self->{client},
        %option,
    );
    my @command = (
        "$BUILD/bench/bench_load",
        '--socket' => $server->{socket},
        map({ ('--pid' => $_) } @{ $server->{pids} }),
        map({ my $name = $_; $name =~ tr/_/-/; ("--$name" => $all{$_}) }
            grep { defined $all{$_} } sort keys %all));
    return figures($self->run(@command));
}

# Runs a program of the bench to its end. Returns its output.
sub run {
    my ($self, @command) = @_;
    my ($status, $out, $err) = run_command({ timeout => 300 }, @command);
    croak "@command: $err" if $status;
    return $out;
}

sub figures {
    my ($line) = @_;
    my %figure = $line =~ /(\w+)=([\d.]+)/g;
    return \%figure;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return if !@sorted;
    my $half = int(@sorted / 2);
    return @sorted % 2
        ? $sorted[$half]
        : ($sorted[ $half - 1 ] + $sorted[$half]) / 2;
}

# Measures two things by turns, BENCH_PAIRS times. Returns their medians, and
# that of the ratio of the second to the first.
sub pairs {
    my ($self, $first, $second) = @_;
    my (@first, @second, @ratios);
    for (1 .. $self->{pairs}) {
        push @first,  $first->();
        push @second, $second->();
        push @ratios, $second[-1] / ($first[-1] || 1);
    }
    return (median(@first), median(@second), median(@ratios));
}

# --- the table ------------------------------------------------------------

# Begins a table with a heading.
sub table {
    my ($self, $title, @columns) = @_;
    $self->say("\n**$title**\n");
    $self->say('| ' . join(' | ', @columns) . ' |');
    $self->say('|' . '---|' x @columns);
}

# Prints text at once, and keeps it for text().
sub say {
    my ($self, $line) = @_;
    print "$line\n";
    $self->{text} .= "$line\n";
}

sub text { return $_[0]{text} }

# Replaces tables of a text by those of another with the same titles.
sub merge {
    my ($old, $new) = @_;
    my @new = split /(?=^\n\*\*)/m, $new;
    my %new = map { (/(\*\*.*)/)[0] => $_ } @new;
    my @all =
        map { delete $new{ (/(\*\*.*)/)[0] } // $_ } split /(?=^\n\*\*)/m, $old;
    return join '', @all, grep { exists $new{ (/(\*\*.*)/)[0] } } @new;
}

# Adds a line. The last column is the bound `at_most` or `at_least` (in `unit`)
# of `value`.
sub line {
    my ($self, $cells, %target) = @_;
    my ($value, $most, $least) = @target{qw(value at_most at_least)};
    my $bound = $most // $least // '';
    $bound .= " $target{unit}" if defined $target{unit};
    my $is_missed = defined $most && $value > $most
        || defined $least && $value < $least;
    $self->{missed}++ if $is_missed;
    $self->say('| ' . join(' | ', @$cells, bound($bound, $is_missed)) . ' |');
}

# Prints a line with a cell for each dialect: Toolgate's time, and its ratio to
# the raw echo's time. No ratio may be above the bound. A figure is that of
# pairs().
sub dialects {
    my ($self, $cells, $at_most, @figures) = @_;
    my $worst = 0;
    my @shown = map {
        my (undef, $ours, $ratio) = @{ $_ // [] };
        $worst = $ratio if defined $ratio && $ratio > $worst;
        defined $ratio ? sprintf('%s (%.2f)', us($ours), $ratio) : '';
    } @figures;
    return $self->line([ @$cells, @shown ],
        value   => $worst,
        at_most => $at_most);
}

# Returns the cell of a bound, marked if it is violated.
sub bound {
    my ($text, $is_missed) = @_;
    return $is_missed ? "**missed:** $text" : $text;
}

sub us { return sprintf '%.2f µs', $_[0] / 1000 }

1;
