#!/usr/bin/perl
# The binary is replaced, and back, while callers broadcast: clients of both
# masters get each broadcast once, in its caller's order.

use Toolgate::Test;

my $rounds = 2;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $pid_file = "$dir/nginx.pid";
my $body = 'method tell { broadcast event; } method pid { return $pid; } '
    . 'tool_relay_bridges displace;';

# NGINX ignores USR2 unless it is a daemon.
my $env = '';
if (my $preload = $tg->nginx_env->{LD_PRELOAD}) {
    # The new binary's libraries, as it is not Debian's any more; and a daemon's
    # first process exits without freeing.
    $env = qq(env "LD_PRELOAD=$preload";);
}
$tg->conf($body, main => $env);
$tg->file('nginx.conf', slurp("$dir/nginx.conf") =~ s/daemon off/daemon on/r
        =~ s/ASAN_OPTIONS=/$&detect_leaks=0:/r);

sub master {
    my ($pid) = (slurp($pid_file) // '') =~ /(\d+)/;
    return $pid;
}

# Returns the workers of a master, when all have started.
sub workers {
    my ($master) = @_;
    my @started = $tg->log =~ / $master#\d+: start worker process (\d+)/g;
    return grep { is_alive($_) } @started;
}

my ($status, $out, $err) = run_command({ env => $tg->nginx_env },
    $tg->nginx_command);
is $status, 0, 'a daemon starts' or diag $out . $err;
my $master = wait_for { master() } 'its master';
wait_for { workers($master) == 2 && -S $tg->socket_path } 'its workers';

my @clients = map { $tg->connect } 1 .. 12;
$_->rpc('pid') for @clients;
my $bridge = $tg->connect;
$bridge->send_line({ kind => 'mcp_request', id => 1, method => 'tools/list' });
$bridge->recv_json;
my ($n, %wrong) = (0);

# Two callers, while anything else happens.
sub broadcast {
    for my $caller (@clients[ 0, 1 ]) {
        my $reply = $caller->rpc('tell', { n => ++$n });
        my $told = $reply->{result}{clients} // $reply->{error}{message};
        $wrong{$told}++ if $told ne @clients + 1;
    }
}

sub ends {
    my ($pid, $signal) = @_;
    kill $signal => $pid;
    wait_for { broadcast(); return !is_alive($pid) } "$pid to end";
}

sub upgrade {
    my ($old) = @_;
    kill USR2 => $old;
    my $new;
    wait_for {
        broadcast();
        $new = master();
        return -e "$pid_file.oldbin" && $new && $new != $old
            && workers($new) == 2;
    } 'the new binary';
    # Clients of both, at the same time.
    push @clients, map { $tg->connect } 1 .. 4;
    $_->rpc('pid') for @clients[ -4 .. -1 ];
    $clients[-1]{first} = $clients[-2]{first} = $clients[-3]{first} =
        $clients[-4]{first} = $n + 1;
    broadcast() for 1 .. 5;
    return $new;
}

for my $round (1 .. $rounds) {
    my $new = upgrade($master);
    ends($master, 'QUIT');
    $master = $new;
    broadcast() for 1 .. 5;

    # And back: the old one's workers start again, the new one ends.
    $new = upgrade($master);
    kill WINCH => $master;
    wait_for { broadcast(); return !workers($master) } 'the old workers';
    kill HUP => $master;
    wait_for { broadcast(); return workers($master) == 2 } 'and new ones of it';
    ends($new, 'QUIT');
    # Until it has noticed that, it ignores USR2.
    wait_for { broadcast(); return !-e "$pid_file.oldbin" } 'it is alone';
    broadcast() for 1 .. 5;
}
is_deeply \%wrong, {}, 'all clients received each broadcast';
diag "$n broadcasts";
for my $i (0 .. $#clients) {
    my $next = $clients[$i]{first} // 1;
    my $faults = 0;
    while ($next <= $n) {
        my $event = $clients[$i]->notification('event');
        $faults++ if $event->{params}{n} != $next;
        $next = $event->{params}{n} + 1;
    }
    is $faults, 0, "client $i: each once, in order";
    ok $clients[$i]->rpc('pid')->{result}, 'still the same connection';
    ok !@{ $clients[$i]{aside} }, 'and nothing twice';
}

# A bridge stays through all that.
my $next = $tg->connect;
$next->send_line({ kind => 'mcp_request', id => 1, method => 'tools/list' });
my $frame;
do { $frame = $bridge->recv_json } while $frame->{kind} eq 'mcp_notification';
is $frame->{kind}, 'shutdown', 'the bridge is displaced';
ok $bridge->at_eof, 'and gone';

kill QUIT => $master;
wait_for { !is_alive($master) } 'the end';
done_testing;
