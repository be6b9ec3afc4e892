#!/usr/bin/perl
# Sessions that cannot move get their dialect's shutdown notice: at once if
# idle, or after their last call. The same if the new config lacks the listener,
# and when NGINX quits. Nobody notices that the log is reopened.

use Toolgate::Test qw(Hang Move Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my ($stays, $goes) = ("$dir/stays.sock", "$dir/goes.sock");

sub server {
    my ($socket, $n) = @_;
    return <<"END";
server {
    listen         unix:$socket;
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir %%STATE%%;
    tool n { description "N."; return $n; }
    tool hang { description "H."; $handler }
    method hang { $handler output text; }
}
END
}

# Returns idle and busy clients of one socket; busy ones have a call with the
# key "$name-$way".
sub clients {
    my ($socket, $name) = @_;
    my %client;
    for my $way (Toolgate::Way->all($tg, $socket)) {
        $client{idle}{ $way->name } = $way;
        is $way->call('n')->{text}, 0, "$name: " . $way->name;
    }
    for my $way (Toolgate::Way->all($tg, $socket)) {
        $client{busy}{ $way->name } = $way;
        $way->{call} = $way->start('hang', { key => "$name-" . $way->name });
        $hang->started("$name-" . $way->name);
    }
    $client{hello} = $tg->connect($socket);
    $client{hello}->notify('notifications/toolgate/hello');
    ok $client{hello}->rpc('ping')->{result}, "$name: hello";
    $client{listen} = $tg->connect($socket);
    my $listen = $client{listen}->request('subscriptions/listen', {
        notifications => { toolsListChanged => \1 },
        _meta => modern_meta(),
    });
    ok $client{listen}->recv_json->{method}, "$name: a listener";
    $client{listen_id} = $listen;
    $client{mute} = $tg->connect($socket);
    $client{half} = $tg->connect($socket);
    $client{half}->send_raw('{"jsonrpc":"2.0","id":1,"method":"pi');
    return \%client;
}

# Expects the shutdown notice of an idle client.
sub is_left {
    my ($client, $way, $name) = @_;
    is $client->recv_json->{kind}, 'shutdown', "$name: the shutdown frame"
        if $way eq 'relay';
    ok $client->at_eof, "$name: closed";
}

sub idle_are_left {
    my ($client, $name) = @_;
    is_left($client->{idle}{$_}->client, $_, "$name: $_, idle")
        for sort keys %{ $client->{idle} };
    is $client->{hello}->recv_json->{method}, 'notifications/toolgate/closing',
        "$name: a bridge is notified";
    my $last = $client->{listen}->recv_json;
    is $last->{id}, $client->{listen_id}, "$name: a subscription ends";
    is $last->{result}{resultType}, 'complete', 'with its result';
    $last = $client->{listen}->recv_json;
    is_deeply [ $last->{method}, $last->{params}{requestId} ],
        [ 'notifications/cancelled', $client->{listen_id} ], 'then cancelled';
    is_left($client->{$_}, '', "$name: $_") for qw(hello listen mute half);
}

sub busy_are_left {
    my ($client, $name) = @_;
    my %busy = %{ $client->{busy} };
    ok $_->client->is_silent(0), "$name: " . $_->name . ' waits'
        for values %busy;
    for my $way (sort keys %busy) {
        $hang->finish("$name-$way");
        is $busy{$way}->finish($busy{$way}{call})->{text},
            "done $name-$way\n", "$name: $way, the last call is answered";
        is_left($busy{$way}->client, $way, "$name: $way, then");
    }
}

sub conf { return $tg->conf(join('', @_), server => 0) }

conf(server($stays, 0), server($goes, 0))->start(socket => $stays);

# --- a removed listener ---------------------------------------------------

my $here = clients($stays, 'stays');
my $there = clients($goes, 'goes');
my @old = $tg->worker_pids;
conf(server($stays, 1));
$tg->reload;
idle_are_left($there, 'goes');
ok !-e $goes || !IO::Socket::UNIX->new(Peer => $goes), 'nobody listens there';
busy_are_left($there, 'goes');
old_gone($tg, @old);
for my $way (values %{ $here->{idle} }) {
    is $way->call('n')->{text}, 1, 'stays: ' . $way->name . ' has moved';
}

# --- reopening the log ----------------------------------------------------

my @workers = $tg->worker_pids;
rename "$dir/error.log", "$dir/error.log.1" or die "error.log: $!";
kill USR1 => $tg->master_pid;
for my $pid ($tg->master_pid, @workers) {
    wait_for {
        my @open = map { readlink($_) // '' } glob "/proc/$pid/fd/*";
        return grep { $_ eq "$dir/error.log" } @open;
    } "$pid to reopen the log";
}
is $_->call('n')->{text}, 1, $_->name . ': notices nothing'
    for values %{ $here->{idle} };
is_deeply [ $tg->worker_pids ], \@workers, 'the workers are the same';

# --- NGINX quits ----------------------------------------------------------

kill QUIT => $tg->master_pid;
idle_are_left($here, 'stays');
is grep({ is_alive($_) } @workers) > 0, 1, 'the last calls are waited for';
busy_are_left($here, 'stays');
wait_for { !$tg->is_running } 'NGINX to end';
is $tg->stop, 0, 'and all is over';

done_testing;
