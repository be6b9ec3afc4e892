#!/usr/bin/perl
# The bounds of counters: more tools than entries, and a runner that does not
# answer.

use Toolgate::Test qw(Status);

use constant TOOLS => 1100;

my $tg = Toolgate::Test->new(workers => 1);
my $body = "tool run { exec echo ok; }\n";
$body .= "tool t$_ { description t; return $_; }\n" for 1 .. TOOLS;
$tg->conf($body)->start;

# --- tools ------------------------------------------------------------------

my $client = $tg->connect;
my $status = Toolgate::Status->new($tg->connect);
is $status->look->{result}{runners}[0]{state}, 'absent',
    'no call has needed a runner';
is scalar($tg->runner_pids), 0, 'and who asks starts none';
is text_of($client->call_tool("t$_")), $_, "tool $_" for 1, TOOLS;
$status->look;
is $status->of('t1')->{calls}, 1, 'one that has an entry';
is $status->of('t' . TOOLS), undef, 'one that has none';
my ($others) = @{ $status->{result}{others} };
is $others->{calls}, 1, 'is counted with all of those';
is $others->{ends}{ok}, 1, 'as it ended';
cmp_ok scalar(@{ $status->server->{tools} }), '<', 1024, 'so many are there';

# --- a runner that hangs ----------------------------------------------------

is text_of($client->call_tool('run')), "ok\n", 'a program';
my $runner = $tg->runner_pid;
kill STOP => $runner;
$status->look;
is $status->{result}{runners}[0]{state}, 'silent', 'the runner hangs';
is $status->of('run')->{calls}, 1, 'the other counters are reported';
kill CONT => $runner;
wait_for { $status->look->{result}{runners}[0]{state} eq 'up' } 'it to go on';

done_testing;
