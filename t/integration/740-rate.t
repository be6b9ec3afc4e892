#!/usr/bin/perl
# rate: the Nth call is served and the next one is not, counted over all workers
# and clients; the error says when to retry, and then it works.

use Toolgate::Test qw(Way);

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new;

# A minute for each call: none is regained during the test.
$tg->conf(<<'END')->start;
tool one    { rate 1r/m; return ok; }
tool five   { rate 1r/m burst=4; return ok; }
tool many   { rate 1r/m burst=39; return ok; }
tool run    { rate 1r/m burst=1; exec echo ok; }
tool quick  { rate 5r/s; return ok; }
tool sparse { rate 65536r/s burst=65536; return ok; }
tool picky  { rate 1r/m burst=1; return ok;
              input_schema '{"type":"object","required":["a"]}'; }
tool closed { rate 1r/m; deny all; return ok; }
tool free   { return ok; }
method five { rate 1r/m burst=4; return 1; }
END

my ($one, $two) = map { client_of($tg, $_) } $tg->worker_pids;
my ($c1, $c2) = map { Toolgate::Way->new(relay => $tg->connect) } 1 .. 2;

sub text { return text_of($_[0]->call_tool($_[1])) }

# N and N + 1, in one worker and in the other.
is text($one, 'one'), 'ok', 'the only call in a minute';
for my $client ($one, $two) {
    like text($client, 'one'),
        qr{^This\ tool\ may\ be\ called\ no\ more\ often\ than\ 1r/m
            \ \(rate\ 1r/m,\ burst=0\);\ call\ again\ in\ (\d+\.\d{3})\ s\.$}x,
        'the second one';
    my ($wait) = text($client, 'one') =~ / in (\S+) s\.$/;
    cmp_ok $wait, '>', 40, 'may come in a minute';
    cmp_ok $wait, '<=', 60.001, 'and no later';
}
is text($_, 'five'), 'ok', 'one of five' for $one, $two, $one, $two, $two;
like text($_, 'five'), qr/rate 1r\/m, burst=4/, 'the sixth' for $one, $two;
is $one->rpc('five')->{result}, 1, 'a method of that name has its own rate';
is text($_, 'free'), 'ok', 'others are not concerned' for $one, $two;

# Programs: a rejected one is not started.
is text($one, 'run'), "ok\n", 'a program' for 1 .. 2;
like text($two, 'run'), qr/^This tool may be called no more often/,
    'and no more';

# All at once, from many connections to both workers.
my @clients = map { $tg->connect } 1 .. 8;
my @open;
for my $client (@clients) {
    push @open, [ $client, $client->request('tools/call', { name => 'many' }) ]
        for 1 .. 25;
}
my %count;
for my $call (@open) {
    my $reply = $call->[0]->reply($call->[1]);
    $count{ $reply->{result}{isError} ? 'refused' : 'served' }++;
}
is $count{served}, 40, '40 of 200 that come at once';
is $count{refused}, 160, 'and 160 get the error';

# A call that does not reach the handler does not count.
for my $client ($one, $two, $one) {
    like text($client, 'picky'), qr{^/a: }, 'arguments that do not fit';
    is $client->call_tool('closed')->{error}{code}, -32602,
        'a tool that is not there';
}
is text_of($one->call_tool('picky', { a => 1 })), 'ok',
    'fit arguments' for 1 .. 2;
like text_of($two->call_tool('picky', { a => 1 })),
    qr/^This tool may be called no more often/, 'count';

# It may be repeated at the announced time, not earlier.
my $last;
for my $round (1 .. 4) {
    my ($client) = $round % 2 ? $one : $two;
    my ($answer, $wait, $asked);
    wait_for {
        $asked = time;
        $answer = text($client, 'quick');
        ($wait) = $answer =~ / in (\d+\.\d+) s\.$/ if $answer ne 'ok';
        return $answer eq 'ok';
    } 'the next call';
    cmp_ok time - $last, '>', 0.17, 'five in a second' if defined $last;
    cmp_ok $wait, '<=', 0.201, 'and that is what was said' if defined $wait;
    $last = $asked;
}

# The largest numbers.
is text($one, 'sparse'), 'ok', 'the largest rate' for 1 .. 50;

done_testing;
