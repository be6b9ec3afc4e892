#!/usr/bin/perl
# Every transcript about prompts and resources against a program with
# libtoolgate, in all three kinds of loops, except those with commands of the
# unit test.

use Toolgate::Test qw(Host Transcript);

my $tg = Toolgate::Test->new;
my @transcripts = grep {
    my $transcript = $_;
    $transcript->header('offers')
        && !grep({ $transcript->header($_) } qw(library skills))
        && !grep { $_->{do} eq 'host' } @{ $transcript->{steps} };
} Toolgate::Transcript->all;
cmp_ok scalar @transcripts, '>', 9, 'there are transcripts';

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind);
    $host->do('item offers');
    $host->do('start');
    for my $transcript (@transcripts) {
        for my $piece (undef, 5) {
            my $why = $transcript->play($host->connect_to, $piece);
            ok !$why,
                "$kind: " . $transcript->title . ($piece ? ' (in pieces)' : '')
                or diag($transcript->name . ": $why");
        }
    }
    $host->do('stop');
    $host->stop;
}

done_testing;
