#!/usr/bin/perl
# Every transcript, against a program that has libtoolgate: each on a server
# as its headers ask for, in all three kinds of loops.

use Toolgate::Test;
use Toolgate::Host;
use Toolgate::Transcript;

my $tg = Toolgate::Test->new;
my @transcripts = grep { !$_->header('only') && !$_->header('library') }
    Toolgate::Transcript->all;

for my $kind (@Toolgate::Host::KINDS) {
    my %host;
    for my $transcript (@transcripts) {
        my %option = map { $_ => $transcript->header($_) }
            qw(protocol max_frame max_inflight);
        my $host = $host{ $transcript->directives } //=
            Toolgate::Host->start($tg, $kind, %option);
        $host->do('start') if $host->do('state') == 0;

        # Of what is large, pieces would only take long.
        for my $piece (undef, $transcript->header('heavy') ? () : 5) {
            my $why = $transcript->play($host->connect_to, $piece);
            ok !$why,
                "$kind: " . $transcript->title . ($piece ? ' (in pieces)' : '')
                or diag($transcript->name . ": $why");
        }
    }
    $_->do('stop') for values %host;
    $_->stop for values %host;
}

done_testing;
