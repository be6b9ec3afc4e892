#!/usr/bin/perl
# Webhooks whose receiver never answers: those to another receiver are still
# sent. And many rules that are due at once: each fires, and another client's
# program is answered meanwhile.

use Toolgate::Test qw(Clock Flood);

my $tg = Toolgate::Test->new(workers => 1);
my $clock = Toolgate::Clock->new($tg);
my $flood = Toolgate::Flood->new($tg);
my $called = $tg->dir . '/called';
my $slow = $flood->listen_tcp(
    sub {
        Toolgate::Flood::read_request($_[0]);
        sleep 120;
    });
my $quick = $flood->listen_tcp(
    sub {
        Toolgate::Flood::read_request($_[0]);
        Toolgate::Flood::send_json($_[0], 200, '{}');
        open my $fh, '>>', $called or die "$called: $!";
        print $fh "called\n";
    });
my $rule = 'trigger cron "0 12 * * *" zone=UTC;';
$tg->conf(
    join("\n",
        'tool run { exec echo hello; }',
        'task_agent echo { exec true; default; } task_methods on;',
        map({"automation a$_ { $rule webhook http://127.0.0.1:$slow/; }"}
            1 .. 20),
        map({"automation n$_ { $rule notify x; }"} 1 .. 200),
        "automation z { $rule webhook http://127.0.0.1:$quick/; }"),
    main => $clock->main);
$clock->set('2026-03-29T11:59:00Z');
$tg->start;
my $client = $tg->connect;
is scalar @{ $client->result_of('automation.status')->{rules} }, 221,
    'all rules are there';

$clock->set('2026-03-29T12:00:00Z');
# The slow ones take 120 s.
my $until = time + 100;
while (!-s $called && time < $until) {
    $client->call_tool('run')->{result} or last;
}
is slurp($called), "called\n", 'a slow receiver delays no other';
wait_for {
    my $rules = $client->result_of('automation.status')->{rules};
    !grep { $_->{nextRunAt} !~ /^2026-03-30T12/ } @$rules;
} 'each rule to be due the next day';
pass 'each rule was looked at';

done_testing;
