#!/usr/bin/perl
# The binary is replaced while clients read, list and are subscribed to files
# and to a resource of an MCP server: no session, answer or update is lost.

use Toolgate::Test qw(ResourceStorm);

use constant CLIENTS => 6;

my $rounds = $ENV{TOOLGATE_STORM_UPGRADES} // 3;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $pid_file = "$dir/nginx.pid";
my $storm = Toolgate::ResourceStorm->new($tg, imports => 1);

# NGINX ignores USR2 unless it is a daemon.
sub conf {
    my ($body) = @_;
    my $env = '';
    if (my $preload = $tg->nginx_env->{LD_PRELOAD}) {
        # The new binary's libraries, as it is not Debian's any more; and a
        # daemon's first process exits without freeing.
        $env = qq(env "LD_PRELOAD=$preload";);
    }
    $tg->conf($body, main => $env);
    $tg->file('nginx.conf', slurp("$dir/nginx.conf")
            =~ s/daemon off/daemon on/r =~ s/ASAN_OPTIONS=/$&detect_leaks=0:/r);
}

sub master {
    my ($pid) = (slurp($pid_file) // '') =~ /(\d+)/;
    return $pid;
}

# Returns the living workers of a master.
sub workers {
    my ($master) = @_;
    my @started = $tg->log =~ / $master#\d+: start worker process (\d+)/g;
    return grep { is_alive($_) } @started;
}

conf($storm->body);
my ($status, $out, $err) = run_command({ env => $tg->nginx_env },
    $tg->nginx_command);
is $status, 0, 'a daemon starts' or diag $out . $err;
my $master = wait_for { master() } 'its master';
wait_for { workers($master) == 2 && -S $tg->socket_path } 'its workers';
wait_for { $tg->connect->call_tool('imp_subscribed')->{result} }
    'the MCP server';
$storm->start(CLIENTS);
$storm->change;
$storm->settle('the start');

for my $round (1 .. $rounds) {
    conf($storm->next_body);
    kill USR2 => $master;
    my $new;
    $storm->serve_until('the new binary', sub {
        $new = master();
        return -e "$pid_file.oldbin" && $new && $new != $master
            && workers($new) == 2;
    });
    $storm->change;
    $storm->serve for 1 .. 5;
    kill QUIT => $master;
    $storm->change;
    $storm->serve_until('the old binary to end', sub { !is_alive($master) });
    $master = $new;
    $storm->change;
    $storm->settle("upgrade $round");
}
$storm->finish;
is_deeply [ $storm->faults ], [], 'all answered and notified';
is $storm->joined, CLIENTS, 'no connection is lost';

kill QUIT => $master;
wait_for { !is_alive($master) } 'the end';
done_testing;
