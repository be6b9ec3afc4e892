#!/usr/bin/perl
# Many threads of a program that wait for responses of one client, while the
# server restarts; and its child processes.

use Toolgate::Test qw(Host);

my $tg = Toolgate::Test->new;
my $server = Toolgate::Host->start($tg, 'thread');
$server->do('start');
my $host = Toolgate::Host->start($tg, 'thread');
# Descriptors of the first loop of a process, which libuv keeps.
$host->do('cycles 1');
my $before = $host->holds;
$host->do('client new ' . $server->socket_path . ' grace=600s');
$host->do('client open');

# --- threads ---
$host->do('client threads 16 100');
is $host->event(qr/^threads/), 'threads wrong 0 lost 0',
    'each thread has its own answers';

# --- while the server restarts repeatedly ------------
$host->do('client threads 16 200');
for (1 .. 20) {
    $server->do('stop');
    $server->do('start');
}
like $host->event(qr/^threads/), qr/^threads wrong 0 lost \d+$/,
    'an answer is the right one, or the connection was lost';
like $host->do('client call echo {"text":"still"}'), qr/still/,
    'the client is there still';

# --- children ---
wait_for { $server->do('clients') == 1 } 'one client';
my $child = $host->do('fork stay');
$host->do('client free');
wait_for { $server->do('clients') == 0 } 'its end';
pass 'a child does not keep the connection of its parent';
kill KILL => $child;
is_deeply $host->holds($before), $before, 'no descriptor and no thread is left';

# --- closed by one thread while others wait ---
$host->do('client new ' . $server->socket_path);
$host->do('client open');
$host->do('client begin call hang') for 1 .. 3;
$server->event(qr/^hangs/) for 1 .. 3;
$host->do('client close');
like $host->event(qr/^answered $_ /), qr/IPCConnectionError/,
    "call $_ ends with it" for 0 .. 2;
$server->event(qr/^cancelled/) for 1 .. 3;
$host->do('client free');
is_deeply $host->holds($before), $before, 'nothing is left';
$host->stop;
$server->stop;

done_testing;
