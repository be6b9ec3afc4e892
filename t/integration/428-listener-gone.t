#!/usr/bin/perl
# A socket file is removed while NGINX runs: a reload creates it again. Another
# file in its place stays, also at NGINX's end.

use Toolgate::Test;

my $one = Toolgate::Test->new;
my $two = Toolgate::Test->new(workers => 1);
my $dir = $one->dir;
my $socket = $one->socket_path;

sub body {
    my ($text) = @_;
    return "listen unix:$socket;\ntool who { return $text; }";
}

sub who {
    my ($of) = @_;
    return text_of(($of // $one->connect($socket))->call_tool('who'));
}

sub file_id { return join ' ', (lstat $socket)[ 0, 1, 9 ] }

# --- removed --------------------------------------------------------------

$one->conf(body('first'))->start;
my $client = $one->connect;
is who($client), 'first', 'a client';
$one->reload(body('first'));
my $fds = master_fds($one);
for my $round (1 .. 3) {
    unlink $socket or die "$socket: $!\n";
    $one->reload(body("round$round"));
    is who(), "round$round", "removed: a reload makes it anew ($round)";
    is who($client), "round$round", 'and its client stays';
}
like $one->log, qr/"\Q$socket\E" is no longer the socket .* created again/,
    'the log says it';
is mode_of($socket), "0600 $> " . ($) + 0), 'with its mode';
is master_fds($one), $fds, 'no descriptor is left';
is_deeply [ glob "$socket*" ], [$socket], 'nor a file';

# A failed reload creates nothing, the next one everything.
unlink $socket;
$one->reload_fails("listen unix:$socket;\ntool who { }");
is_deeply [ glob "$socket*" ], [], 'a reload that fails: nothing is there';
is who($client), 'round3', 'its client stays';
is master_fds($one), $fds, 'no descriptor is left';
$one->conf(body('again'));
kill HUP => $one->master_pid;
wait_for { -S $socket && who() eq 'again' } 'the next reload';
ok wait_for(sub { who($client) eq 'again' }, 'its client'),
    'the next one makes it, with its client';

# --- another process's file -----------------------------------------------

$_->allow_log(qr/\[emerg\]/) for $one, $two;
unlink $socket;
my $other = IO::Socket::UNIX->new(Local => $socket, Listen => 9);
chmod 0640, $socket;
my $theirs = mode_of($socket);
my $id = file_id();
my $from = $one->log_size;
$one->conf(body('alone'));
kill HUP => $one->master_pid;
wait_for { who($client) eq 'alone' } 'the reload';
like $one->log($from), qr/is already served by process $$ \(\S+\)/,
    "somebody else's: the log says whose";
is mode_of($socket) . file_id(), $theirs . $id, 'it is as it was';
$one->stop;
is file_id(), $id, 'also when NGINX has ended';
close $other;
unlink $socket;

# --- of a second NGINX ----------------------------------------------------

for my $signal (qw(TERM QUIT reload)) {
    $one->conf(body('first'))->start;
    $one->reload_fails("listen unix:$socket;\ntool who { }");
    unlink $socket;
    $two->conf(body('second'))->start(socket => $socket);
    $id = file_id();
    if ($signal eq 'reload') {
        my $away = "$dir/away.sock";
        $one->conf("listen unix:$away;\ntool who { return away; }");
        my @old = $one->worker_pids;
        kill HUP => $one->master_pid;
        wait_for { -S $away } 'the other path';
        wait_for { !grep { is_alive($_) } @old } 'the old workers to leave';
    }
    $one->stop(signal => $signal eq 'QUIT' ? $signal : 'TERM');
    is file_id(), $id, "$signal: the second one's socket stays";
    is who(), 'second', "$signal: it serves";
    $two->stop;
    ok !-e $socket, "$signal: and takes it along";
}

done_testing;
