#!/usr/bin/perl
# The binary is replaced while clients call: USR2 starts the new one, QUIT ends
# the old one, and all sessions have moved. And back: HUP lets the old one serve
# again, QUIT ends the new one.

use Toolgate::Test qw(Storm);

use constant CLIENTS => 20;

my $rounds = 3;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $pid_file = "$dir/nginx.pid";
my $storm = Toolgate::Storm->new($tg);

# NGINX ignores USR2 unless it is a daemon.
sub conf {
    my ($n) = @_;
    my $env = '';
    if (my $preload = $tg->nginx_env->{LD_PRELOAD}) {
        # The new binary's libraries, as it is not Debian's any more; and a
        # daemon's first process exits without freeing.
        $env = qq(env "LD_PRELOAD=$preload";);
    }
    $tg->conf($storm->body($n), main => $env);
    $tg->file('nginx.conf', slurp("$dir/nginx.conf")
            =~ s/daemon off/daemon on/r =~ s/ASAN_OPTIONS=/$&detect_leaks=0:/r);
}

sub master {
    my ($pid) = (slurp($pid_file) // '') =~ /(\d+)/;
    return $pid;
}

# Starts the new binary with its own config beside the old one's workers.
sub upgrade {
    my ($old) = @_;
    my $n = $storm->account->top + 1;
    conf($n);
    $storm->comes($n);
    kill USR2 => $old;
    $storm->until(
        sub {
            my $pid = master();
            return -e "$pid_file.oldbin" && $pid && $pid != $old
                && $storm->are_ready >= 2;
        },
        'the new binary');
    return master();
}

# Ends a master; the other one then has its sessions.
sub ends {
    my ($pid, $signal) = @_;
    kill $signal => $pid;
    $storm->until(sub { !is_alive($pid) }, "$pid to end");
}

conf(0);
my ($status, $out, $err) = run_command({ env => $tg->nginx_env },
    $tg->nginx_command);
is $status, 0, 'a daemon starts' or diag $out . $err;
my $master = wait_for { master() } 'its master';
$storm->start(CLIENTS, running => 1);
$storm->pass(0.3);

for my $round (1 .. $rounds) {
    # Forwards: the old binary ends while the new one serves.
    my $new = upgrade($master);
    ends($master, 'QUIT');
    $storm->until(sub { !$storm->is_read_by_old }, 'the old workers');
    $storm->serves;
    $master = $new;
    $storm->pass(0.2);
    is scalar($storm->clients), CLIENTS, "upgrade $round: no client is lost";

    # Back: the old binary's workers exit, and new ones of it start.
    my $old_generation = $storm->generation;
    $new = upgrade($master);
    kill WINCH => $master;
    $storm->until(sub { !$storm->is_read_by_old }, 'the old workers');
    $storm->serves;
    $storm->pass(0.2);
    is scalar($storm->clients), CLIENTS, "return $round: no client is lost";
    $storm->returns($old_generation);
    # At once: sessions wait until the former workers are ready.
    kill HUP => $master;
    ends($new, 'QUIT');
    $storm->until(sub { $storm->are_ready >= 2 }, 'the workers of before');
    $storm->until(sub { !-e "$pid_file.oldbin" }, 'the old one to notice');
    is master(), $master, "return $round: the old one is the only one";
    $storm->pass(0.2);
    is scalar($storm->clients), CLIENTS, 'no client is lost';
}
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'all answered, once, by the right ones';
$storm->leave;
ends($master, 'QUIT');

done_testing;
