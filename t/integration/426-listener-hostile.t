#!/usr/bin/perl
# Other processes in a socket's folder: a lock on it delays nobody, and the
# master changes the mode of its own socket only, however fast it is swapped.

use Toolgate::Test;

use Fcntl qw(LOCK_EX LOCK_SH O_CREAT O_RDONLY O_RDWR);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $socket = $tg->socket_path;
$tg->allow_log(qr/\[emerg\]/);

sub body {
    my ($mode) = @_;
    return "tool_socket_mode $mode;\ntool hi { return $mode; }";
}

sub says {
    my ($expected, $name) = @_;
    is text_of($tg->connect->call_tool('hi')), $expected, $name;
}

# --- locks ----------------------------------------------------------------

# Whoever may read a folder may lock it.
sysopen my $folder, $dir, O_RDONLY or die "$dir: $!\n";
flock $folder, LOCK_SH or die "$dir: $!\n";
$tg->conf(body('0600'))->start;
says('0600', 'a lock on the folder: it starts');
my $away = "$dir/two.sock";
$tg->reload("listen unix:$away;\nlisten unix:$socket;\n" . body('0600'));
is text_of($tg->connect($away)->call_tool('hi')), '0600',
    'it reloads with another socket';
is_deeply [ glob "$dir/*~*" ], [], 'and leaves nothing beside them';
$tg->stop;
close $folder;

# Another start of our own, which does not end.
my $lock = "$socket~lock";
sysopen my $other, $lock, O_RDWR | O_CREAT, 0600 or die "$lock: $!\n";
flock $other, LOCK_EX or die "$lock: $!\n";
my ($status, $out) = $tg->start_fails;
is $status, 1, 'during a start, a second NGINX gives up';
like $out, qr/"\Q$lock\E" cannot be locked; if no other NGINX .* remove it/,
    'it says what to do';
ok -e $lock, 'and leaves what is not its own';
close $other;
$tg->start;
says('0600', 'a lock that was left behind: it starts');
ok !-e $lock, 'and removes it';
$tg->stop;

# The lock file's name is taken.
for my $what ('a link', 'a file that others may open') {
    $tg->file('other', 'precious', 0644);
    $what eq 'a link' ? symlink "$dir/other", $lock : link "$dir/other", $lock;
    ($status, $out) = $tg->start_fails;
    is $status, 1, "$what as a lock: it does not start";
    like $out, qr/"\Q$lock\E" cannot be locked/, "$what as a lock: it says why";
    unlink $lock;
    is slurp("$dir/other"), 'precious', "$what as a lock: it is untouched";
}

# --- links ----------------------------------------------------------------

# A second process swaps the socket for a link to a file of the master's, as
# fast as it can: renameat2() with RENAME_EXCHANGE.
sub swap {
    my ($path, $link) = @_;
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    Toolgate::Guard::die_with_parent();
    syscall 316, -100, $path, -100, $link, 2 while 1;
}

SKIP: {
    require POSIX;
    skip 'the number of renameat2() is another one here', 3
        if (POSIX::uname())[4] ne 'x86_64';
    my $file = $tg->file('file', 'precious', 0640);
    my $before = mode_of($file);
    $tg->conf(body('0666'))->start;
    symlink $file, "$dir/link" or die "$dir/link: $!\n";
    my $swapper = swap($socket, "$dir/link");
    for my $round (1 .. 50) {
        my $from = $tg->log_size;
        $tg->conf(body($round % 2 ? '0600' : '0666'));
        $tg->signal_reload('HUP');
        $tg->wait_log(qr/start worker process \d/, $from);
    }
    kill KILL => $swapper;
    waitpid $swapper, 0;
    is mode_of($file), $before, 'a file that a link led to is as it was';
    is slurp($file), 'precious', 'what is in it, too';
    ok -e $socket, 'something is at the path' or diag $tg->log;
    unlink "$dir/link";
}

done_testing;
