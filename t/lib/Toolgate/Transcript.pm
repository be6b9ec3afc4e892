package Toolgate::Transcript;

# A file of t/transcripts (see README.md there), played over Toolgate::Client.

use strict;
use warnings;

use Carp qw(croak);
use Toolgate::Json;
use Toolgate::Test ();

my %header = (
    protocol     => qr/auto|ipc|jsonrpc|relay/,
    max_frame    => qr/\d+/,
    max_inflight => qr/\d+/,
    offers       => qr/all/,
    only         => qr/unit/,
    heavy        => qr/yes/,
    with         => qr/.+/,
    store        => qr/broken/,
    library      => qr/no/,
    logs         => qr/yes/,
    skills       => qr/yes/,
);

sub dir { return Toolgate::Test::top() . '/t/transcripts' }

# Returns all transcripts, or those of a folder, in order.
sub all {
    my ($class, $folder) = @_;
    my $dir = join '/', dir(), $folder // ();
    return map { $class->read($_) } sort glob "$dir/*.txt";
}

sub read {
    my ($class, $path) = @_;
    my ($name) = $path =~ m{([^/]+)\.txt$};
    my $self = bless {
        name   => $name,
        header => {
            protocol     => 'auto',
            max_frame    => 10485760,
            max_inflight => 64,
        },
        steps => [],
    }, $class;
    open my $fh, '<:raw', $path or croak "$path: $!";
    my $number = 1;
    # A line that begins with white space continues the line before.
    for my $whole (split /\n(?! )/, do { local $/; <$fh> }) {
        my $line = $whole =~ s/\n +//gr;
        $self->{title} = $1 if $number == 1 && $line =~ /^# (.*)/;
        eval { $self->parse($line, $number); 1 }
            or croak "$path:$number: $@"
            if $line !~ /^(?:#|$)/;
        $number += 1 + ($whole =~ tr/\n//);
    }
    close $fh;
    return $self;
}

sub name { return $_[0]{name} }
sub title { return $_[0]{title} }
sub header { return $_[0]{header}{ $_[1] } }

# Returns the directives of a server for it.
sub directives {
    my ($self) = @_;
    return join '', (map {"tool_$_ $self->{header}{$_};\n"}
        qw(protocol max_frame max_inflight)),
        $self->{header}{offers} ? "include offers.conf;\n" : ();
}

sub parse {
    my ($self, $line, $number) = @_;
    my $steps = $self->{steps};
    if ($line =~ /^>/) {
        my $bytes = bytes($line);
        if (@$steps && $steps->[-1]{do} eq 'send') {
            $steps->[-1]{bytes} .= $bytes;
        } else {
            push @$steps, { do => 'send', bytes => $bytes, line => $number };
        }
    } elsif ($line =~ /^<close$/) {
        push @$steps, { do => 'close', line => $number };
    } elsif ($line =~ /^<(\?|ipc)? (.*)/) {
        push @$steps, {
            do      => ($1 // '') eq '?' ? 'unordered' : 'expect',
            ipc     => ($1 // '') eq 'ipc',
            pattern => Toolgate::Json::decode($2),
            line    => $number,
        };
    } elsif ($line =~ /^~ (.*)/) {
        push @{ $self->{passed} }, Toolgate::Json::decode($1);
    } elsif ($line eq '-') {
        push @$steps, { do => 'quiet', line => $number };
    } elsif ($line =~ /^\?/) {
        # The wire does not show it.
    } elsif ($line =~ /^!/) {
        push @$steps, { do => 'host', line => $number };
    } elsif (!@$steps && $line =~ /^(\w+): (.*)/ && $header{$1}) {
        my ($name, $value) = ($1, $2);
        die "no such value\n" if $value !~ /^$header{$name}$/;
        $self->{header}{$name} = $value;
    } else {
        die "neither a header nor a step\n";
    }
}

sub bytes {
    my ($line) = @_;
    return "$1\n" if $line =~ /^>(?: (.*))?$/ && defined $1;
    return "\n" if $line eq '>';
    return $1 if $line =~ /^>raw (.*)/;
    return pack 'N/a*', $1 if $line =~ /^>ipc (.*)/;
    return $2 x $1 if $line =~ /^>repeat (\d+) (.+)/;
    return pack 'H*', $1 =~ tr/ //dr if $line =~ /^>hex ([0-9a-f ]+)$/;
    die "an unknown step\n";
}

# Plays it, with writes of at most some bytes. Returns undef, or the error.
sub play {
    my ($self, $client, $piece) = @_;
    local $self->{piece} = $piece // 1 << 30;
    local $self->{is_closed};
    my @steps = @{ $self->{steps} };
    my $closes = grep { $_->{do} eq 'close' } @steps;
    while (my $step = shift @steps) {
        my @group = $step;
        if ($step->{do} eq 'unordered') {
            push @group, shift @steps
                while @steps && $steps[0]{do} eq 'unordered';
        }
        my $why = eval { $self->step($client, @group) } // $@;

        # The server may have closed already, for the reason sent before.
        next
            if $closes
            && $step->{do} eq 'send'
            && $why =~ /: write: (?:Broken|Connection reset)/;
        return "line $step->{line}: $why" if $why;
    }

    # Our end of file cancels calls, and nothing more may come.
    $client->shutdown_write if !$self->{is_closed};
    return $client->at_eof ? undef : 'at the end: ' . $client->buffered;
}

# Returns an empty string, or the error.
sub step {
    my ($self, $client, $step, @more) = @_;
    my $do = $step->{do};
    if ($do eq 'send') {
        my $bytes = $step->{bytes};
        $client->send_raw(substr $bytes, 0, $self->{piece}, '')
            while $bytes ne '';
    } elsif ($do eq 'quiet') {
        return 'nobody expected ' . $client->buffered
            if $client->buffered ne '';
    } elsif ($do eq 'close') {
        return 'it does not close' if !$client->at_eof;
        $self->{is_closed} = 1;
    } elsif ($do eq 'host') {
        return 'a command for the unit test';
    } else {
        return $self->expect($client, $step, @more);
    }
    return '';
}

sub expect {
    my ($self, $client, @wanted) = @_;
    while (@wanted) {
        my $text = $wanted[0]{ipc}
            ? $client->recv_bytes(unpack 'N', $client->recv_bytes(4))
            : $client->recv_line;
        my $got = Toolgate::Json::decode($text);
        next if grep { matches($_, $got) } @{ $self->{passed} // [] };
        my ($found) =
            grep { matches($wanted[$_]{pattern}, $got) } 0 .. $#wanted;
        return join "\n  or ", 'got ' . substr($text, 0, 400) . "\nexpected",
            map { Toolgate::Json::encode($_->{pattern}) } @wanted
            if !defined $found;
        splice @wanted, $found, 1;
    }
    return '';
}

sub type {
    my ($value) = @_;
    return 'null' if !defined $value;
    return 'bool' if JSON::PP::is_bool($value);
    return lc ref $value if ref $value eq 'HASH' || ref $value eq 'ARRAY';
    return Toolgate::Json::encode($value) =~ /^"/ ? 'string' : 'number';
}

sub matches {
    my ($pattern, $got) = @_;
    my $type = type($got);
    if (type($pattern) eq 'string' && $pattern =~ /^\$/) {
        return 1 if $pattern eq '$any';
        return $type eq 'hash' if $pattern eq '$object';
        return $type eq $1 if $pattern =~ /^\$(array|string|number)$/;
        return $type eq 'string' && index($got, $1) >= 0
            if $pattern =~ /^\$contains:(.*)/s;
        return $type eq 'string'
            && $got =~ /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/
            if $pattern eq '$time';
    }
    return 0 if type($pattern) ne $type;
    if ($type eq 'hash') {
        return 0 if keys %$pattern != keys %$got;
        for my $key (keys %$pattern) {
            return 0 if !exists $got->{$key};
            return 0 if !matches($pattern->{$key}, $got->{$key});
        }
        return 1;
    }
    if ($type eq 'array') {
        return 0 if @$pattern != @$got;
        return !grep { !matches($pattern->[$_], $got->[$_]) } 0 .. $#$got;
    }
    return Toolgate::Json::encode($pattern) eq Toolgate::Json::encode($got);
}

1;
