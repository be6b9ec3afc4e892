#!/usr/bin/perl
# Under load: of many calls on several connections one is cancelled, 300 times,
# and each time exactly its group ends.

use Toolgate::Test qw(Hang Way);

my $rounds = 300;
my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
$tg->conf("tool hang { $handler } method hang { $handler output text; }"
        . 'method now { return 1; }')->start;

# Six connections with the same ids, four calls each.
my @ways = map { Toolgate::Way->new($_, $tg->connect) } (qw(legacy modern)) x 2;
my @clients = ((map { $_->client } @ways), map { $tg->connect } 1 .. 2);
my $n = 0;
my @open;

sub start {
    my ($c) = @_;
    my $key = 'k' . ++$n;
    my $id = $c < @ways
        ? $ways[$c]->start('hang', { key => $key })
        : $clients[$c]->request('hang', { key => $key });
    push @open, { client => $c, id => $id, key => $key };
}
for my $c (0 .. $#clients) {
    start($c) for 1 .. 4;
}
$hang->started($_->{key}) for @open;

# Always the same numbers, to repeat a failure.
srand 7;
my ($right, $wrong, $answers) = (0, 0, 0);
for my $round (1 .. $rounds) {
    my ($victim) = splice @open, rand @open, 1;
    my $client = $clients[ $victim->{client} ];
    my ($method, $name) = rand > 0.5
        ? ('notifications/cancelled', 'requestId') : ('$/cancelRequest', 'id');
    $client->notify($method, { $name => $victim->{id} });
    $hang->wait_gone($victim->{key});
    my @hit = grep { !$hang->is_whole($_->{key}) } @open;
    if (@hit) {
        $wrong++;
        diag "round $round: $victim->{key}, but also "
            . join ' ', map { $_->{key} } @hit;
        last;
    }
    $right++;
    start($victim->{client});
    $hang->started($open[-1]{key});
}
is $right, $rounds, 'exactly the right group, each time';
is $wrong, 0, 'never another';

# Nothing was sent for them; the others have their responses.
for my $client (@clients) {
    is $client->rpc('now')->{result}, 1, 'served';
    is scalar @{ $client->{aside} }, 0, 'nothing but that came';
}
$hang->finish($_->{key}) for @open;
for my $call (@open) {
    my $result = $clients[ $call->{client} ]->reply($call->{id})->{result};
    my $text = ref $result ? $result->{content}[0]{text} : $result;
    $answers++ if $text eq "done $call->{key}\n";
}
is $answers, 24, 'the others end by themselves';
ok $_->is_silent(0.02), 'and that is all' for @clients;

done_testing;
