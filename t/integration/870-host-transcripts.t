#!/usr/bin/perl
# Every transcript against a program with libtoolgate: on a server according to
# its headers, in all three kinds of loops.

use Toolgate::Test qw(Host Transcript);

my $tg = Toolgate::Test->new;
my @transcripts = grep {
    my $transcript = $_;
    !grep { $transcript->header($_) } qw(only library offers)
} Toolgate::Transcript->all;

for my $kind (@Toolgate::Host::KINDS) {
    my %host;
    for my $transcript (@transcripts) {
        my %option = map { $_ => $transcript->header($_) }
            qw(protocol max_frame max_inflight);
        my $host = $host{ $transcript->directives } //=
            Toolgate::Host->start($tg, $kind, %option);
        $host->do('start') if $host->do('state') == 0;

        # Pieces of large messages would only take long.
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
