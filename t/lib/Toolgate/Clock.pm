package Toolgate::Clock;

# Sets the wall clock of a test's runner (t/faults/tg_clock.c). Time passes as
# usual.
#
#   my $clock = Toolgate::Clock->new($tg);
#   $tg->conf('…', main => $clock->main);     # the runner gets it from NGINX
#   $clock->set('2026-03-29T00:59:58Z');

use strict;
use warnings;

use Carp qw(croak);
use Time::Local qw(timegm);

use Toolgate::Util;

sub new {
    my ($class, $tg) = @_;
    my $path = $tg->file('clock', pack('q', 0), 0644);
    open my $fh, '+<:raw', $path or croak "$path: $!";
    return bless { path => $path, fh => $fh }, $class;
}

# Returns directives for nginx.conf.
sub main {
    my ($self) = @_;
    return preloaded('tg_clock', "TG_CLOCK=$self->{path}");
}

sub seconds {
    my ($text) = @_;
    my @at = $text =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.\d+)?Z$/
        or croak "no time: $text";
    return timegm(@at[ 5, 4, 3, 2 ], $at[1] - 1, $at[0]);
}

# Sets the time (UTC) at once.
sub set {
    my ($self, $text) = @_;
    sysseek $self->{fh}, 0, 0 or croak "seek: $!";
    syswrite $self->{fh}, pack 'q', seconds($text) - time
        or croak "write: $!";
}

1;
