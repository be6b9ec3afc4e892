package Toolgate::Soak;

# Mixed traffic over all dialects and handlers (Toolgate::Storm and its
# Handlers), while configs change and are rejected, and workers, runners,
# supervisors, backends and servers are killed. Every request is answered once,
# or lost or failed because of a kill. Nothing may grow from round to round.
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

# Allowed growth of a process from the first to the last round, in KiB. Workers
# are new after each reload; their bound includes memory that the allocator
# keeps after messages of 10 MB.
use constant {
    GROWTH => 32 * 1024,
    WORKER => 384 * 1024,
    # Allowed growth of other counts, such as connections to backends.
    SPARE => 24,
};

# Error messages of calls that were lost with their executor.
my $lost = qr/runner|connection|\b(?:ended|exited|stopped)\b|be\sreached
    |passed\son|no\scomplete\sresp/x;

# Disturbances, and their relative frequency.
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
# TOOLGATE_SOAK_DEEDS selects disturbances, to find the one that breaks
# something.
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
        # On a busy machine it takes longer until each handler has answered.
        do { $self->disturb }
            while time < $end || $self->idle && time < $end + 300;
        $self->recover;
        $self->calm;
        $self->leave;
        push @{ $self->{samples} }, $self->sample;
        push @{ $self->{calls} }, $self->account->count('answered') - $before;
    }
    return $self;
}

# Returns the handlers that have not answered.
sub idle {
    my ($self) = @_;
    return grep { !$self->{by}{$_} } Toolgate::Storm::Handlers::all();
}

sub disturb {
    my ($self) = @_;
    my %only = map { $_ => 1 } split ' ', $ENV{TOOLGATE_SOAK_DEEDS} // '';
    my @lots = map { ($_->[0]) x $_->[1] }
        grep { !%only || $only{ $_->[0] } } @deeds;
    # Each of them once before any is repeated.
    my ($deed) = grep { !$self->{done}{$_} } shuffle(@lots);
    $deed //= $lots[ rand @lots ];
    $self->{done}{$deed}++;
    $self->$deed;
    $self->pass(0.1 + rand 0.4);
}

# --- allowed losses -------------------------------------------------------

# After a kill, a client's connection may be lost until a later request is
# answered; its calls may fail, for each executor (see
# Toolgate::Storm::Handlers), until one succeeds.
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

# Drops an event that is not a fault, before the account sees it.
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
    # In a batch, only a program can fail.
    my $by = $tool ? Toolgate::Storm::Handlers::by($tool) : 'exec';
    if ($what ne 'failed') {
        my $n = number_of($key);
        $self->{by}{$by}++;
        delete $client->{may_lose}
            if defined $client->{may_lose} && $n > $client->{may_lose};
        # That a tool is unknown says nothing about its executor.
        if ($tool && $what eq 'answer' && defined $client->{may_fail}{$by}
            && $n > $client->{may_fail}{$by})
        {
            delete $client->{may_fail}{$by};
            # Older ones may still be reported.
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

# Serves until all effects of a kill were seen.
sub recover {
    my ($self) = @_;
    $_->ask('gen') for grep { defined $_->{may_lose} } $self->clients;
    $self->until(
        sub { !grep { defined $_->{may_lose} } $self->clients },
        'all to be lost, or served again');
}

# Kills processes, and serves until they are gone.
sub kill_all {
    my ($self, $signal, $risks, @pids) = @_;
    $self->at_risk(@$risks);
    kill $signal => @pids;
    $self->until(sub { !grep { is_alive($_) } @pids }, 'the end of a process');
    $self->at_risk(@$risks);
}

# --- disturbances ---------------------------------------------------------

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

# Returns the runner and its supervisor, if both exist.
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

# Signals one of the two, and waits for the end of both.
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

# Kills a worker of the Toolgate that runs backends and MCP servers.
sub kill_behind {
    my ($self) = @_;
    my $there = $self->{also}->there;
    my @pids = $there->worker_pids or return;
    $self->kill_all(
        KILL => \@Toolgate::Storm::Handlers::BY_BEHIND, $pids[ rand @pids ]);
    $self->until(sub { $there->worker_pids >= $there->{expected} },
        'another worker of the backend');
}

# Reloads that Toolgate, which no client may notice.
sub reload_behind {
    my ($self) = @_;
    kill HUP => $self->{also}->there->master_pid;
}

sub kill_child {
    my ($self) = @_;
    my @pids = $self->{also}->child_pids or return;
    $self->kill_all(KILL => ['child'], @pids);
}

# Kills a connection of the HTTP server.
sub kill_web {
    my ($self) = @_;
    my @pids = $self->{also}->web_pids or return;
    $self->kill_all(KILL => ['http'], $pids[ rand @pids ]);
}

# Closes some busy clients, and opens others.
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

# Ends connections of the MCP server over HTTP.
sub cut_url {
    my ($self) = @_;
    $self->at_risk('url');
    $self->{also}->cut;
    $self->at_risk('url');
}

# --- costs ----------------------------------------------------------------

# Samples counts at rest. Of runners and workers, the largest counts.
sub sample {
    my ($self) = @_;
    my $tg = $self->{tg};
    my $master = $tg->master_pid;
    my $sample;
    # Programs of lost calls are ending.
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

# Returns what has grown from the first round to the last one.
sub grown {
    my ($self) = @_;
    my ($first, $last) = @{ $self->{samples} }[ 0, -1 ];
    my @grown;
    for my $name (sort keys %$first) {
        # A runner that is not needed does not exist.
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
    Test::More::is(join(' ', $soak->idle), '', 'all handlers answered');
    Test::More::is(join("\n", $soak->grown), '', 'nothing has grown');
}

1;
