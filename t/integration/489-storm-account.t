#!/usr/bin/perl
# The account of a storm finds faults: one of each kind is planted between NGINX
# and the account, and a storm without any has none.

use Toolgate::Test qw(Account Storm);

# --- the account alone ----------------------------------------------------

# A request of generation 7, while 8 is starting; and the following events.
sub told {
    my ($what, @events) = @_;
    my $account = Toolgate::Account->new;
    $account->raise_top(8);
    $account->raise_floor(7);
    $account->asked('c1.1', %$what);
    $account->take('c1', $_) for [ sent => 'c1.1' ], @events;
    return join '; ', $account->faults;
}

sub answer {
    my ($generation, $rest) = @_;
    return [ answer => 'c1.1', "gen-$generation " . ($rest // 'c1.1') ];
}

my %like = (like => qr/^clients: \d$/);
my %progress = (progress => 1, said => 0);
is told({}, answer(7)), '', 'the catalogue of then';
is told({}, answer(8)), '', 'a newer one';
is told({ text => 'x y' }, answer(8, 'c1.1 x y')), '', 'a text';
is told({}, answer('any')), '', 'who knows no generation';
is told({%like}, [ answer => 'c1.1', 'clients: 3' ]), '', 'another answer';
is told({}, answer(7), [ told => 'c2.1' ], [ told => 'c3.1' ],
    [ told => 'c2.5' ]), '', 'broadcasts';
is told({ only => 6 }, [ unknown => 'c1.1' ]), '', 'a tool that is gone';
is told({ only => 7 }, [ unknown => 'c1.1' ]), '', 'one that may be gone';
is told({%progress}, [ progress => 'c1.1', 1 ], [ progress => 'c1.1', 2 ],
    answer(7)), '', 'progress';

like told({}), qr/c1\.1 was not answered/, 'a lost answer';
like told({}, answer(7), answer(7)), qr/answered twice/, 'a doubled one';
like told({}, answer(6)), qr/by an old catalogue, not 7/, 'an old one';
like told({}, answer(9)), qr/catalogue that cannot be/, 'one of the future';
like told({}, answer(7, 'c1.2')), qr/another answer/, 'that of another call';
like told({}, answer('any', 'c1.2')), qr/another answer/, 'likewise of any';
like told({%like}, answer(7)), qr/not what was asked for/, 'of another shape';
like told({}, answer(7), [ told => 'c2.1' ], [ told => 'c2.1' ]),
    qr/c1 was told c2\.1 after c2\.1/, 'a broadcast twice';
like told({}, answer(7), [ told => 'c2.2' ], [ told => 'c2.1' ]),
    qr/c1 was told c2\.1 after c2\.2/, 'one too late';
like told({}, answer(7), [ told => undef ]), qr/told nothing/, 'no broadcast';
like told({ text => 'x' }, answer(7)), qr/another answer/, 'half of one';
like told({}, [ answer => 'c1.1', 'x' ]), qr/another answer/, 'any text';
like told({}, [ answer => 'c1.2', 'gen-7 c1.2' ]), qr/c1\.2 was never asked/,
    'an unsolicited response';
like told({}, [ unknown => 'c1.1' ]), qr/not known/, 'a tool that is there';
is told({ only => 8 }, [ unknown => 'c1.1' ]), '', 'one that may not be yet';
like told({ only => 6 }, answer(6)), qr/old catalogue/, 'a tool that is gone';
like told({ only => 8 }, answer(7)), qr/cannot be/, 'one that was not yet';
like told({ endless => 1 }, answer(7)), qr/never ends/, 'an endless call';
like told({}, [ failed => 'c1.1', 'busy' ]), qr/failed: busy/, 'a failure';
like told({}, [ strange => 'x' ], answer(7)), qr/was told: x/, 'garbage';
like told({}, answer(7), [ end => 'closed' ]), qr/lost its connection/,
    'a disconnect';
like told({}, [ progress => 'c1.1', 1 ], answer(7)), qr/told of progress/,
    'unsolicited progress';
like told({%progress}, [ progress => 'c1.1', 2 ], [ progress => 'c1.1', 2 ],
    answer(7)), qr/progress 2 after 2/, 'the same progress again';
like told({%progress}, answer(7), [ progress => 'c1.1', 1 ]),
    qr/told of progress/, 'progress after the answer';
like told({}, [ list => 'c1.1', [qw(gen only7 only8)] ]), qr/2 generations/,
    'a list of two catalogues';
{
    my $account = Toolgate::Account->new;
    $account->asked('c1.1', only => 0);
    $account->take(c1 => $_) for [ sent => 'c1.1' ], [ unknown => 'c1.1' ];
    like join('', $account->faults), qr/newest tool is not known/,
        'the newest tool';
}
my $early = Toolgate::Account->new;
$early->asked('c1.1');
$early->take(c1 => answer(0));
like join('', $early->faults), qr/before it was sent/, 'an early answer';

# --- in a storm -----------------------------------------------------------

my $dice = 0;
my %plant = (
    none => sub { $_[1] },
    lost => sub {
        my ($client, $event) = @_;
        return $event->[0] eq 'answer' && ++$dice == 20 ? () : $event;
    },
    doubled => sub {
        my ($client, $event) = @_;
        return $event->[0] eq 'answer' && ++$dice == 20
            ? ($event, $event) : $event;
    },
    old => sub {
        my ($client, $event) = @_;
        return $event if $event->[0] ne 'answer' || ++$dice != 20;
        return [ @$event[ 0, 1 ], $event->[2] =~ s/^gen-1/gen-0/r ];
    },
    disconnected => sub {
        my ($client, $event) = @_;
        # Shut down, so that the socket reports it.
        shutdown $client->tongue->socket, 2
            if $event->[0] eq 'answer' && ++$dice == 20;
        return $event;
    },
);
my %fault = (
    none         => qr/\A\z/,
    lost         => qr/\Ac\d+\.\d+ was not answered\z/,
    doubled      => qr/\Ac\d+\.\d+ was answered twice\z/,
    old          => qr/\Aby an old catalogue, not 1: c\d+\.\d+ = gen-0/,
    disconnected => qr/\Ac\d+ lost its connection: /,
);

for my $name (sort keys %plant) {
    $dice = 0;
    my $tg = Toolgate::Test->new(workers => 1);
    my $storm = Toolgate::Storm->new($tg, seed => 7, plant => $plant{$name});
    $storm->start(0)->reload->start(5);
    $storm->until(sub { $storm->account->count('answered') > 40 }, 'calls');
    $storm->{calm} = 1;
    my $left = $name eq 'lost' ? 1 : 0;
    $storm->until(sub { $storm->account->open == $left }, 'the last answers');
    my @faults = $storm->faults;
    like $faults[0] // '', $fault{$name}, "in a storm: $name";
    is scalar(@faults), $name eq 'none' ? 0 : 1, 'and nothing else'
        if $name ne 'disconnected';
    $storm->leave;
    $tg->stop;
}

done_testing;
