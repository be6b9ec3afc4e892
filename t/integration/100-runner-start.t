#!/usr/bin/perl
# Start of the runner: its arguments, what it inherits (nothing), and that there
# is only one.

use Toolgate::Test qw(Runner);
use IO::Socket::UNIX;

my $tg = Toolgate::Test->new;
my $state = $tg->state_dir;

sub runner {
    my (@args) = @_;
    return run_command({ env => $tg->san_env, timeout => 20 },
        $tg->runner_path, @args);
}

sub fails {
    my ($name, $expected, $pattern, @args) = @_;
    my ($status, $out, $err) = runner(@args);
    is $status, $expected, "$name: exit status";
    like $err, $pattern, "$name: says why";
}

my ($status, $out, $err) = runner('--help');
is $status, 0, '--help';
like $out, qr/--state-dir DIR/, 'says how to use it';
($status, $out, $err) = runner('--version');
is $status, 0, '--version';
like $out, qr/^toolgate-runner \d+\.\d+\.\d+$/, 'says it';

fails('no state directory', 2, qr/usage:/);
fails('unknown option', 2, qr/usage:/, '--state-dir', $state, '--what');
fails('more arguments', 2, qr/usage:/, '--state-dir', $state, 'x');
fails("linger $_", 2, qr/must be 0 to 86400/, '--state-dir', $state,
    '--linger', $_)
    for '', 'x', '-1', '1x', '86401', '99999999999999999999';
fails('missing directory', 2, qr/No such file/, '--state-dir', "$state/no");
fails('no directory', 1, qr/cannot open the state directory.*Not a dir/,
    '--state-dir', $tg->file('plain', ''));

# A socket's path has at most 107 bytes: 93 for the folder.
my $long = "$state/" . 'x' x (94 - 1 - length $state);
mkdir $long;
fails('long path', 1, qr/too long for a socket/,
    '--state-dir', $long);
rmdir $long;
chop $long;
mkdir $long;
my $longest = Toolgate::Runner->start($tg, state => $long, linger => 0);
is $longest->connect->rpc('status')->{result}{version}, 3, 'the longest path';
$longest->wait_gone;
unlink glob "$long/*";
rmdir $long;
unlink "$long.log";

chmod 0707, $state;
fails('writable by others', 1, qr/chmod 0700/, '--state-dir', $state);
chmod 0700, $state;

my $file = $tg->file('state/runner-3.sock', 'precious');
fails('no socket in its place', 1, qr/cannot listen.*File exists/,
    '--state-dir', $state);
is slurp($file), 'precious', 'a file that is no socket is left alone';
($status, $out, $err) = runner('--state-dir', $state, '--report');
is $status, 1, 'with a report: exit status';
like $out, qr/^cannot listen .*: File exists$/, 'with a report: says why';
unlike $err, qr/cannot listen/, 'the log is told by who asked for it';
unlink $file;
is join(' ', glob "$state/*"), "$state/runner-3.lock",
    'nothing else is left there';

# A socket that nobody listens on, and a temporary one of a crash.
for my $name ('runner-3.sock', 'runner-3.new') {
    IO::Socket::UNIX->new(Local => "$state/$name", Listen => 1)->close;
    ok -S "$state/$name", "$name is stale";
}

# Descriptors, signals, umask, folder and environment that it must not keep.
my $runner = Toolgate::Runner->start($tg, setup => <<"END");
exec 7</dev/null 8>$state.kept 9<>$state.kept
trap '' TERM INT HUP CHLD PIPE USR1
umask 000
cd $state
SECRET=1; export SECRET
END
my $c = $runner->connect;
my $result = $c->rpc('status')->{result};
is_deeply $result,
    {
        pid         => $runner->pid,
        version     => 3,
        running     => 0,
        queued      => 0,
        connections => 1,
        started     => 0,
        held        => 0,
        servers     => 0,
        instances   => 0,
        tasks       => 0,
        spilled     => 0,
        kinds       => {},
        jobs        => [],
        stores      => [],
    },
    'it serves';
is $c->peer_pid, $runner->pid, 'and owns the socket';
is sprintf('%o', (stat $runner->socket_path)[2] & 07777), '600', 'mode 0600';
is sprintf('%o', (stat "$state/runner-3.lock")[2] & 07777), '600',
    'so has the lock';
ok !-e "$state/runner-3.new", 'the temporary socket is gone';

for my $who ([ runner => $runner->pid ],
    [ supervisor => $runner->supervisor ])
{
    my ($name, $pid) = @$who;
    SKIP: {
        # Other processes of its user cannot see its descriptors, see 105.
        skip 'needs root', 6 if $> != 0;
        my %fd = map { (m{(\d+)$})[0] => readlink } glob "/proc/$pid/fd/*";
        is $fd{$_}, '/dev/null', "$name: descriptor $_" for 0, 1;
        is $fd{2}, "$state.log", "$name: the log is kept";
        ok !grep({/kept/} values %fd), "$name: no inherited descriptor";
        is join(' ', sort keys %fd), '0 1 2', "$name: nor any other"
            if $name eq 'supervisor';
        is readlink("/proc/$pid/cwd"), '/', "$name: folder";
    }
    my $text = slurp("/proc/$pid/status");
    like $text, qr/^NoNewPrivs:\s+1$/m, "$name: no new privileges";
    like $text, qr/^Umask:\s+0077$/m, "$name: umask";
    my ($session) = slurp("/proc/$pid/stat") =~ /.*\) \S \d+ \d+ (\d+)/s;
    isnt $session, (slurp("/proc/$$/stat") =~ /.*\) \S \d+ \d+ (\d+)/s)[0],
        "$name: session";
}
isnt parent_of($runner->supervisor), $$, 'it is not the child of its starter';

my ($ignored) = slurp('/proc/' . $runner->pid . '/status')
    =~ /^SigIgn:\s+(\w+)$/m;
is hex($ignored) & ~(1 << 24 | 1 << 12 | 1 << 0), 0,
    'but SIGPIPE, SIGHUP and SIGXFSZ, none is '
    . 'ignored';
like Toolgate::Runner::exec($c, ['/usr/bin/env'])->{result}{text},
    qr/\APATH=.*\nHOME=.*\nLANG=C.UTF-8\nTOOL_NAME=tool
        \nTOOL_PROGRESS_FD=3\n\z/x,
    'a program gets a clean environment';

# A second runner sees that the first one serves, and prints nothing.
for my $mode ([], ['--foreground']) {
    ($status, $out, $err) = runner('--state-dir', $state, @$mode);
    is $status, 0, "a second runner (@$mode) is content";
    is $err, '', 'without a word';
}
is $runner->connect->rpc('status')->{result}{pid}, $runner->pid,
    'the first one serves on';

# If the socket is removed, it comes back.
unlink $runner->socket_path;
wait_for { -S $runner->socket_path } 'the socket to come back';
is $runner->connect->rpc('status')->{result}{pid}, $runner->pid,
    'it is there again';
is $c->rpc('status')->{result}{pid}, $runner->pid,
    'who was connected noticed nothing';

SKIP: {
    skip 'needs root', 1 if $> != 0;
    chmod 0755, $state;
    chmod 0666, $runner->socket_path;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        ($(, $)) = (65534, '65534 65534');
        ($<, $>) = (65534, 65534);
        my $other = eval { Toolgate::Client->connect($runner->socket_path) };
        POSIX::_exit(2) if !$other;
        eval { $other->request('status') };
        POSIX::_exit($other->at_eof ? 0 : 1);
    }
    waitpid $pid, 0;
    is $?, 0, 'another user is not served';
    like $runner->log, qr/refused a connection of another user/, 'and said';
}

$c->close;
kill TERM => $runner->supervisor;
$runner->wait_gone;
ok !-e $runner->socket_path, 'on SIGTERM it takes its socket along';
is slurp("$state/runner-3.lock"), '', 'and its pid';

done_testing;
