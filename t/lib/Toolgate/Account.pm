package Toolgate::Account;

# The account of a storm of reloads: checks that each request is answered once,
# by the catalog that was current when it was read or by a newer one, and that
# no connection is lost. Answers are "gen-GENERATION KEY", or "gen-GENERATION
# KEY TEXT" if a text is echoed; "gen-any KEY" from handlers without a
# generation.
#
#   top      newest generation that may answer: its reload has begun
#   floor    oldest one: no worker of an older generation reads any more
#
# A request whose last byte is sent when the floor is 7 is answered by a
# generation from 7 up to the top at that moment.

use strict;
use warnings;

use constant FAULTS_KEPT => 10;

sub new {
    my ($class) = @_;
    return bless {
        top    => 0,
        floor  => 0,
        open   => {},
        done   => {},
        faults => [],
        count  => {
            answered => 0, cancelled => 0, unknown => 0, lost => 0, told => 0,
        },
    }, $class;
}

sub top { return $_[0]{top} }
sub floor { return $_[0]{floor} }
sub count { return $_[0]{count}{ $_[1] } }

sub raise_top {
    my ($self, $generation) = @_;
    $self->{top} = $generation;
}

sub raise_floor {
    my ($self, $generation) = @_;
    $self->{floor} = $generation;
}

# An older generation serves again, also requests that were sent before.
sub lower_floor {
    my ($self, $generation) = @_;
    $self->{floor} = $generation;
    for my $call (values %{ $self->{open} }) {
        $call->{floor} = $generation
            if defined $call->{floor} && $call->{floor} > $generation;
    }
}

# Options: text (echoed after generation and key), like (pattern of the answer
# instead), only (the one generation that has the tool), endless (the call never
# ends).
sub asked {
    my ($self, $key, %what) = @_;
    $self->{open}{$key} = \%what;
}

# From now on the call may be answered, unless it is endless.
sub cancelled {
    my ($self, $key) = @_;
    my $call = $self->{open}{$key} or return;
    $call->{cancelled} = 1;
    $self->{count}{cancelled}++;
}

sub is_open { return exists $_[0]{open}{ $_[1] } }

# Returns the keys that must still be answered.
sub open {
    my ($self) = @_;
    return grep { !$self->{open}{$_}{cancelled} } keys %{ $self->{open} };
}

# A client has closed on purpose and waits for nothing.
sub forget {
    my ($self, $name) = @_;
    for my $key (grep {/^\Q$name\E\./} keys %{ $self->{open} }) {
        delete $self->{open}{$key};
        $self->{count}{lost}++;
    }
}

# A call was lost that may be lost.
sub drop {
    my ($self, $key) = @_;
    $self->{count}{lost}++ if delete $self->{open}{$key};
}

sub fault {
    my ($self, $text) = @_;
    $text = substr($text, 0, 300) . ' …' if length $text > 300;
    push @{ $self->{faults} }, $text;
}

# Returns all faults at the end, including open calls.
sub faults {
    my ($self) = @_;
    my @all = (@{ $self->{faults} },
        map {"$_ was not answered"} sort $self->open);
    my $more = @all - FAULTS_KEPT;
    splice @all, FAULTS_KEPT, $more, "and $more more" if $more > 0;
    return @all;
}

my %take = (
    sent     => \&take_sent,
    answer   => \&take_answer,
    unknown  => \&take_unknown,
    progress => \&take_progress,
    list     => \&take_list,
    failed   => sub {
        my ($self, $name, $key, $why) = @_;
        $self->closes($key);
        $self->fault("$key failed: $why");
    },
    strange => sub { $_[0]->fault("$_[1] was told: $_[2]") },
    end     => sub { $_[0]->fault("$_[1] lost its connection: $_[2]") },
    told     => \&take_told,
    changed  => sub { },
    ready    => sub { },
);

# Handles an event of a client, as of Toolgate::Tongue.
sub take {
    my ($self, $name, $event) = @_;
    my ($what, @more) = @$event;
    $take{$what}->($self, $name, @more);
}

sub take_sent {
    my ($self, $name, $key) = @_;
    my $call = $self->{open}{$key} or return;
    $call->{floor} = $self->{floor};
}

# Returns the call, if it may be answered now.
sub closes {
    my ($self, $key) = @_;
    my $call = delete $self->{open}{$key};
    if (!$call) {
        $self->fault($self->{done}{$key}
            ? "$key was answered twice" : "$key was never asked");
        return;
    }
    $self->{done}{$key} = 1;
    if (!defined $call->{floor}) {
        $self->fault("$key was answered before it was sent");
        return;
    }
    if ($call->{endless}) {
        $self->fault("$key was answered, and never ends");
        return;
    }
    $self->{count}{answered}++ if !$call->{cancelled};
    return $call;
}

# Returns the generation that answered, if the answer is right.
sub take_answer {
    my ($self, $name, $key, $text) = @_;
    my $call = $self->closes($key) or return;
    my $head = "$key = " . substr $text, 0, 60;
    if ($call->{like}) {
        $self->fault("not what was asked for: $head")
            if $text !~ $call->{like};
        return;
    }
    my ($generation, $rest) = $text =~ /\Agen-(\d+|any) (.*)\z/s;
    if (!defined $generation
        || $rest ne $key . (defined $call->{text} ? " $call->{text}" : ''))
    {
        $self->fault("another answer than to the request: $head");
    } elsif ($generation eq 'any') {
        return;
    } elsif ($generation < $call->{floor}) {
        $self->fault("by an old catalogue, not $call->{floor}: $head");
    } elsif ($generation > $self->{top}
        || defined $call->{only} && $generation != $call->{only})
    {
        $self->fault("by a catalogue that cannot be: $head");
    } else {
        return $call->{answered_by} = $generation;
    }
    return;
}

# Right for a tool of one generation, unless only that could read the call.
sub take_unknown {
    my ($self, $name, $key) = @_;
    my $call = $self->closes($key) or return;
    if (!defined $call->{only}) {
        $self->fault("$key: its tool is not known");
    } elsif ($call->{only} == $self->{top} && $call->{floor} == $self->{top}) {
        $self->fault("$key: the newest tool is not known");
    } else {
        $self->{count}{unknown}++;
    }
}

sub take_list {
    my ($self, $name, $key, $names) = @_;
    $self->closes($key) or return;
    my @only = map {/^only(\d+)$/} @$names;
    $self->fault("$key lists " . @only . ' generations') if @only != 1;
}

sub take_progress {
    my ($self, $name, $key, $number) = @_;
    my $call = $self->{open}{ $key // '' };
    if (!$call || !$call->{progress}) {
        $self->fault("$name was told of progress: " . ($key // 'of nothing'));
    } elsif ($number <= $call->{said}) {
        $self->fault("$key: progress $number after $call->{said}");
    } else {
        $call->{said} = $number;
    }
}

# No broadcast may arrive twice, or out of its caller's order.
sub take_told {
    my ($self, $name, $key) = @_;
    my ($caller, $n) = ($key // '') =~ /\A(\w+)\.(\d+)\z/;
    return $self->fault("$name was told nothing") if !defined $n;
    my $last = \$self->{told}{$name}{$caller};
    $self->fault("$name was told $key after $caller.$$last")
        if defined $$last && $n <= $$last;
    $$last = $n;
    $self->{count}{told}++;
}

1;
