#!/usr/bin/perl
# Clients that cannot be accepted: no descriptor, no memory, or closed before.
# Existing clients are served meanwhile, and waiting ones once there is room
# again.

use Errno qw(ECONNABORTED EMFILE ENFILE ENOMEM ENOSPC);

use Toolgate::Test qw(Faults Talks);

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->allow_log(qr/(?:accept4?|epoll_ctl)\(.*failed/);
$tg->conf($Toolgate::Talks::TOOLS)->start;
my $talks = Toolgate::Talks->new($tg, $faults);
my $worker = $talks->worker;
$talks->rest;

my $talk = Toolgate::Talks::named('arguments');
for my $way (
    [ EMFILE       => EMFILE,       3 ],
    [ ENFILE       => ENFILE,       3 ],
    [ ECONNABORTED => ECONNABORTED, 1 ],
    )
{
    my ($name, $error, $times) = @$way;
    $faults->arm($worker, accept => [ $error, 1, $times - 1 ]);
    # It waits in the socket's queue: NGINX tries again after a while.
    my $client = $tg->connect;
    $client->send_raw($talk->[2][0]);
    wait_for { $faults->failed > 0 } 'the fault';
    $talks->is_fine for 1 .. 20;
    like $client->recv_line, qr/abc/, "$name: it is served in the end";
    is $faults->failed, $times, "$name: after $times times";
    $faults->calm;
    $client->close;
    is $talks->hold($talk), 'answered', "$name: and so is the next one";
}

# It was accepted, but the worker could not watch it.
for my $error (ENOMEM, ENOSPC) {
    $faults->arm($worker, epoll => [ $error, 1 ]);
    isnt $talks->hold($talk), 'failed', 'no event: served, or closed';
    is $faults->failed, 1, 'once';
    $faults->calm;
    is $talks->hold($talk), 'answered', 'the next one is served';
}
$talks->is_fine;
is_deeply [ $tg->worker_pids ], [$worker], 'the worker is the same';

done_testing;
