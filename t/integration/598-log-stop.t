#!/usr/bin/perl
# A worker that is stopped at once (SIGTERM) waits for no call: each has its
# line, after the buffered ones, and is counted as such.

use Toolgate::Test qw(Hang Status);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
$tg->conf(<<"END", stream => <<'STREAM')->start;
tool_log calls.json json buffer=64k;
tool_log own.log own;
tool hi { return hi; }
tool hang { $handler }
method hang { $handler }
tool few { $handler concurrency 1 queue=1; }
tool quiet { $handler tool_log off; }
END
tool_log_format own '$tool_name|$tool_arg_key|$tool_status';
STREAM

sub lines {
    my ($log) = @_;
    return lines_of("$dir/$log");
}

# Makes calls of each kind. Returns the names of running ones, oldest first.
sub calls {
    my ($n) = @_;
    my @clients = map { $tg->connect } 1 .. 3;
    $clients[0]->call_tool('hi');
    $clients[0]->request('tools/call',
        { name => 'hang', arguments => { key => "a$n" } });
    $hang->started("a$n");
    $clients[0]->request('hang', { key => "b$n" });
    $hang->started("b$n");
    $clients[1]->send_ipc({ method => 'call_tool',
        params => { name => 'few', arguments => { key => "c$n" } } });
    $hang->started("c$n");
    $clients[2]->request('tools/call',
        { name => 'few', arguments => { key => "d$n" } });
    $clients[2]->request('tools/call',
        { name => 'quiet', arguments => { key => "e$n" } });
    $hang->started("e$n");
    return @clients;
}

# Compares the lines about the calls with this number in both logs.
sub are_logged {
    my ($n, $what) = @_;
    my @lines = map { Toolgate::Json::decode($_) } lines('calls.json');
    my @mine = splice @lines, -5;
    is_deeply [ map { ($_->{tool} // "$_->{method}()") . " $_->{status}" }
            @mine ],
        [ 'hi ok', map {"$_ killed"} 'hang', 'hang()', 'few', 'few' ],
        "$what: each has its line";
    is_deeply [ sort grep { /killed/ && /\|[a-e]$n\|/ } lines('own.log') ], [
        "few|c$n|killed", "few|d$n|killed", "hang|a$n|killed",
        "hang|b$n|killed",
    ], 'in a format of its own, too';
    is_deeply [ map { $_->{out} } @mine[ 1 .. 4 ] ], [ 0, 0, 0, 0 ],
        'without an answer';
    is $mine[1]{pid}, $$, 'whose it was';
}

# --- one worker -------------------------------------------------------------

my @clients = calls(1);
my ($worker) = $tg->worker_pids;
kill TERM => $worker;
wait_for { !is_alive($worker) } 'the worker to stop';
ok $_->at_eof, 'its clients know' for @clients;
are_logged(1, 'a worker');
wait_for { grep { $_ != $worker } $tg->worker_pids } 'another worker';
my $status = Toolgate::Status->new($tg->connect)->look;
is_deeply $status->ends('hang'), { killed => 1 }, 'it is counted as that';
is_deeply $status->ends('few'), { killed => 2 }, 'one that has waited, too';
$hang->wait_gone("${_}1") for qw(a b c e);

# --- all of them ------------------------------------------------------------

@clients = calls(2);
kill TERM => $tg->master_pid;
wait_for { !$tg->worker_pids(all => 1) } 'the end';
are_logged(2, 'NGINX');
$hang->wait_gone("${_}2") for qw(a b c e);
is scalar(() = slurp("$dir/own.log") =~ /^hi\|-\|ok$/mg), 2,
    'and what had ended before has one';

done_testing;
