#!/usr/bin/perl
# Rights that the runner and its programs give up, and that programs of its user
# cannot inspect it.

use Toolgate::Test qw(Runner), plain_too => 'LeakSanitizer inspects the runner';

use File::Copy qw(copy);

my $tg = Toolgate::Test->new;
my $state = $tg->state_dir;

# Returns the lines of /proc/PID/status as a hash.
sub status {
    my ($text) = @_;
    return map { split /:\s+/, $_, 2 } split /\n/, $text;
}

my $runner = Toolgate::Runner->start($tg);
for my $pid ($runner->pid, $runner->supervisor) {
    my %is = status(slurp("/proc/$pid/status"));
    is $is{NoNewPrivs}, 1, 'no program gives it new rights';
    is $is{Umask}, '0077', 'its files are its own';
}
my $c = $runner->connect;

# With the same user, but not as root, who may inspect every process.
my $look = <<'END';
for what in mem environ maps fd/2 exe; do
    test -r /proc/$1/$what && head -c 1 /proc/$1/$what >/dev/null \
        && echo "$1 $what"
done 2>/dev/null
echo looked
END
SKIP: {
    skip 'LeakSanitizer has to look at it', 2 if $tg->is_san;
    skip 'root may look at everybody', 2 if $> == 0;
    my $found = Toolgate::Runner::exec($c,
        [ '/bin/sh', '-c', $look, 'sh', '' . $runner->pid ])->{result}{text};
    is $found, "looked\n", 'a program cannot look into the runner';
    $found = Toolgate::Runner::exec($c,
        [ '/bin/sh', '-c', $look, 'sh', '' . $runner->supervisor ]);
    is $found->{result}{text}, "looked\n", 'nor into its supervisor';
}

# A program can inspect itself: exec() has made it a new process.
my $own = Toolgate::Runner::exec($c,
    [ '/bin/sh', '-c', 'cat /proc/self/environ >/dev/null && echo ok' ]);
is $own->{result}{text}, "ok\n", 'but into itself';
$c->close;
kill TERM => $runner->supervisor;
$runner->wait_gone;

SKIP: {
    skip 'only root has rights to give', 11 if $> != 0;

    # Where that user can reach it, wherever the build folder is.
    my $dir = $tg->dir;
    copy($tg->runner_path, "$dir/toolgate-runner") or die "copy: $!";
    chmod 0755, "$dir/toolgate-runner";
    my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
    mkdir "$dir/nobody", 0700 or die "mkdir: $!";
    chown $uid, $gid, "$dir/nobody";

    # As a service manager starts NGINX with AmbientCapabilities=.
    my ($status, $out, $err) = run_command({ env => $tg->san_env },
        'setpriv', "--reuid=$uid", "--regid=$gid", '--clear-groups',
        '--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service',
        "$dir/toolgate-runner", '--state-dir', "$dir/nobody", '--linger',
        1000);
    is $status, 0, 'started with a right that is not its user\'s' or diag $err;
    my $pid = runner_in("$dir/nobody");
    my $client = Toolgate::Client->connect("$dir/nobody/runner-3.sock");
    my $text = Toolgate::Runner::exec($client,
        [ '/bin/cat', '/proc/self/status' ])->{result}{text};
    for my $case ([ 'the runner', slurp("/proc/$pid/status") ],
        [ 'a program', $text ])
    {
        my ($who, $about) = @$case;
        my %is = status($about);
        is $is{$_}, '0' x 16, "$who: none in $_"
            for qw(CapInh CapPrm CapEff CapAmb);
    }

    # Programs of the same user cannot inspect it.
    SKIP: {
        skip 'LeakSanitizer has to look at it', 2 if $tg->is_san;
        for my $other ($pid, parent_of($pid)) {
            my $found = Toolgate::Runner::exec($client,
                [ '/bin/sh', '-c', $look, 'sh', "$other" ]);
            is $found->{result}{text}, "looked\n",
                'a program cannot look into the runner, nor its supervisor';
        }
    }
    $client->close;
    kill TERM => $pid;
    wait_for { !is_alive($pid) } 'its end';
}

done_testing;
