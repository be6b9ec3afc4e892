#!/usr/bin/perl
# Every call ends exactly once: an exiting worker logs the ends of its calls,
# which the test compares. (If the two numbers of a line differ, NGINX logs an
# alert, in any test.)

use Toolgate::Test qw(Hang);

my $tg = Toolgate::Test->new(workers => 1);
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $schema = '{"type":"object","properties":{"a":{"type":"string"}}}';

$tg->conf(<<"END")->start;
tool_max_inflight 2;
tool hi { description "Hi."; input_schema '$schema'; return hi; }
tool no { description "No."; exec false; }
tool slow { description "Slow."; exec sleep 60; timeout 100ms; }
tool much { description "Much."; exec printf %2000s x; max_output 1k; }
tool bad { description "Bad."; exec echo x; output json; }
tool once { description "Once."; return x; rate 1r/m; }
tool one { description "One at a time."; $handler concurrency 1; }
tool hidden { description "Hidden."; return x; deny all; }
tool hang { description "Hangs."; $handler }
END

# Returns how many calls ended like this in the workers that have exited.
sub ends {
    my ($calls) = @_;
    my %ends;
    for my $line (split /\n/, slurp($tg->dir . '/error.log')) {
        my ($begun, $ended, $rest) =
            $line =~ /calls (\d+), ended (\d+)((?:, \w+ \d+)*)$/ or next;
        $ends{begun} += $begun;
        $ends{ended} += $ended;
        $ends{$1} += $2 while $rest =~ /, (\w+) (\d+)/g;
    }
    return \%ends;
}

my %expected;
my $c = $tg->connect;

sub call {
    my ($end, $name, $arguments) = @_;
    $expected{$_}++ for 'begun', 'ended', $end;
    return $c->call_tool($name, $arguments // {});
}

call(ok        => 'hi') for 1 .. 3;
call(arguments => 'hi', { a => 1 });
call(program   => 'no');
call(timeout   => 'slow');
call(output    => 'much');
call(output    => 'bad');
call(ok        => 'once');
call(busy      => 'once');
call(unknown   => 'hidden');

call(unknown   => 'nothing');

# A full queue, and too many calls of one client.
my $first = $c->request('tools/call',
    { name => 'one', arguments => { key => 'first' } });
$hang->started('first');
call(busy => 'one', { key => 'second' });
my $third = $c->request('tools/call',
    { name => 'hang', arguments => { key => 'third' } });
$hang->started('third');
call(busy => 'hang', { key => 'fourth' });
$hang->finish('first');
$c->recv_json;
$expected{$_}++ for qw(begun ended ok);

# Cancelled, and a client that closes.
$c->send_line({
    jsonrpc => '2.0',
    method  => '$/cancelRequest',
    params  => { id => $third },
});
$expected{$_}++ for qw(begun ended cancelled);
is $c->rpc('ping')->{error}, undef, 'it is still there';
my $gone = $tg->connect;
$gone->request('tools/call',
    { name => 'hang', arguments => { key => 'gone' } });
$hang->started('gone');
$gone->close;
$expected{$_}++ for qw(begun ended gone);
$hang->wait_gone('gone');

# Lost with its runner.
$c->request('tools/call', { name => 'hang', arguments => { key => 'lost' } });
$hang->started('lost');
# Only the runner: its supervisor, the parent, ends what is left.
kill KILL => $tg->runner_pid;
like $c->recv_json->{result}{content}[0]{text}, qr/toolgate-runner exited/,
    'lost with its runner';
$expected{$_}++ for qw(begun ended lost);
$tg->allow_log(qr/toolgate-runner exited with/);

# A call that continues in another worker ends in both.
$c->request('tools/call', { name => 'hang', arguments => { key => 'move' } });
$hang->started('move');
my @old = $tg->worker_pids;
$tg->reload("tool hang { description \"Hangs.\"; $handler }");
wait_for { !grep { is_alive($_) } @old } 'the old worker to go';
$hang->finish('move');
like $c->recv_json->{result}{content}[0]{text}, qr/move/, 'it moved';
$expected{begun} += 2;
$expected{ended} += 2;
$expected{moved}++;
$expected{ok}++;

# Workers that quit log all of it.
$c->close;
kill QUIT => $tg->master_pid;
wait_for { !$tg->worker_pids(all => 1) } 'the end';
is_deeply ends(), \%expected, 'each call has ended once, as it had to';

done_testing;
