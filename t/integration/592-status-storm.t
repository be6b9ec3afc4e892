#!/usr/bin/perl
# After a storm of reloads the counters agree to the call with the clients: each
# response is a successful call, each cancelled one without a response ended so,
# and nothing is running.

use Toolgate::Test qw(Status Storm);

use constant CLIENTS => 30;

my $reloads = 20;
my $tg = Toolgate::Test->new;

# Lists are not calls, nor are unknown tools.
my %answers;
my $storm = Toolgate::Storm->new(
    $tg,
    plant => sub {
        my ($client, $event) = @_;
        my ($what, $key) = @$event;
        $answers{$key}++ if $what eq 'answer';
        return $event;
    });
$storm->start(CLIENTS);
$storm->reload while $storm->generation < $reloads;
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'all answered, once';

# Cancelled in time.
my $cancelled = grep { !$answers{$_} } keys %{ $storm->account->{open} };
my $status = Toolgate::Status->new($tg->connect);
wait_for { $status->look->sum('in_flight') == 0 } 'nothing in flight';
is_deeply $status->all_ends,
    {
        ok => scalar(keys %answers),
        $cancelled ? (cancelled => $cancelled) : (),
    },
    'to the call';
is $status->sum('calls'), keys(%answers) + $cancelled, 'and no other';
my $times = 0;
for my $tool (@{ $status->server->{tools} }) {
    $times += $_ for @{ $tool->{times} };
}
is $times, keys(%answers) + $cancelled, 'each took some time';
wait_for {
    my $open = $status->look->server->{connections}{open};
    $open->{ipc} + $open->{jsonrpc} + $open->{relay} + $open->{auto}
        == CLIENTS + 1;
} 'the clients, and who asks, to be counted once';
$storm->leave;

done_testing;
