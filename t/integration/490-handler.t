#!/usr/bin/perl
# A handler is a file and a row: one that the sources lack is added to a copy of
# them, loads, answers in all dialects, and keeps the contract of all handlers.
# The worker itself runs its calls, so they stay there when their session moves:
# they end where they began; their progress, result and cancellation are
# relayed.

# It builds the module, which takes long on a busy machine.
use Toolgate::Test qw(Scratch Storm Way), timeout => 1800;

my $tg = Toolgate::Test->new;
Toolgate::Scratch->use_module($tg->dir, 'later', 'grow');

sub body {
    my ($n) = @_;
    return <<"END";
tool wait {
    description "Answers later.";
    input_schema '{"type":"object","properties":{"s":{"type":"string"}}}';
    later \$tool_arg_s "$n: \$tool_arg_key";
    timeout 600s;
}
tool short { description "Too late."; later 60 never; timeout 300ms; }
method wait { timeout 600s; later \$tool_arg_s "\\"$n: \$tool_arg_key\\""; }
tool n { description "Which."; return $n; }
END
}

# --- nginx -t ---------------------------------------------------------------

for (
    [ 'tool a { return x; timeout 5s; }',
        qr/has no "exec" or .*"later" or "grow", so "timeout"/ ],
    [ 'tool a { description x; }',
        qr/give it a "return" or an "exec".* or a "later" or a "grow"/ ],
    [ 'tool a { later 1 x; exec true; }', qr/"exec" directive is a second/ ],
) {
    conf_fails($tg, @$_);
}
my ($status, $out) = $tg->test_conf("tool_trace x.trace;\n" . body(1));
like $out, qr/"tool_trace" .*without msgpack-c; .*libmsgpack-dev.*:\d+/,
    'without msgpack-c there are no traces, which is said';
($status, $out) = $tg->test_conf(body(1));
is $status, 0, 'nginx -t takes it' or diag $out;
$tg->conf(body(1))->start;

# --- all dialects -----------------------------------------------------------

my @ways = Toolgate::Way->all($tg);
for my $way (@ways) {
    my $name = $way->name;
    my $id = $way->start('wait', { s => '0.05', key => $name });
    is $way->finish($id)->{text}, "1: $name", "$name: it answers";
    $id = $way->start('wait', { s => 5 });
    like $way->finish($id)->{text}, qr/type|string/i, "$name: its schema holds";
    $id = $way->start('short');
    like $way->finish($id)->{text}, qr/within 300 ms/, "$name: its time too";
}
my $rpc = $tg->connect;
is $rpc->rpc('wait', { s => '0.05', key => 'rpc' })->{result}, '1: rpc',
    'a method answers';

# --- under a reload ---------------------------------------------------------

my $n = 1;

# The session is in a new worker: it sees the new catalog.
sub moved {
    my ($way) = @_;
    wait_for { $way->finish($way->start('n'))->{text} eq $n }
        'the session to be with a new worker';
}

for my $way (grep { $_->name ne 'ipc' } @ways) {
    my $name = $way->name;
    my $token = $way->start(
        'wait',
        { s => '3', key => $name },
        $name eq 'relay' ? () : (_meta => { progressToken => $name }));
    my $other = $way->start('wait', { s => '600', key => "$name-never" });
    $tg->reload(body(++$n));
    moved($way);
    pass "$name: the session is read while its calls run elsewhere";
    if ($name ne 'relay') {
        $way->client->send_line({
            jsonrpc => '2.0',
            method  => 'notifications/cancelled',
            params  => $way->params({ requestId => $other }),
        });
        $tg->wait_log(qr/later "\d+: $name-never" cancelled/);
        pass "$name: a cancellation reaches the old worker";
    }
    is $way->finish($token)->{text}, ($n - 1) . ": $name",
        "$name: the answer is of the call that was started";
}

# ipc reads nothing while a call runs; its session moves anyway.
my ($ipc) = grep { $_->name eq 'ipc' } @ways;
my @old = $tg->worker_pids;
$ipc->start('wait', { s => '2', key => 'ipc' });
$tg->reload(body(++$n));
is $ipc->finish->{text}, ($n - 1) . ': ipc', 'ipc: the answer arrives';
moved($ipc);

# A client that closes ends its calls, wherever they run.
my $gone = $tg->connect;
$gone->request('tools/call',
    { name => 'wait', arguments => { s => '600', key => 'gone' } });
wait_for { $gone->rpc('ping')->{result} } 'a word';
my $before = $n;
$tg->reload(body(++$n));
wait_for { text_of($gone->call_tool('n')) eq $n } 'the new worker';
$gone->close;
$tg->wait_log(qr/later "$before: gone" cancelled/);
pass 'a client that goes away ends what the old worker runs for it';
$tg->stop;

# --- a changed catalog ------------------------------------------------------

# One worker; all see the same change. Running calls are not disturbed.
my $swap = Toolgate::Test->new(workers => 1);
$swap->conf(body(1) . <<'END')->start;
tool more { description "More."; grow grown; }
tool both { description "Two at once."; grow both now; }
END
my $asker = $swap->connect;
my @watch = map { Toolgate::Way->new($_, $swap->connect) } qw(legacy relay);
$_->finish($_->start('n')) for @watch;
my $runs = $swap->connect;
$runs->request('tools/call',
    { name => 'wait', arguments => { s => '2', key => 'late' } });
my $load = $swap->connect;
my $swaps = 20;
for my $round (1 .. $swaps) {
    $load->request('tools/call', { name => 'n', arguments => {} }) for 1 .. 50;
    is text_of($asker->call_tool('more')), 'grown', "swap $round";
    for my $way (@watch) {
        my $told = $way->client->recv_json;
        is $told->{method}, 'notifications/tools/list_changed',
            $way->name . ': notified';
    }
    my @names = map { $_->{name} }
        @{ $asker->rpc('tools/list')->{result}{tools} };
    ok scalar(grep { $_ eq "grown_$round" } @names), 'the list is the new one'
        or diag "@names";
    $load->recv_json for 1 .. 50;
}
is $runs->recv_json->{result}{content}[0]{text}, '1: late',
    'what ran before all of that ends as if nothing had been';
is text_of($asker->call_tool("grown_$swaps")), 'grown',
    'what is new can be called';
# Two changes during a call, in a batch with other calls around it.
my $batch = '[' . join(',', map {
    Toolgate::Client->encode({
        jsonrpc => '2.0', id => "b$_", method => 'tools/call',
        params => { name => $_ == 10 ? 'both' : 'n', arguments => {} },
    })
} 1 .. 20) . ']';
my $old = $swap->connect;
$old->rpc('initialize', {
    protocolVersion => '2025-03-26',
    capabilities    => {},
    clientInfo      => { name => 'b', version => 1 },
});
for my $round (1 .. 10) {
    $load->request('tools/call', { name => 'n', arguments => {} }) for 1 .. 50;
    $old->send_line($batch);
    my $replies = $old->recv_where(sub { ref $_[0] eq 'ARRAY' }, 20, 'a batch');
    is scalar(grep { text_of($_) =~ /^(?:1|grown)$/ } @$replies), 20,
        "two swaps at once, $round: all of the batch is answered";
    $load->recv_json for 1 .. 50;
}
# One for each of those above, and for their last call.
my $last = $swaps + 1 + 20;
is text_of($old->call_tool("both_$last")), 'grown', 'what came last is there';
$swap->stop;

# --- its limits ---------------------------------------------------------------

# One limit for all workers, although no call is a program.
my $few = Toolgate::Test->new(workers => 2);

sub limited {
    my ($n) = @_;
    return <<"END";
tool one {
    later \$tool_arg_s \$tool_arg_key;
    timeout 600s;
    concurrency 1 queue=1;
}
tool who { return \$pid; }
tool n { return $n; }
END
}
$few->conf(limited(1))->start;

sub word {
    my ($client, $name, %arguments) = @_;
    return text_of($client->call_tool($name, \%arguments));
}
my $here = $few->connect;
my $there;
wait_for {
    $there = $few->connect;
    word($there, 'who') ne word($here, 'who');
}
'a client in each worker';

sub status {
    my $path = $few->state_dir . '/runner-3.sock';
    return -S $path ? $few->connect($path)->rpc('status')->{result} : {};
}

# The runner has this number of waiting calls.
sub waiting {
    my ($n) = @_;
    wait_for { (status()->{queued} // -1) == $n } "$n to wait";
}

sub begin {
    my ($client, $tool, %arguments) = @_;
    return $client->request('tools/call',
        { name => $tool, arguments => \%arguments });
}

sub cancel {
    my ($client, $id) = @_;
    $client->notify('notifications/cancelled', { requestId => $id });
}

# If another call waits, the first one has the slot. (The runner may learn of
# the end of one worker's call after another worker's request.)
sub occupy {
    my ($key) = @_;
    wait_for { !status()->{held} } 'no call to have the place';
    my $first = begin($here, 'one', s => '600', key => $key);
    my $behind = begin($here, 'one', s => '600', key => 'behind');
    waiting(1);
    cancel($here, $behind);
    waiting(0);
    return $first;
}

my $first = occupy('first');
my $second = begin($there, 'one', s => '0.1', key => 'second');
waiting(1);
my $busy = qr/^one: 1 call runs \(concurrency 1\) and 1 waits \(queue=1\)/;
for my $client ($here, $there, $few->connect) {
    like word($client, 'one', s => '0', key => 'third'), $busy,
        'no third one, in no worker';
}
$few->reload(limited(2));
for my $client ($here, $there) {
    wait_for { word($client, 'n') eq 2 } 'the new worker';
    like word($client, 'one', s => '0', key => 'third'), $busy,
        'nor after a reload, with the calls in the old ones';
}
cancel($here, $first);
$few->wait_log(qr/later "first" cancelled/);
is text_of($there->reply($second)), 'second',
    'what waited runs, where it was asked for';
is word($here, 'one', s => '0', key => 'fourth'), 'fourth', 'and the next one';

# A lost runner counted a call that still runs; the next one counts it, too.
$first = occupy('lost');
my $killed = status()->{pid};
kill KILL => $killed;
wait_for {
    my $status = eval { status() } // {};
    ($status->{pid} // $killed) != $killed && $status->{kinds}{place};
} 'the next runner to count it';
$second = begin($there, 'one', s => '0', key => 'waits');
waiting(1);
cancel($here, $first);
is text_of($there->reply($second)), 'waits', 'it is counted by the next runner';

# A waiting client may close, too.
$first = occupy('fifth');
my $idle = $few->connect;
begin($idle, 'one', s => '600', key => 'sixth');
waiting(1);
$idle->close;
waiting(0);
cancel($here, $first);
is word($there, 'one', s => '0', key => 'seventh'), 'seventh',
    'a client that went away waits no more';
unlike slurp($few->dir . '/error.log'), qr/"(behind|sixth)" cancelled/,
    'what never ran is not cancelled';

# The same limit for programs; the waiting time of a call is its own.
$few->reload(<<'END');
tool_concurrency 1 queue=5;
tool long { later 600 x; timeout 600s; }
tool brief { later 0.01 x; timeout 300ms; }
tool program { exec echo hi; timeout 300ms; }
tool capped { later 1 x; timeout 600ms max=800ms; }
END
$first = begin($here, 'long');
my $late = '';
wait_for { ($late = word($there, 'brief')) ne 'x' } 'one that is too late';
like $late, qr/^brief could not start within 300 ms .* \(tool_concurrency 1\)/,
    'it says why';
like word($there, 'program'), qr/^program could not start within 300 ms/,
    'nor does a program';
cancel($here, $first);
ok wait_for(sub { word($there, 'program') eq "hi\n" }, 'a program to run'),
    'then it does';
is word($there, 'capped'), 'There was no answer within 800 ms.',
    'with progress, too, there is an end';
$few->stop;

# --- the storm --------------------------------------------------------------

my $stormy = Toolgate::Test->new;
my $storm = Toolgate::Storm->new($stormy,
    instead => sub { return "later $_[0] $_[1]; timeout 15m;" })->start(40);
$storm->pass(0.5);
$storm->reload while $storm->generation < 20;
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'a storm: all answered, once';
is scalar($storm->clients), 40, 'no client was disconnected';
$storm->leave;

# Only `short` has waited until its timeout.
for my $server ($tg, $stormy) {
    my $log = slurp($server->dir . '/error.log');
    my $timeouts = 0;
    $timeouts += $1 while $log =~ /, ended .*, timeout (\d+)/g;
    is $timeouts, $server == $tg ? scalar @ways : 0, 'none was left behind';
    like $log, qr/, ended .*, cancelled/, 'some were cancelled where they ran';
}

done_testing;
