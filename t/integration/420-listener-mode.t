#!/usr/bin/perl
# During many starts, the socket never has another mode or owner than its final
# one, and accepts connections once it is visible.

use Toolgate::Test;

use Time::HiRes qw(lstat);

my $rounds = 25;
my $tg = Toolgate::Test->new(workers => 1);
my $socket = $tg->socket_path;
my $tool = 'tool hi { return hi; }';

# Watches the socket until its input ends; prints the result of a connect to
# each new one, and at last all states.
sub watch {
    pipe my $in, my $stop or die "pipe: $!";
    pipe my $out, my $said or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        close $_ for $stop, $out;
        $in->blocking(0);
        my %seen;
        my $known = '';
        until (defined sysread $in, my $byte, 1) {
            for (1 .. 200) {
                my @st = lstat $socket or next;
                $seen{ sprintf '%04o %d %d', $st[2] & 07777, @st[ 4, 5 ] }++;
                # Inodes are reused at once.
                next if "$st[1] $st[9]" eq $known;
                $known = "$st[1] $st[9]";
                my $is_open = IO::Socket::UNIX->new(Peer => $socket);
                syswrite $said, ($is_open ? 'connected' : "$!") . "\n";
            }
        }
        syswrite $said, join '', map {"$_\n"} sort keys %seen;
        POSIX::_exit(0);
    }
    close $_ for $in, $said;
    my $watch = Toolgate::Client->over($out, $out, 'watcher');
    return ($watch, sub { close $stop; waitpid $pid, 0 });
}

sub rounds {
    my ($name, $umask, $body, $expected) = @_;
    $tg->conf($body);
    my ($watch, $end) = watch();
    my $old = umask $umask;
    my $connected = 0;
    for (1 .. $rounds) {
        $tg->start(socket => 0);
        $connected++ if $watch->recv_line eq 'connected';
        $tg->stop(signal => $_ % 2 ? 'TERM' : 'QUIT');
    }
    umask $old;
    $end->();
    is $connected, $rounds, "$name: who sees it can connect";
    is $watch->recv_line, $expected, "$name: was seen";
    ok $watch->at_eof, "$name: no other was seen"
        or diag $watch->buffered;
    is_deeply [ glob "$socket*" ], [], "$name: nothing is left";
}

my $gid = $) + 0;
rounds('the default', 0, $tool, "0600 $> $gid");
rounds('wider', 077, "tool_socket_mode 0666;\n$tool", "0666 $> $gid");

SKIP: {
    skip 'owners are for root', 9 if $> != 0;
    my ($uid, $group) = (getpwnam 'nobody')[2, 3];
    rounds('another owner', 0,
        "tool_socket_mode 0660;\ntool_socket_owner nobody;\n$tool",
        "0660 $uid $group");

    # The tools are for the owner of the config.
    $tg->conf($tool);
    chown $uid, $group, $tg->dir . '/nginx.conf' or die "chown: $!";
    $tg->start;
    is mode_of($socket), "0600 $uid $group", 'the owner of the config';
    $tg->stop;
    $tg->conf("tool_socket_owner nobody:root;\n$tool")->start;
    is mode_of($socket), "0600 $uid 0", 'a user and a group';
    $tg->stop;
    ok !-e $socket, 'and it is gone';

    # Users and groups of a container may have no names here.
    for my $owner ('54321:54322', "$uid") {
        my ($of, $for) = split /:/, "$owner:$group";
        $tg->conf("tool_socket_owner $owner;\n$tool")->start;
        is mode_of($socket), "0600 $of $for", "a number: $owner";
        $tg->stop;
    }
}

# --- a folder that is missing

my $dir = $tg->dir;

sub made {
    my ($name, $path, $body, $expected) = @_;
    $tg->conf("listen unix:$path/new/t.sock;\n$body")
        ->start(socket => "$path/new/t.sock");
    is mode_of("$path/new"), $expected, $name;
    $tg->stop;
    is_deeply [ glob "$path/new/*" ], [], "$name: it is empty then";
    rmdir "$path/new" or die "rmdir: $!";
}

made('a folder that is missing', $dir,
    "tool_socket_mode 0666; tool_socket_owner $>:$gid; $tool",
    "0700 $> $gid");
$tg->conf("listen unix:$dir/no/no/t.sock;\n$tool");
isnt +($tg->start_fails)[0], 0, 'two of them are too many';
ok !-e "$dir/no", 'nothing is made';
$tg->file('file', '');
$tg->conf("listen unix:$dir/no/t.sock;\nlisten unix:$dir/file;\n$tool");
isnt +($tg->start_fails)[0], 0, 'a start that fails';
ok !-e "$dir/no", 'leaves none behind';
$tg->allow_log(qr/\[emerg\]/);

SKIP: {
    skip 'owners are for root', 6 if $> != 0;
    my $owner = 'tool_socket_owner 54321:54322;';
    made('of another user', $dir, "$owner $tool", '0700 54321 54322');
    mkdir "$dir/theirs";
    chown 54321, 54322, "$dir/theirs";
    made('in a folder of theirs', "$dir/theirs", "$owner $tool",
        '0700 54321 54322');
    chown 54323, 54322, "$dir/theirs";
    $tg->conf("listen unix:$dir/theirs/new/t.sock; $owner $tool");
    my ($status, $said) = $tg->start_fails;
    isnt $status, 0, 'not where somebody else could take its place';
    like $said, qr/is missing and cannot be created; create it, for user 54321/,
        'it says so';
}

done_testing;
