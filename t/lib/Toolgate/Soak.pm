package Toolgate::Soak;

# Mixed traffic over all dialects and handlers (Toolgate::Storm and its
# Handlers), while configs change and are refused, and workers, runners,
# supervisors, backends and servers are killed.  Every request is accounted for:
# answered once, or lost with its worker, or failed with what answers it; and
# none of these without a kill.  From round to round nothing may grow.
#
#   my $soak = Toolgate::Soak->new($tg, seconds => 600);
#   $soak->run;
#   is_deeply [ $soak->faults ], [];

use strict;
use warnings;
use parent -norequire, 'Toolgate::Storm';

use List::Util qw(shuffle);
use Time::HiRes qw(time);

use Toolgate::Guard;
use Toolgate::Measure;
use Toolgate::Storm;
use Toolgate::Storm::Handlers;
use Toolgate::Test ();
use Toolgate::Util;

# How many KiB more a process may have after the last round than after the
# first.  Workers are new with each reload; what they may have has a bound of
# its own: their allocator keeps what messages of 10 MB have left.
use constant {
    GROWTH => 32 * 1024,
    WORKER => 384 * 1024,
    # Likewise of what else there is: connections to backends, for instance.
    SPARE => 24,
};

# What a call says that was lost with what answered it.
my $lost = qr/runner|connection|\b(?:ended|exited|stopped)\b|be\sreached
    |passed\son|no\scomplete\sresp/x;

# What is done, and how often in comparison.
my @deeds = (
    [ reload          => 10 ],
    [ refused         => 1 ],
    [ kill_worker     => 3 ],
    [ kill_runner     => 2 ],
    [ end_runner      => 1 ],
    [ kill_supervisor => 1 ],
    [ kill_behind     => 2 ],
    [ reload_behind   => 2 ],
    [ kill_child      => 2 ],
    [ kill_web        => 2 ],
    [ cut_url         => 2 ],
    [ change_clients  => 2 ],
);

# Options: seconds, rounds (5), clients (40), and those of Storm.
# TOOLGATE_SOAK_DEEDS names those that are done, to find out which one it is
# that breaks something.
sub new {
    my ($class, $tg, %option) = @_;
    my $self;
    $self = $class->SUPER::new(
        $tg, %option,
        lossy => 1,
        plant => sub { $self->weigh(@_) },
        also  => Toolgate::Storm::Handlers->new($tg));
    $self->{seconds} = $option{seconds};
    $self->{rounds}  = $option{rounds}  // 5;
    $self->{count}   = $option{clients} // 40;
    $self->{done}    = {};
    $self->{samples} = [];
    $tg->allow_log(qr/exited on signal 9/);
    return $self;
}

sub samples { return @{ $_[0]{samples} } }

sub run {
    my ($self) = @_;
    my ($tg, $also) = @$self{qw(tg also)};
    $also->start($tg->dir);
    $tg->conf($self->body(0))->start;
    $also->wait_ready;
    for my $round (1 .. $self->{rounds}) {
        my $before = $self->account->count('answered');
        $self->resume;
        $self->start($self->{count});
        my $end = time + $self->{seconds} / $self->{rounds};
        do { $self->disturb } while time < $end;
        $self->recover;
        $self->calm;
        $self->leave;
        push @{ $self->{samples} }, $self->sample;
        push @{ $self->{calls} }, $self->account->count('answered') - $before;
    }
    return $self;
}

sub disturb {
    my ($self) = @_;
    my %only = map { $_ => 1 } split ' ', $ENV{TOOLGATE_SOAK_DEEDS} // '';
    my @lots = map { ($_->[0]) x $_->[1] }
        grep { !%only || $only{ $_->[0] } } @deeds;
    # Each of them once before any is done again.
    my ($deed) = grep { !$self->{done}{$_} } shuffle(@lots);
    $deed //= $lots[ rand @lots ];
    $self->{done}{$deed}++;
    $self->$deed;
    $self->pass(0.1 + rand 0.4);
}

# --- who may lose what ----------------------------------------------------

# After a kill a client's connection may be gone, until it has an answer to
# what it asked after that; likewise its calls of who did answer them (see
# Toolgate::Storm::Handlers), each for itself.
sub at_risk {
    my ($self, @what) = @_;
    for my $client ($self->clients) {
        my $serial = $client->tongue->{serial};
        for my $what (@what) {
            if ($what eq 'connection') {
                $client->{may_lose} = $serial;
            } else {
                $client->{may_fail}{$what} = $serial;
            }
        }
    }
}

sub number_of { return $_[0] =~ /\.(\d+)\z/ ? $1 : 0 }

# An event before the account sees it: nothing, when it is no fault.
sub weigh {
    my ($self, $client, $event) = @_;
    my ($what, $key, $text) = @$event;
    my $account = $self->account;
    if ($what eq 'end') {
        $account->fault($client->name . ' lost its connection, and nobody '
                . "was killed: $key")
            if !defined $client->{may_lose};
        return $event;
    }
    return $event if $what !~ /^(?:answer|unknown|list|failed)$/;
    my $tool = delete $client->{tools}{$key} // '';
    # Of a batch it is a program, if it fails.
    my $by = $tool ? Toolgate::Storm::Handlers::by($tool) : 'exec';
    if ($what ne 'failed') {
        my $n = number_of($key);
        $self->{by}{$by}++;
        delete $client->{may_lose}
            if defined $client->{may_lose} && $n > $client->{may_lose};
        if ($tool && defined $client->{may_fail}{$by}
            && $n > $client->{may_fail}{$by})
        {
            delete $client->{may_fail}{$by};
            # Older ones may still be told of it.
            $client->{failing_to}{$by} = $n;
        }
    }
    if ($what eq 'failed' && $text =~ $lost
        && (defined $client->{may_fail}{$by}
            || number_of($key) < ($client->{failing_to}{$by} // 0)))
    {
        $account->drop($key);
        delete $client->{open}{$key};
        $self->{failed}++;
        return;
    }
    return $event;
}

# Serves until all that a kill has broken was seen to be broken.
sub recover {
    my ($self) = @_;
    $_->ask('gen') for grep { defined $_->{may_lose} } $self->clients;
    $self->until(
        sub { !grep { defined $_->{may_lose} } $self->clients },
        'all to be lost, or served again');
}

# Kills, and serves until they are gone; who is at risk is so until then.
sub kill_all {
    my ($self, $signal, $risks, @pids) = @_;
    $self->at_risk(@$risks);
    kill $signal => @pids;
    $self->until(sub { !grep { is_alive($_) } @pids }, 'the end of a process');
    $self->at_risk(@$risks);
}

# --- what is done ---------------------------------------------------------

sub kill_worker {
    my ($self) = @_;
    my @pids = keys %{ $self->{workers} } or return;
    my $pid = $pids[ rand @pids ];
    $self->kill_all(
        KILL => [ 'connection', @Toolgate::Storm::Handlers::BY_WORKER ], $pid);
    $self->until(
        sub {
            return !exists $self->{workers}{$pid}
                && $self->newest >= $self->{tg}{expected};
        },
        'another worker');
    $self->recover;
}

# The runner and its supervisor, when both are there.
sub runner {
    my ($self) = @_;
    my $pid = runner_at($self->{tg}->state_dir) or return;
    return ($pid, parent_of($pid));
}

sub kill_runner {
    my ($self) = @_;
    my ($runner, $supervisor) = $self->runner or return;
    $self->end_both(KILL => $runner, $supervisor);
}

# A signal for one of the two ends both.
sub end_both {
    my ($self, $signal, @pids) = @_;
    $self->at_risk(@Toolgate::Storm::Handlers::BY_RUNNER);
    kill $signal => $pids[0];
    $self->kill_all(0 => \@Toolgate::Storm::Handlers::BY_RUNNER, @pids);
}

sub end_runner {
    my ($self) = @_;
    my @pids = $self->runner or return;
    $self->end_both(TERM => @pids);
}

sub kill_supervisor {
    my ($self) = @_;
    my ($runner, $supervisor) = $self->runner or return;
    $self->end_both(KILL => $supervisor, $runner);
}

# A worker of the Toolgate that backends and MCP servers are.
sub kill_behind {
    my ($self) = @_;
    my $there = $self->{also}->there;
    my @pids = $there->worker_pids or return;
    $self->kill_all(
        KILL => \@Toolgate::Storm::Handlers::BY_BEHIND, $pids[ rand @pids ]);
    $self->until(sub { $there->worker_pids >= $there->{expected} },
        'another worker of the backend');
}

# Nobody in front of it may notice.
sub reload_behind {
    my ($self) = @_;
    kill HUP => $self->{also}->there->master_pid;
}

sub kill_child {
    my ($self) = @_;
    my @pids = $self->{also}->child_pids or return;
    $self->kill_all(KILL => ['child'], @pids);
}

# A connection of the HTTP server's.
sub kill_web {
    my ($self) = @_;
    my @pids = $self->{also}->web_pids or return;
    $self->kill_all(KILL => ['http'], $pids[ rand @pids ]);
}

# Some leave in the middle of whatever they do, and others come.
sub change_clients {
    my ($self) = @_;
    my @all = $self->clients;
    for (1 .. 5) {
        my ($client) = splice @all, rand @all, 1;
        $self->{account}->forget($client->name);
        $client->tongue->close;
        $self->{clients} = \@all;
        $self->join_in;
        @all = $self->clients;
    }
}

# Those of the MCP server over HTTP.
sub cut_url {
    my ($self) = @_;
    $self->at_risk('url');
    $self->{also}->cut;
    $self->at_risk('url');
}

# --- what it costs --------------------------------------------------------

# What there is at rest.  Runners and workers come and go: of those that are
# there the largest counts.
sub sample {
    my ($self) = @_;
    my $tg = $self->{tg};
    my $master = $tg->master_pid;
    my $sample;
    # Programs of calls that were lost are on their way out.
    wait_for {
        my @workers = $tg->worker_pids;
        my %other = %{ Toolgate::Guard::processes() };
        delete @other{ $master, @workers, $self->{also}->pids };
        my @runners = grep { exists $other{$_} } $tg->runner_pids;
        delete @other{@runners};
        return if %other || @workers != $tg->{expected} || @runners > 2;
        $sample = {
            'processes'                    => @workers + @runners + 1,
            'descriptors of the master'    => fd_count($master),
            'descriptors of a worker'      => most(\&fd_count, @workers),
            'descriptors of the runner'    => most(\&fd_count, @runners),
            'memory of the master (KiB)'   => rss_kb($master),
            'memory of a worker (KiB)'     => most(\&rss_kb, @workers),
            'memory of the runner (KiB)'   => most(\&rss_kb, @runners),
            'shared memory files and such' => scalar(
                grep { !m{/(?:san|stderr[^/]*)(?:/|$)} }
                    glob $tg->dir . '/* ' . $tg->state_dir . '/*'),
        };
        return 1;
    } 'programs and old workers to be gone';
    return $sample;
}

sub most {
    my ($code, @pids) = @_;
    my ($most) = sort { $b <=> $a } map { $code->($_) } @pids;
    return $most // 0;
}

# What has grown from the first round to the last one.
sub grown {
    my ($self) = @_;
    my ($first, $last) = @{ $self->{samples} }[ 0, -1 ];
    my @grown;
    for my $name (sort keys %$first) {
        # A runner that nobody needed is not there.
        next if !$first->{$name};
        next if $name =~ /memory of/ && Toolgate::Test::is_san();
        my $most = $name =~ /memory of a worker/ ? WORKER
            : $first->{$name} + ($name =~ /memory of/ ? GROWTH : SPARE);
        push @grown, "$name: from $first->{$name} to $last->{$name}"
            if $last->{$name} > $most;
    }
    return @grown;
}

sub story {
    my ($self) = @_;
    my $done = join ', ',
        map {"$self->{done}{$_} $_"} sort keys %{ $self->{done} };
    return ($self->SUPER::story,
        "$done; " . ($self->{failed} // 0) . ' calls failed with who answers; '
            . $self->account->count('told') . ' broadcasts heard',
        'answered by: '
            . join(', ', map {"$_ $self->{by}{$_}"} sort keys %{ $self->{by} }),
        map {
            my $sample = $_;
            join ', ', map {"$_ $sample->{$_}"} sort keys %$sample;
        } @{ $self->{samples} });
}

# As a test.
sub test {
    my ($class, %option) = @_;
    my $tg = Toolgate::Test->new(workers => 2);
    my $soak = $class->new($tg, %option);
    $soak->run;
    Test::More::diag($_) for $soak->story;
    my @faults = $soak->faults;
    Test::More::is(join("\n", @faults), '', 'every request is accounted for');
    my ($least) = sort { $a <=> $b } @{ $soak->{calls} };
    Test::More::cmp_ok($least, '>', $soak->{count},
        "there was traffic: @{ $soak->{calls} } answers");
    my @idle = grep { !$soak->{by}{$_} } Toolgate::Storm::Handlers::all();
    Test::More::is("@idle", '', 'all handlers answered');
    Test::More::is(join("\n", $soak->grown), '', 'nothing has grown');
}

1;
