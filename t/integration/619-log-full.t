#!/usr/bin/perl
# A full runner: 64 programs run, and 1,024 calls wait. One more is rejected by
# the rule `runner`, which is logged and in the error; when NGINX is stopped,
# each of the others has its line.

use Toolgate::Test qw(Status);

use constant ALL => 64 + 1024;

my $tg = Toolgate::Test->new(workers => 1);
my $log = $tg->dir . '/calls.json';
my $own = 'tool_log calls.json json buffer=64k flush=50ms;';
$tg->conf(<<"END")->start;
tool_max_inflight 2000;
tool hang { exec sleep 3600; timeout 2h; $own }
END

# Returns the log's lines, with their numbers.
sub lines {
    my %lines;
    my @lines = map { Toolgate::Json::decode($_) } grep {/\}\z/}
        lines_of($log);
    $lines{ join ' ', $_->{status}, $_->{rule} // '-' }++ for @lines;
    return \%lines;
}

my $c = $tg->connect;
$c->request('tools/call', { name => 'hang' }) for 1 .. ALL;
my $status = Toolgate::Status->new($tg->connect);
wait_for {
    my $runner = $status->look->{result}{runners}[0];
    return ($runner->{queued} // 0) == 1024;
} 'so many to wait';
is $status->{result}{runners}[0]{running}, 64, 'as many as there may be run';
is $status->of('hang')->{in_flight}, ALL, 'all are known';
is_deeply lines(), {}, 'none has ended';

my $reply = $c->call_tool('hang');
like text_of($reply), qr/64 programs are running and 1024 wait/,
    'one more is refused';
wait_for { keys %{ lines() } } 'its line';
is_deeply lines(), { 'busy runner' => 1 }, 'by the runner';
$tg->wait_log(qr/\[error\] \S+ \*\d+ call of "hang" failed: busy \(runner\)/);
is_deeply $status->look->ends('hang'), { busy => 1 }, 'and is counted';

kill TERM => $tg->master_pid;
wait_for { !$tg->worker_pids(all => 1) } 'the end';
is_deeply lines(), { 'busy runner' => 1, 'killed -' => ALL },
    'a line for each call';
wait_for { !grep {/^\S*sleep 3600$/} values %{ $tg->processes } }
    'the programs to end';

done_testing;
