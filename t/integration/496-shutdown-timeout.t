#!/usr/bin/perl
# worker_shutdown_timeout: an exiting worker waits no longer. Its remaining
# calls fail with the reason; what moved continues.

use Toolgate::Test qw(Backend Hang Move Native Tls Way);

my $why = qr/ended this call after worker_shutdown_timeout/;
# Sessions have to move in this time, on a machine that may be busy.
my $main = "worker_shutdown_timeout 3s;\n";

# NGINX ends: calls in all dialects, and a client that does not read.
{
    my $tg = Toolgate::Test->new(workers => 1);
    my $hang = Toolgate::Hang->new($tg);
    my $handler = $hang->handler;
    my $text = '$tool_arg_text' x 15;
    $tg->conf(<<"END", main => $main)->start;
tool_runner    @{[ $tg->runner_path ]};
tool_state_dir %%STATE%%;
tool hang { description "H."; $handler }
method hang { $handler output text; }
method large { return "$text"; output text; }
END
    my $idle = $tg->connect;
    ok $idle->rpc('ping')->{result}, 'one that is idle';
    my $deaf = $tg->connect;
    $deaf->request('large', { text => 'x' x 4000 }) for 1 .. 40;
    $deaf->await('some of it', undef,
        sub { length $deaf->buffered || undef });
    my @ways = Toolgate::Way->all($tg);
    for my $way (@ways) {
        $way->{call} = $way->start('hang', { key => $way->name });
        $hang->started($way->name);
    }
    kill QUIT => $tg->master_pid;
    wait_for { !$tg->is_running } 'NGINX to end';
    ok $idle->at_eof, 'it is closed';
    for my $way (@ways) {
        my $answer = $way->finish($way->{call});
        like $answer->{text}, $why, $way->name . ': the call fails';
        is $answer->{type}, 'CancelledError', 'with the type of what is ended'
            if $way->name eq 'ipc';
        is $way->client->recv_json->{kind}, 'shutdown', 'and a farewell'
            if $way->name eq 'relay';
        ok $way->client->at_eof, $way->name . ': then it is closed';
        ok $hang->wait_gone($way->name), $way->name . ': its program is gone';
    }
    like $tg->log, qr/worker_shutdown_timeout has passed with 1 call in/,
        'the log says so';
    $tg->stop;
}

# A reload: sessions that cannot move, and calls of sessions that have moved.
{
    my $tg = Toolgate::Test->new(workers => 1);
    my $dir = $tg->dir;
    my $hang = Toolgate::Hang->new($tg);
    my $handler = $hang->handler;
    my $backend = Toolgate::Backend->new('jsonrpc', "$dir/backend");
    my $secret = "$dir/tls.sock";
    certify($dir, 'tools');
    Toolgate::Native->probe("$dir/probe.so", 'one');
    my $tools = <<"END";
tool_runner    @{[ $tg->runner_path ]};
tool_state_dir %%STATE%%;
tool hang { description "H."; $handler }
tool pass { description "P."; timeout 600s; @{[ $backend->pass ]} }
tool n { description "N."; return 1; }
tool wait {
    description "W.";
    timeout     600s;
    library     probe.so probe_later 600 key;
}
END
    $tg->conf(<<"END", server => 0, main => $main)->start;
server { listen unix:%%SOCKET%%; $tools }
server {
    listen              unix:$secret ssl;
    ssl_certificate     $dir/tools.pem;
    ssl_certificate_key $dir/tools.key;
    $tools
}
END
    my %tls = map {
        $_ => Toolgate::Way->new(
            $_,
            $tg->spawn(
                {},              'openssl',
                's_client',      '-quiet',
                '-no_ign_eof',   '-verify_quiet',
                '-unix',         $secret
            ))
    } qw(legacy relay ipc);
    my %moves = map { $_->name => $_ } Toolgate::Way->all($tg);
    for my $way (values %tls, $moves{legacy}) {
        my $key = ($way == $moves{legacy} ? 'moves-' : 'tls-') . $way->name;
        $way->{call} = $way->start('hang', { key => $key });
        $hang->started($key);
    }
    $moves{modern}{call} = $moves{modern}->start('pass', { n => 1 });
    $backend->heard;
    $moves{relay}{call} = $moves{relay}->start('wait', {});
    is $moves{relay}->call('n')->{text}, 1, 'what came before it has begun';
    my @old = $tg->worker_pids;
    $tg->reload;
    old_gone($tg, @old);

    for my $name (sort keys %tls) {
        my $client = $tls{$name}->client;
        like $tls{$name}->finish($tls{$name}{call})->{text}, $why,
            "TLS: $name: the call fails";
        is $client->recv_json->{kind}, 'shutdown', 'and a farewell'
            if $name eq 'relay';
        ok $client->at_eof, "TLS: $name: then it is closed";
        ok $hang->wait_gone("tls-$name"), "TLS: $name: its program is gone";
    }
    for my $name (qw(modern relay)) {
        like $moves{$name}->finish($moves{$name}{call})->{text},
            qr/worker that ran it exited before it answered/,
            "$name: what its old worker did for it fails";
    }
    $hang->finish('moves-legacy');
    is $moves{legacy}->finish($moves{legacy}{call})->{text},
        "done moves-legacy\n", 'the call in the runner continues';
    $tg->stop;
}

done_testing;
