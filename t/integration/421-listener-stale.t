#!/usr/bin/perl
# An existing file at the socket's path when NGINX starts: a socket that nobody
# serves is replaced, everything else stays, with an error.

use Toolgate::Test;

use POSIX qw(mkfifo);
use Socket qw(PF_UNIX SOCK_DGRAM SOCK_NONBLOCK SOCK_SEQPACKET SOCK_STREAM
    pack_sockaddr_un);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $socket = $tg->socket_path;
my $tool = 'tool hi { return hi; }';
$tg->allow_log(qr/\[emerg\]/);
$tg->conf($tool);

sub starts {
    my ($name) = @_;
    $tg->start;
    is text_of($tg->connect->call_tool('hi')), 'hi', "$name: it serves";
    $tg->stop;
    is_deeply [ glob "$socket*" ], [], "$name: nothing is left";
}

sub refuses {
    my ($name, $pattern) = @_;
    my $own = qr{\.log$};
    my $before = files_below($dir, $own);
    my ($status, $out) = $tg->start_fails;
    is $status, 1, "$name: NGINX does not start";
    like $out, $pattern, "$name: it says why and what to do";
    is_deeply files_below($dir, $own), $before, "$name: nothing is touched";
}

# --- unused sockets -------------------------------------------------------

close(IO::Socket::UNIX->new(Local => $socket, Listen => 1));
ok -S $socket, 'a socket is left behind';
starts('a socket left behind');

# Bound but not listening: connects fail as well.
my $bound = IO::Socket::UNIX->new(Local => $socket);
starts('a socket that does not listen');
close $bound;

# A start that was killed.
close(IO::Socket::UNIX->new(Local => "$socket~", Listen => 1));
starts('a temporary name left behind');
close(IO::Socket::UNIX->new(Local => $_, Listen => 1))
    for $socket, "$socket~";
starts('both left behind');

# --- other files ----------------------------------------------------------

my $no_socket =
    qr/\[emerg\].*"\Q$socket\E" exists and is not a socket.*move it away/;

$tg->file('t.sock', 'precious');
refuses('a file', $no_socket);
unlink $socket;
mkdir $socket;
refuses('a folder', $no_socket);
rmdir $socket;
symlink "$dir/nginx.conf", $socket;
refuses('a link', $no_socket);
unlink $socket;
mkfifo $socket, 0600;
refuses('a pipe', $no_socket);
unlink $socket;

# --- sockets in use -------------------------------------------------------

my $served = IO::Socket::UNIX->new(Local => $socket, Listen => 1);
refuses('a live server',
    qr/unix:\Q$socket\E is already served by process $$ \(\S+\)/);
like $tg->log, qr/stop that process, or choose another path/,
    'a live server: what to do';

# Nobody accepts connections: the queue is full.
my @waiting;
while (1) {
    socket my $client, PF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0
        or die "socket: $!";
    push @waiting, $client;
    last if !connect $client, pack_sockaddr_un($socket);
}
refuses('a full queue', qr/served by a process with a full backlog/);
close $_ for @waiting, $served;
unlink $socket;

# Another socket type has its own connect error.
for my $type (SOCK_DGRAM, SOCK_SEQPACKET) {
    my $other = IO::Socket::UNIX->new(
        Type  => $type,
        Local => $socket,
        $type == SOCK_DGRAM ? () : (Listen => 1));
    refuses("type $type", qr/connect\(\) to unix:\Q$socket\E failed, so it is/);
    close $other;
    unlink $socket;
}

# --- impossible places ----------------------------------------------------

$tg->conf("listen unix:$dir/no/no/t.sock;\n$tool");
refuses('folders that are missing', qr/directory of unix:.* create it, or/);
my $long = "$dir/" . 'x' x (106 - length $dir);
$tg->conf("listen unix:$long;\n$tool");
refuses('a long path', qr/path of unix:\Q$long\E is too long; use at most 106/);
chop $long;
$tg->conf("listen unix:$long;\n$tool")->start(socket => $long);
is text_of($tg->connect($long)->call_tool('hi')), 'hi', 'the longest path';
$tg->stop;

# The second of two listeners fails: the first one must not stay.
$tg->file('file', 'precious');
$tg->conf("listen unix:$socket;\nlisten unix:$dir/file;\n$tool");
refuses('the second of two', qr/"\Q$dir\E\/file" exists and is not a socket/);

done_testing;
