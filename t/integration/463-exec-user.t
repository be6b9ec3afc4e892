#!/usr/bin/perl
# NGINX as root, workers as nobody: programs, the runner and the state directory
# are nobody's, without further rights.

use Toolgate::Test;

use File::Copy qw(copy);

plan(skip_all => 'only root can give rights away') if $> != 0;

my $tg = Toolgate::Test->new(user => 'nobody', workers => 1);
my $dir = $tg->dir;
my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
my ($home) = (getpwnam 'nobody')[7];

# Where nobody can reach it, wherever the build folder is.
copy($tg->runner_path, "$dir/toolgate-runner") or die "copy: $!";
chmod 0755, "$dir/toolgate-runner";
$tg->file('secret', 'secret', 0600);
$tg->file('whoami', <<'END', 0755);
#!/bin/sh
id -u; id -g; id -G; echo "$HOME"
grep -E '^(CapEff|CapPrm|NoNewPrivs):' /proc/self/status
END
my $runner = "tool_runner $dir/toolgate-runner;";
my $conf = <<"END";
$runner
tool_state_dir $dir/made;
tool_socket_mode 0666;
tool whoami { exec $dir/whoami; }
tool read { exec cat $dir/secret; }
tool client { return '\$tool_client_uid \$tool_client_gid \$tool_client_pid'; }
END
$tg->conf($conf)->start;
is mode_of("$dir/made"), "0700 $uid 0", 'the state directory';
is mode_of($tg->socket_path), '0666 0 0', 'the socket is root\'s';

my $client = $tg->connect;
is_deeply [ split /\n/, text_of($client->call_tool('whoami')) ],
    [ $uid, $gid, $gid, $home, "CapPrm:\t" . '0' x 16, "CapEff:\t" . '0' x 16,
        "NoNewPrivs:\t1" ],
    'a program runs as nobody, in no other group, without capabilities';
my $reply = $client->call_tool('read');
ok $reply->{result}{isError}, 'it cannot read what is root\'s';
like text_of($reply), qr/Permission denied/, 'and says so';

is mode_of("$dir/made/runner-3.sock"), "0600 $uid $gid", 'the runner\'s socket';
# The process that started it exists for a moment.
wait_for { $tg->runner_pids == 2 } 'the runner and its supervisor';
for my $pid ($tg->runner_pids) {
    my ($uids) = slurp("/proc/$pid/status") =~ /^Uid:\s+(.*)/m;
    is $uids, join("\t", ($uid) x 4), 'the runner runs as nobody';
}

# The kernel reports the client's user.
is text_of($client->call_tool('client')), "0 0 $$", 'root as a client';
pipe my $out, my $in or die "pipe: $!";
my $pid = fork // die "fork: $!";
if ($pid == 0) {
    $) = "$gid $gid";
    $( = $gid;
    ($<, $>) = ($uid, $uid);
    my $text = eval { text_of($tg->connect->call_tool('client')) } // $@;
    syswrite $in, $text;
    # Its state directory is private, even for clients of its own user.
    POSIX::_exit(0);
}
close $in;
waitpid $pid, 0;
is <$out>, "$uid $gid $pid", 'nobody as a client';

# With its default mode the socket is root's only.
$tg->reload($conf =~ s/tool_socket_mode 0666;//r);
is mode_of($tg->socket_path), '0600 0 0', 'the default';
$pid = fork // die "fork: $!";
if ($pid == 0) {
    $) = "$gid $gid";
    ($<, $>) = ($uid, $uid);
    my $socket = IO::Socket::UNIX->new(Peer => $tg->socket_path);
    POSIX::_exit($socket ? 1 : $!{EACCES} ? 42 : 2);
}
waitpid $pid, 0;
is $? >> 8, 42, 'the user nobody cannot connect';
like text_of($tg->connect->call_tool('whoami')), qr/^$uid\n/, 'root can';
$tg->stop;

# --- unsuitable state directories -----------------------------------------

sub refuses {
    my ($name, $pattern) = @_;
    $tg->allow_log(qr/\[emerg\]/);
    my ($status, $out) = $tg->start_fails;
    isnt $status, 0, "$name: NGINX does not start";
    like $out, $pattern, "$name: it says why";
    is_deeply [ glob $tg->socket_path . '*' ], [], "$name: no socket is left";
}

my $other = $conf =~ s/made;/other;/r;
mkdir "$dir/other", 0700;
$tg->conf($other);
refuses('one of root',
    qr/other" \(tool_state_dir\) must belong to uid $uid.* will be created/);
chown $uid, $gid, "$dir/other";
chmod 0777, "$dir/other";
refuses('one for all', qr/must belong to uid $uid.*belongs.*mode 0777/);
rmdir "$dir/other";
symlink "$dir/made", "$dir/other";
refuses('a link', qr/other".*not a directory/);
unlink "$dir/other";
$tg->start;
like text_of($tg->connect->call_tool('whoami')), qr/^$uid\n/,
    'one that is not there';
is mode_of("$dir/other"), "0700 $uid 0", 'is made';

done_testing;
