#!/usr/bin/perl
# Libraries of a new config load before its workers can serve. Until then the
# old worker serves its sessions, in every dialect, also those that cannot move,
# and new clients. Then sessions move; also if reloads are faster than loading,
# and if NGINX quits meanwhile.

use Toolgate::Test qw(Hang Move Native Tls Way);

my ($tg, $dir, $hang, $n, $tls);

sub body {
    my $handler = $hang->handler;
    my $tools = <<"END";
tool n { description "N."; return $n; }
tool pid { description "P."; return \$pid; }
tool hang { description "H."; $handler }
tool library { description "L."; library probe.so probe_say "$n"; }
tool later { description "L."; library probe.so probe_later 600 key; }
tool slow { description "S."; library probe.so probe_slow $dir/slow; }
END
    return <<"END";
server { listen unix:%%SOCKET%%; $tools }
server {
    listen              unix:$tls ssl;
    ssl_certificate     $dir/tools.pem;
    ssl_certificate_key $dir/tools.key;
    $tools
}
END
}

sub conf {
    my (%option) = @_;
    $n++;
    return $tg->conf(body(), server => 0, %option);
}

sub server {
    my (%option) = @_;
    $tg = Toolgate::Test->new(workers => 1);
    ($dir, $n) = ($tg->dir, 0);
    $tls = "$dir/tls.sock";
    certify($dir, 'tools');
    $hang = Toolgate::Hang->new($tg);
    Toolgate::Native->probe("$dir/probe.so", 1);
    conf(%option)->start;
    my ($worker) = $tg->worker_pids;
    return $worker;
}

# Reloads with a worker that loads until finish_loading(). Returns the new
# worker when the old one was told to exit.
sub loading {
    my ($old, %option) = @_;
    $tg->file('slow', '');
    my $from = $tg->log_size;
    conf(%option);
    $tg->signal_reload('HUP');
    my $new;
    wait_for {
        ($new) = $tg->log($from) =~ /start worker process (\d+)/;
        return $new && -e "$dir/slow.$new";
    } 'the new worker to load';
    wait_for {
        $tg->log =~ / $old#\d+: gracefully shutting down/;
    } 'the old worker to be notified';
    return $new;
}

sub finish_loading { unlink "$dir/slow" or die "unlink: $!"; return }

sub tls_client {
    return $tg->spawn({}, qw(openssl s_client -quiet -no_ign_eof
            -verify_quiet -unix), $tls);
}

sub serves {
    my ($what, $pid, $generation, @ways) = @_;
    for my $way (@ways) {
        my $name = "$what, " . $way->name;
        is $way->call('pid')->{text}, $pid, "$name: the worker";
        is $way->call('n')->{text}, $generation, "$name: its config";
        is $way->call('library')->{text}, "[1:$generation]",
            "$name: its library";
        ok $way->client->rpc('ping')->{result}, "$name: a ping"
            if $way->name eq 'legacy';
    }
}

# --- one reload -------------------------------------------------------------

my $old = server();
my @ways = Toolgate::Way->all($tg);
my @busy = grep { $_->name ne 'ipc' } @ways;
my $secret = Toolgate::Way->new('legacy', tls_client());
my $mute = $tg->connect;
serves('before', $old, 1, @ways, $secret);
for my $way (@busy) {
    $way->{call} = $way->start('hang', { key => $way->name });
    $hang->started($way->name);
}
my $stays = $ways[0]->start('later');

my $new = loading($old);
serves('while it loads', $old, 1, @ways, $secret);
for my $way (@busy) {
    $hang->finish($way->name);
    is $way->finish($way->{call})->{text}, 'done ' . $way->name . "\n",
        $way->name . ': a call from before ends';
    $way->{call} = $way->start('hang', { key => 'again-' . $way->name });
    $hang->started('again-' . $way->name);
}
my @late = Toolgate::Way->all($tg);
serves('a client of meanwhile', $old, 1, @late);
ok is_alive($old) && is_alive($new), 'both workers are there';
unlike $tg->log, qr/sessions? moved to/, 'and nobody has moved';

finish_loading();
for my $way (@ways, @late) {
    wait_for { $way->call('n')->{text} eq 2 } 'the session to move';
}
serves('after it has loaded', $new, 2, @ways, @late);
is $mute->rpc('ping')->{result} && 1, 1, 'as one that had said nothing';
ok $secret->client->at_eof, 'one that cannot move has ended';
for my $way (@busy) {
    $hang->finish('again-' . $way->name);
    is $way->finish($way->{call})->{text}, 'done again-' . $way->name . "\n",
        $way->name . ': a call moved along';
}
$ways[0]->client->notify('notifications/cancelled', { requestId => $stays });
wait_for { !is_alive($old) } 'the old worker to go';
is $tg->log =~ /this one continues to serve until then/ && 1, 1, 'the log '
    . 'says so';

# --- a storm ----------------------------------------------------------------

($old) = $tg->worker_pids;
my $from = $tg->log_size;
my @loading;
for my $round (1 .. 5) {
    push @loading, loading($old);
    push @ways, Toolgate::Way->new('modern', $tg->connect);
    serves("reload $round", $old, 2, @ways, @late);
}
# All but the last were told to exit while they loaded.
finish_loading();
wait_for { $_->call('n')->{text} eq $n } 'the session to move'
    for @ways, @late;
serves('after the storm', $loading[-1], $n, @ways, @late);
old_gone($tg, $old, @loading[0 .. 3]);
my $last = $ways[-1];

# --- sessions moving to a worker that another reload replaces ---------------

($old) = $tg->worker_pids;
conf();
my $middle = do {
    my $before = $tg->log_size;
    stopped(
        sub {
            kill HUP => $tg->master_pid;
            my $there = $tg->connect;
            is text_of($there->call_tool('n')), $n, 'a new worker serves';
            $tg->master_rests;
            my ($pid) = $tg->log($before) =~ /start worker process (\d+)/;
            return $pid;
        },
        $old);
};
stopped(
    sub {
        # The old one may have been told only now.
        wait_for { !is_alive($old) } 'the old worker to go';
        $tg->file('slow', '');
        my $before = $tg->log_size;
        conf();
        kill HUP => $tg->master_pid;
        wait_for {
            ($new) = $tg->log($before) =~ /start worker process (\d+)/;
            return $new && -e "$dir/slow.$new";
        } 'a newer one to load';
        $tg->master_rests;
    },
    $middle);
serves('between two reloads', $middle, $n - 1, @ways, @late);
finish_loading();
wait_for { $_->call('n')->{text} eq $n } 'the session to move'
    for @ways, @late;
serves('after both', $new, $n, @ways, @late);

# --- NGINX quits ------------------------------------------------------------

($old) = $tg->worker_pids;
loading($old);
serves('before it quits', $old, $n - 1, @ways);
kill QUIT => $tg->master_pid;
$tg->wait_log(qr/signal 3 \(SIGQUIT\) received/, $from);
serves('it quits', $old, $n - 1, @ways);
finish_loading();
for my $way (@ways, @late) {
    is $way->client->recv_json->{kind}, 'shutdown', 'a farewell'
        if $way->name eq 'relay';
    ok $way->client->at_eof, $way->name . ': it ends with NGINX';
}
wait_for { !$tg->is_running } 'NGINX to end';
$tg->stop;

# --- worker_shutdown_timeout ------------------------------------------------

$old = server(main => "worker_shutdown_timeout 1s;\n");
my $way = Toolgate::Way->new('legacy', $tg->connect);
my $call = $way->start('hang', { key => 'late' });
$hang->started('late');
loading($old, main => "worker_shutdown_timeout 1s;\n");
like $way->finish($call)->{text}, qr/worker_shutdown_timeout/,
    'the old worker waits as long as it may';
ok $way->client->at_eof, 'then its client ends';
wait_for { !is_alive($old) } 'the old worker to go';
finish_loading();
is text_of($tg->connect->call_tool('n')), $n, 'the new one serves';
$tg->stop;

done_testing;
