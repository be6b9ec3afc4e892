package Toolgate::Storm::Client;

# One client in a storm, and its way to call.

use strict;
use warnings;

use Time::HiRes qw(time);
use Toolgate::Tongue;

# Maximum bytes of a write and of a read; seconds between two rounds; number of
# concurrent calls.
my %role = (
    busy    => { send => 65536, read => 65536, pace => 0.04, depth => 6 },
    large   => { send => 131072, read => 65536, pace => 0.01, depth => 1 },
    deaf    => { send => 131072, read => 32768, pace => 0.01, depth => 1 },
    slow    => { send => 65536, read => 65536, pace => 0.1, depth => 3 },
    fickle  => { send => 65536, read => 65536, pace => 0.05, depth => 4 },
    trickle => { send => 15, read => 65536, pace => 0.02, depth => 2 },
    idle    => { send => 65536, read => 65536, pace => 0.2, depth => 1 },
    asks    => { send => 65536, read => 65536, pace => 0.1, depth => 2 },
);
our @ROLES = qw(busy large deaf slow fickle trickle idle asks);

sub new {
    my ($class, $storm, $serial) = @_;
    my $kinds = @Toolgate::Tongue::KINDS;
    my $role = $ROLES[ int($serial / $kinds) % @ROLES ];
    my $tongue = Toolgate::Tongue->new(
        $Toolgate::Tongue::KINDS[ $serial % $kinds ],
        "c$serial", $storm->tg->socket_path);
    # The dialects ipc and relay have no cancellation.
    $role = 'slow' if $role eq 'fickle' && !$tongue->can_cancel;
    return bless {
        storm  => $storm,
        tongue => $tongue,
        role   => $role,
        %{ $role{$role} },
        open   => {},     # key => time of its request
        hangs  => {},     # key => time to cancel it
        due    => 0,
        calls  => 0,
    }, $class;
}

sub name { return $_[0]{tongue}->name }
sub tongue { return $_[0]{tongue} }
sub role { return $_[0]{role} }
sub fd { return fileno $_[0]{tongue}->socket }
sub due { return $_[0]{due} }
sub is_lost { return $_[0]{lost} }
sub may_read {
    my ($self) = @_;
    return $self->{role} ne 'deaf' || $self->{ears}
        || $self->{storm}->is_calm;
}

# Returns the generation of its last list, or undef.
sub knows { return $_[0]{knows} }

sub state {
    my ($self) = @_;
    my $tongue = $self->{tongue};
    my $name = join ' ', $self->name, $tongue->kind, $self->{role};
    return "$name, " . $tongue->state;
}

# A client that sends in pieces sends one per round.
sub may_send {
    my ($self) = @_;
    return $self->{tongue}->wants_to_send && ($self->{mouth} // 1);
}

sub read {
    my ($self) = @_;
    $self->take($self->{tongue}->receive(
        $self->{storm}->is_calm ? 1 << 20 : $self->{read}));
    $self->{ears} = 0;
}

sub send {
    my ($self) = @_;
    if ($self->{storm}->is_calm) {
        $self->take($self->{tongue}->send(1 << 20));
        return;
    }
    $self->take($self->{tongue}->send(1 + int rand $self->{send}));
    $self->{mouth} = 0 if $self->{role} =~ /^(?:large|trickle)$/;
}

sub take {
    my ($self, @events) = @_;
    for my $event (@events) {
        my ($what, $key) = @$event;
        $self->{storm}->event($self, $event);
        if ($what eq 'end') {
            $self->{lost} = 1;
            return;
        }
        if ($what eq 'changed') {
            $self->list;
        } elsif ($what eq 'sent') {
            $self->{listing} = undef if $key eq ($self->{listing} // '');
        } elsif ($what eq 'list') {
            ($self->{knows}) =
                map { /^only(\d+)$/ ? $1 : () } @{ $event->[2] };
        }
        delete $self->{open}{$key} if $what =~ /^(?:answer|unknown|list)$/;
    }
}

# --- actions --------------------------------------------------------------

sub ask {
    my ($self, $name, %what) = @_;
    my @tools = $self->{storm}->variants($name, $self->{tongue}->kind);
    my $tool = $tools[ rand @tools ];
    my $args = delete $what{args};
    my $key = $self->{tongue}->call($tool, args => $args,
        progress => $what{progress});
    $what{said} = 0 if $what{progress};
    $self->{storm}->account->asked($key, %what);
    $self->{open}{$key} = time;
    $self->{tools}{$key} = $tool;
    return $key;
}

sub list {
    my ($self) = @_;
    # A list request that nobody has read yet suffices.
    return if $self->{listing};
    my $key = $self->{tongue}->list;
    $self->{storm}->account->asked($key);
    $self->{open}{$key} = time;
    $self->{listing} = $key;
}

sub act {
    my ($self, $now) = @_;
    $self->{due} = $now + $self->{pace} * (0.5 + rand);
    $self->{ears} = $self->{mouth} = 1;
    return if !$self->{tongue}->is_ready;
    my $is_calm = $self->{storm}->is_calm;
    for my $key (keys %{ $self->{hangs} }) {
        $self->cancel($key) if $is_calm || $self->{hangs}{$key} <= $now;
    }
    return if $is_calm;
    # Requests the first list; later ones after a notification.
    $self->list if !$self->{listed}++ && $self->{tongue}->can_list;
    return if $self->{role} eq 'idle';
    return if keys %{ $self->{open} } >= $self->{depth};
    my $do = "act_$self->{role}";
    $self->$do;
}

sub act_busy {
    my ($self) = @_;
    my $tongue = $self->{tongue};
    if ($self->{storm}->has_more && rand() < 0.05) {
        return rand() < 0.5
            ? $self->ask('tell_all', like => qr/\A\{"clients":\d+\}\z/)
            : $self->ask('clients', like => qr/\A\{"count":\d+,/);
    }
    if ($tongue->can_batch && rand() < 0.1) {
        my @methods = map { rand() < 0.5 ? 'run' : 'gen' } 1 .. 4;
        for my $key ($tongue->batch(@methods)) {
            $self->{storm}->account->asked($key);
            $self->{open}{$key} = time;
        }
        return;
    }
    $self->ask(rand() < 0.1 ? 'run' : 'gen');
}

# Sometimes sends requests of the dialect's maximum size.
sub act_large {
    my ($self) = @_;
    my $size = int((rand)**4 * $self->{tongue}->room);
    $size = $self->{tongue}->room if $self->{calls}++ % 8 == 0;
    $self->ask('gen', args => { pad => 'x' x $size });
}

# Reads answers of the dialect's maximum size in small pieces.
sub act_deaf {
    my ($self) = @_;
    my $size = 1 + int((rand)**4 * ($self->{tongue}->room / 2));
    $size = $self->{tongue}->room - 1024 if $self->{calls}++ % 8 == 0;
    my $text = 'y' x $size;
    $self->ask('echo', args => { text => $text }, text => $text);
}

sub act_slow {
    my ($self) = @_;
    my $progress = $self->{tongue}->can_progress && rand() < 0.5;
    $self->ask('nap', args => { s => sprintf '%.2f', 0.05 + (rand)**3 * 1.5 },
        progress => $progress);
}

sub act_fickle {
    my ($self) = @_;
    my $dice = rand;
    if ($dice < 0.3) {
        $self->ask('gen');
        return;
    }
    my $is_endless = $dice < 0.7;
    my $key = $is_endless
        ? $self->ask('hang', endless => 1)
        : $self->ask('nap', args => { s => '0.1' });
    $self->{hangs}{$key} = time + rand 0.3;
}

sub cancel {
    my ($self, $key) = @_;
    delete $self->{hangs}{$key};
    delete $self->{open}{$key};
    $self->{storm}->account->cancelled($key);
    $self->{tongue}->cancel($key);
}

sub act_trickle { $_[0]->ask('gen') }

# Calls tools that only one generation has.
sub act_asks {
    my ($self) = @_;
    my $generation = $self->{storm}->generation - int rand 3;
    $generation = 0 if $generation < 0;
    $self->ask("only$generation", only => $generation);
}

# After a new generation serves: calls it if idle.
sub has_news {
    my ($self) = @_;
    return if $self->{role} ne 'idle' || $self->{storm}->is_calm;
    $self->{stale} = 1;
    $self->ask('gen');
}

# After its first answer by the newest generation.
sub is_fresh {
    my ($self, $generation) = @_;
    return if !$self->{stale} || $self->{role} ne 'idle';
    my ($newest, $since) = $self->{storm}->floor_time;
    return if $generation < $newest;
    $self->{stale} = 0;
    $self->{storm}->note_fresh(time - $since);
}

sub ask_last { $_[0]->ask('gen') }

1;
