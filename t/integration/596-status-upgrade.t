#!/usr/bin/perl
# Another binary replaces a running NGINX (SIGUSR2), and back: it continues the
# counters, the log of calls and the trace, while both serve.


use Toolgate::Test qw(Status Trace),
    plain_only => 'LeakSanitizer reports starts of a daemon';

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $pid_file = "$dir/nginx.pid";
my $trace = has_msgpack() ? 'tool_trace frames.trace body=300;' : '';
# NGINX ignores USR2 unless it is a daemon.
$tg->conf(<<"END");
$trace
tool_log calls.log json buffer=4k;
tool hi { return hi; }
tool hang { exec sleep 3600; timeout 2h; }
tool master { return \$pid; }
END
$tg->file('nginx.conf', slurp("$dir/nginx.conf") =~ s/daemon off/daemon on/r);

sub status { return Toolgate::Status->new($tg->connect)->look }

# Waits until a worker of this master serves the client.
sub moves {
    my ($client, $master) = @_;
    wait_for {
        my $pid = text_of($client->call_tool('master'));
        return ($pid =~ /^\d+$/ ? parent_of($pid) // 0 : 0) == $master;
    } "a worker of $master";
}

my ($started) = run_command({}, $tg->nginx_command);
is $started, 0, 'a daemon starts';
# The pid file is written after the first process has exited.
my $first = wait_for(sub { slurp($pid_file) }) + 0;
my @clients = map { $tg->connect } 1, 2;
$_->call_tool('hi') for @clients;
my $client = $clients[0];
my $hang = $client->request('tools/call', { name => 'hang' });
wait_for { status()->of('hang')->{in_flight} == 1 } 'a call';
my ($before) = status()->calls('hang');

# --- upgrade ----------------------------------------------------------------

my $second = upgrade_nginx($pid_file, $first);
$tg->connect->call_tool('hi') for 1 .. 5;
is status()->of('hi')->{calls}, 7, 'both of them count as one';
kill WINCH => $first;
moves($client, $second);
is status()->of('hang')->{in_flight}, 1, 'a call that has moved is one';
is +(status()->calls('hang'))[0]{id}, $before->{id}, 'with its number';
end_process($first, 'QUIT');
$client->call_tool('hi');
is_deeply status()->ends('hi'), { ok => 8 }, 'without the old one, too';

# --- back to the old binary -------------------------------------------------

my $third = upgrade_nginx($pid_file, $second);
kill WINCH => $second;
moves($client, $third);
kill HUP => $second;
wait_for { $tg->connect->call_tool('hi')->{result} } 'workers of both';
end_process($third, 'QUIT');
wait_for { !-e "$pid_file.oldbin" } 'the one before to notice';
moves($client, $second);
my $calls = status()->of('hi')->{calls};
$client->call_tool('hi');
is status()->of('hi')->{calls}, $calls + 1, 'it continues from the sum of both';
$client->notify('notifications/cancelled', { requestId => $hang });
wait_for { status()->of('hang')->{in_flight} == 0 } 'its end';
is_deeply status()->ends('hang'), { cancelled => 1 }, 'once';
my $asked = status()->of('master')->{calls};
end_process($second, 'QUIT');

# --- remains ----------------------------------------------------------------

my %logged;
$logged{ $_->{tool} }{ $_->{status} }++
    for grep { defined $_->{tool} } map { Toolgate::Json::decode($_) }
    split /\n/, slurp("$dir/calls.log");
is_deeply \%logged, {
    hi     => { ok        => $calls + 1 },
    hang   => { cancelled => 1 },
    master => { ok        => $asked },
}, 'the log has a line for each';
SKIP: {
    skip 'built without msgpack-c', 2 if !$trace;
    my @frames = frames("$dir/frames.trace");
    ok !(grep { $_->{lost} } @frames), 'the trace has lost nothing';
    is scalar(frames("$dir/frames.trace", '--in', '--match', '"name":"hi"')),
        $calls + 1, 'and has each call';
}

done_testing;
