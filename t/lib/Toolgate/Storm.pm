package Toolgate::Storm;

# A storm of reloads: clients of all dialects (Toolgate::Tongue) that call all
# the time, each by its role, while every reload begins another generation of
# the catalog; with their account (Toolgate::Account).
#
#   my $storm = Toolgate::Storm->new($tg, seed => 7);
#   $storm->start(40);
#   $storm->reload while $storm->generation < 300;
#   $storm->calm;
#   is_deeply [ $storm->faults ], [];
#
# One loop serves the clients and follows NGINX's log. A reload is over when its
# workers have started and no older one serves.

use strict;
use warnings;

use Carp qw(croak);
use IO::Select;
use Time::HiRes qw(time);

use Toolgate::Account;
use Toolgate::Storm::Client;
use Toolgate::Tongue;
use Toolgate::Util;

# Seconds to wait for anything; only a hanging process takes longer.
use constant PATIENCE => 360;
# Maximum number of generations whose workers are still exiting.
use constant OLD_GENERATIONS => 8;

my $nap = <<'END';
#!/bin/sh
echo '{"progress":1}' >&3
sleep "$1"
echo '{"progress":2}' >&3
printf %s "$2"
END

# Options: seed, lossy (connections may be lost), plant (a function that changes
# a client's events before the account sees them), told (a function that gets
# each worker that was told to exit), instead (a function of seconds and a value
# that names another handler than a program), also (Toolgate::Storm::Handlers,
# or an object with body() and variants()).
sub new {
    my ($class, $tg, %option) = @_;
    my $seed = $option{seed} // $ENV{TOOLGATE_STORM_SEED} // int rand 1 << 31;
    srand $seed;
    $tg->file('nap', $nap, 0755);
    my $self = bless {
        tg         => $tg,
        seed       => $seed,
        lossy      => $option{lossy},
        plant      => $option{plant},
        on_told    => $option{told},
        instead    => $option{instead},
        also       => $option{also},
        account    => Toolgate::Account->new,
        clients    => [],
        serial     => 0,
        generation => 0,
        born       => 0,       # the generation of workers that start
        workers    => {},      # pid => generation
        told       => {},      # pids of those that serve no more
        log_end    => 0,
        log_rest   => '',
        floor_time => [],
        fresh      => [],      # seconds until a client had a new answer
        oldest     => 0,       # generations at once, at most
    }, $class;
    Test::More::diag("TOOLGATE_STORM_SEED=$seed");
    return $self;
}

sub tg { return $_[0]{tg} }
sub account { return $_[0]{account} }
sub seed { return $_[0]{seed} }
sub generation { return $_[0]{generation} }
sub clients { return @{ $_[0]{clients} } }
sub faults { return $_[0]{account}->faults }
sub oldest { return $_[0]{oldest} }
sub joined { return $_[0]{serial} }

# --- the config -----------------------------------------------------------

# Returns the body of a server.
sub body {
    my ($self, $n, $dir) = @_;
    $dir //= $self->{tg}->dir;
    my %handler = (
        gen      => qq(return "gen-$n \$tool_arg_n";),
        echo     => qq(return "gen-$n \$tool_arg_n \$tool_arg_text";),
        run      => qq(exec printf %s "gen-$n \$tool_arg_n";),
        nap      => qq(exec $dir/nap \$tool_arg_s "gen-$n \$tool_arg_n";),
        hang     => 'exec sleep 3600;',
        "only$n" => qq(return "gen-$n \$tool_arg_n";),
    );
    if (my $instead = $self->{instead}) {
        my $value = qq("gen-$n \$tool_arg_n");
        %handler = (%handler,
            run  => $instead->('0.02', $value),
            nap  => $instead->('$tool_arg_s', $value),
            hang => $instead->('3600', '""'));
    }
    my $text = "tool_idle_timeout off frame=15m;\ntool_send_timeout 15m;\n";
    for my $name (sort keys %handler) {
        my $do = $handler{$name};
        $do .= ' stdin ""; timeout 15m;' if $do =~ /^exec/;
        $text .= qq(tool $name { description "Of generation $n."; $do }\n)
            . "method $name { $do output text; }\n";
    }
    return $self->{also} ? $text . $self->{also}->body($n) : $text;
}

# Returns the tools with this function, for a client of a kind.
sub variants {
    my ($self, $tool, $kind) = @_;
    return $self->{also} ? $self->{also}->variants($tool, $kind) : $tool;
}

sub has_more { return !!$_[0]{also} }

# --- the clients ----------------------------------------------------------

# Starts NGINX and some clients, and waits until all are ready. Options: those
# of conf(), and running (NGINX was started).
sub start {
    my ($self, $count, %option) = @_;
    my $tg = $self->{tg};
    $tg->conf($self->body(0), %option)->start
        if !$tg->master_pid && !delete $option{running};
    $self->until(sub { $self->newest >= $tg->{expected} }, 'the workers');
    $self->join_in for 1 .. $count;
    $self->until(sub { !grep { !$_->tongue->is_ready } $self->clients },
        'all clients to be ready');
    return $self;
}

sub join_in {
    my ($self) = @_;
    my $client = Toolgate::Storm::Client->new($self, $self->{serial}++);
    push @{ $self->{clients} }, $client;
    return $client;
}

# Runs one round: receives, sends, and does what is due.
sub turn {
    my ($self) = @_;
    my ($now, $wake) = (time, 0.02);
    my ($in, $out) = ('', '');
    for my $client ($self->clients) {
        my $fd = $client->fd;
        my $wait = $client->due - $now;
        $wake = $wait if $wait < $wake;
        vec($in, $fd, 1) = 1 if $client->may_read;
        vec($out, $fd, 1) = 1 if $client->may_send;
    }
    # Every few milliseconds: the cores are for NGINX.
    select undef, undef, undef, 0.003 if !$self->{calm};
    select $in, $out, undef, $wake > 0 ? $wake : 0;
    $now = time;
    for my $client ($self->clients) {
        my $fd = $client->fd;
        $client->read if vec $in, $fd, 1;
        $client->send if vec($out, $fd, 1) && !$client->is_lost;
        $client->act($now) if $client->due <= $now && !$client->is_lost;
    }
    $self->replace_lost if grep { $_->is_lost } $self->clients;
    $self->follow;
}

sub until {
    my ($self, $condition, $what) = @_;
    my $deadline = time + PATIENCE;
    while (!$condition->()) {
        if (time > $deadline) {
            croak join "\n", "waited too long for $what", $self->faults,
                $self->state;
        }
        $self->turn;
    }
}

# Returns what everybody waits for, after a timeout.
sub state {
    my ($self) = @_;
    my %open = map { $_ => 1 } $self->{account}->open;
    my @lines = map {
        my $client = $_;
        my $name = $client->name;
        my @keys = grep {/^$name\./} sort keys %open;
        @keys ? $client->state . ": @keys" : ();
    } $self->clients;
    my $workers = $self->{workers};
    return @lines, map {
        "worker $_ of generation $workers->{$_}"
            . ($self->{told}{$_} ? ', leaving' : '')
    } sort { $a <=> $b } keys %$workers;
}

# Serves the clients for a while.
sub pass {
    my ($self, $seconds) = @_;
    my $end = time + $seconds;
    $self->until(sub { time >= $end }, 'the time to pass');
}

# Passes a client's event to the account.
sub event {
    my ($self, $client, $event) = @_;
    my $account = $self->{account};
    for my $e ($self->{plant} ? $self->{plant}->($client, $event) : $event) {
        next if $e->[0] eq 'end' && $self->{lossy};
        my $generation = $account->take($client->name, $e);
        $client->is_fresh($generation)
            if $e->[0] eq 'answer' && defined $generation;
    }
}

# A lost client is replaced by another one.
sub replace_lost {
    my ($self) = @_;
    my @lost = grep { $_->is_lost } $self->clients;
    $self->{clients} = [ grep { !$_->is_lost } $self->clients ];
    for my $client (@lost) {
        $self->{account}->forget($client->name);
        $client->tongue->close;
        $self->join_in if $self->{lossy};
    }
}

# --- the reloads ----------------------------------------------------------

# Reads the log about workers since the last call.
sub follow {
    my ($self) = @_;
    my $path = $self->{tg}->dir . '/error.log';
    return if -s $path == $self->{log_end};
    my $new = $self->{tg}->log($self->{log_end});
    $self->{log_end} += length $new;
    $new = $self->{log_rest} . $new;
    $self->{log_rest} = $new =~ s/([^\n]*)\z// ? $1 : '';
    for my $line (split /\n/, $new) {
        if ($line =~ /: start worker process (\d+)/) {
            $self->{workers}{$1} = $self->{born};
            # Pids are reused.
            delete $self->{told}{$1};
        } elsif ($line =~ /: reconfiguring$/) {
            # Older workers may be mentioned only now.
            $self->{born} = $self->{generation};
        } elsif ($line =~ /(\d+)#\d+: gracefully shutting down/) {
            $self->{on_told}->($self, $1) if $self->{on_told};
        } elsif ($line =~ /(\d+)#\d+: this worker no longer accepts/) {
            $self->{told}{$1} = 1;
        } elsif ($line =~ /worker process (\d+) exited/) {
            delete $self->{workers}{$1};
            delete $self->{told}{$1};
        }
    }
    my %old = map { $_ => 1 } grep { $_ < $self->{generation} }
        values %{ $self->{workers} };
    $self->{oldest} = keys %old if keys %old > $self->{oldest};
    $self->{old} = keys %old;
}

# Returns the pids of the newest generation's workers.
sub newest_pids {
    my ($self) = @_;
    return sort { $a <=> $b } grep {
        $self->{workers}{$_} == $self->{generation}
    } keys %{ $self->{workers} };
}

# Returns their number.
sub newest {
    my ($self) = @_;
    my @pids = $self->newest_pids;
    return scalar @pids;
}

# Returns the number of those that NGINX has reported as ready.
sub are_ready {
    my ($self) = @_;
    return scalar grep {
        (slurp("/proc/$_/cmdline") // '') =~ /^nginx: worker process/
    } $self->newest_pids;
}

# Checks whether any older worker still reads.
sub is_read_by_old {
    my ($self) = @_;
    my $workers = $self->{workers};
    return scalar grep {
        $workers->{$_} < $self->{generation} && !$self->{told}{$_}
    } keys %$workers;
}

# Starts the next generation, and waits until it serves. Options: as conf().
sub reload {
    my ($self, %option) = @_;
    my $tg = $self->{tg};
    $self->until(sub { $self->{old} < OLD_GENERATIONS }, 'old workers to go');
    my $n = $self->{generation} + 1;
    $tg->conf($self->body($n), %option);
    $self->{account}->raise_top($n);
    $self->{generation} = $n;
    kill HUP => $option{master} // $tg->master_pid or croak "kill: $!";
    $self->until(
        sub {
            return $self->newest >= $tg->{expected} && !$self->is_read_by_old;
        },
        "generation $n");
    $self->serves;
    return $self;
}

# From now on only the newest generation reads.
sub serves {
    my ($self) = @_;
    $self->{account}->raise_floor($self->{generation});
    $self->{floor_time} = [ $self->{generation}, time ];
    $_->has_news for $self->clients;
}

# All workers that start from now on, of any master, are of this generation.
sub comes {
    my ($self, $n) = @_;
    $self->{account}->raise_top($n);
    $self->{generation} = $self->{born} = $n;
}

# Workers that start from now on are of an earlier generation.
sub returns {
    my ($self, $n) = @_;
    $self->{account}->lower_floor($n);
    $self->{generation} = $self->{born} = $n;
}

# Tries a config that does not load: nothing changes.
sub refused {
    my ($self) = @_;
    my $tg = $self->{tg};
    my $from = $tg->log_size;
    $tg->allow_log(qr/\[emerg\]/);
    $tg->conf('tool broken { }');
    kill HUP => $tg->master_pid or croak "kill: $!";
    $self->until(sub { $tg->log($from) =~ /\[emerg\]/ }, 'the refusal');
}

# Records the time of a client's first answer by the serving generation.
sub note_fresh {
    my ($self, $seconds) = @_;
    push @{ $self->{fresh} }, $seconds;
}

sub floor_time { return @{ $_[0]{floor_time} } }

# Stops calls. Returns when all are answered, every client has an answer and the
# list of the newest generation, and no worker is old.
sub calm {
    my ($self) = @_;
    my $account = $self->{account};
    $self->{calm} = 1;
    $self->until(sub { !$account->open }, 'all to be answered');
    $_->ask_last for $self->clients;
    $self->until(sub { !$account->open }, 'the last answers');
    my $n = $self->{generation};
    $self->until(
        sub { !grep { defined $_->knows && $_->knows != $n } $self->clients },
        'all to know the newest list');
    $self->until(sub { !$self->{old} }, 'old workers to go');
    return $self;
}

sub is_calm { return $_[0]{calm} }
sub resume { $_[0]{calm} = 0 }

# Closes the clients.
sub leave {
    my ($self) = @_;
    $_->tongue->close for $self->clients;
    $self->{clients} = [];
}

# Describes the storm, for diag().
sub story {
    my ($self) = @_;
    my $account = $self->{account};
    my @fresh = sort { $a <=> $b } @{ $self->{fresh} };
    return sprintf '%d reloads, %d calls, %d cancelled, %d of a tool that '
        . 'was gone, %d lost; old generations at once: %d; '
        . 'new answers after %.0f ms (median), %.0f ms (worst)',
        $self->{generation}, $account->count('answered'),
        $account->count('cancelled'), $account->count('unknown'),
        $account->count('lost'), $self->{oldest},
        1000 * ($fresh[ @fresh / 2 ] // 0), 1000 * ($fresh[-1] // 0);
}

1;
