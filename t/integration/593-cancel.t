#!/usr/bin/perl
# Running calls, in any worker; the operator ends one: its caller gets that
# error once, and its program ends.

use Toolgate::Test qw(Parent Status Way);
use Toolgate::McpServer ();

my $tg = Toolgate::Test->new;
my $backend = Toolgate::Parent->new($tg->dir . '/backend.sock');
my $far = join ' ', @{ Toolgate::McpServer::stand_in('sleep') };
my $body = <<'END';
tool hang { exec sleep 3600; timeout 2h; }
tool few  { exec sleep 3600; timeout 2h; concurrency 1 queue=9; }
tool away { pass unix:%%DIR%%/backend.sock; timeout 2h; }
tool one  { pass unix:%%DIR%%/backend.sock; timeout 2h;
            concurrency 1 queue=9; }
tool hi   { return hi; }
method hang { exec sleep 3600; timeout 2h; }
END
$tg->conf($body)->start;

my $asks = $tg->connect;
my $status = Toolgate::Status->new($asks);

sub calls {
    my ($name, $n) = @_;
    wait_for { $n == $status->look->calls($name) } "$n calls of $name";
    return sort { $a->{id} <=> $b->{id} } $status->calls($name);
}

# Returns them, once the runner has started them.
sub runs {
    my ($name, $n) = @_;
    my @calls;
    wait_for {
        @calls = calls($name, $n);
        return $n == grep { $_->{pid} } @calls;
    } "$name to run";
    return @calls;
}

sub cancel {
    my ($id) = @_;
    my $reply = $asks->rpc('toolgate.cancel', { id => $id });
    return $reply->{result} // $reply->{error};
}

sub sleeps { return scalar grep {/^\S*sleep 3600$/} values %{ $tg->processes } }

my $ended = 'The operator cancelled this call (toolgate cancel).';

# --- each kind of call ------------------------------------------------------

my %kind = (legacy => 'result', modern => 'result', relay => 'result',
    ipc => 'CancelledError');
for my $way (Toolgate::Way->all($tg)) {
    my $name = $way->name;
    my $id = $way->start('hang');
    my ($call) = runs('hang', 1);
    is $call->{state}, 'running', "$name: it runs";
    is $call->{kind}, 'exec', "$name: as a program";
    # During execve() it has no command line.
    wait_for {
        ($tg->processes->{ $call->{pid} // 0 } // '') =~ /sleep 3600/
    } "$name: which is this one";
    is $call->{client}{pid}, $$, "$name: who called";
    is $call->{client}{uid}, $>, "$name: and as whom";
    is cancel($call->{id})->{ended}, JSON::PP::true, "$name: it is ended";
    my $answer = $way->finish($id);
    is $answer->{text}, $ended, "$name: its caller gets the error";
    is Toolgate::Way::kind($answer), $kind{$name}, "$name: as an error";
    is $way->call('hi')->{text}, 'hi', "$name: and nothing more";
}
wait_for { sleeps() == 0 } 'the programs to end';
is_deeply $status->look->ends('hang'), { ended => 4 }, 'so they ended';

my $client = $tg->connect;
my $id = $client->request('hang');
my ($call) = calls('hang', 1);
is $call->{type}, 'method', 'a method';
cancel($call->{id});
is $client->reply($id)->{error}{code}, -32603, 'ends with an error';

# --- waiting calls, and calls of a worker -----------------------------------

my @ids = map { $client->request('tools/call', { name => 'few' }) } 1 .. 3;
my @few = calls('few', 3);
wait_for {
    @few = calls('few', 3);
    return $few[0]{state} eq 'running';
} 'the first to run';
is_deeply [ map { $_->{state} } @few ], [qw(running queued queued)],
    'two of three wait';
is $status->of('few')->{queued}, 2, 'which is counted';
cancel($few[1]{id});
is text_of($client->reply($ids[1])), $ended, 'one that waits';
cancel($few[0]{id});
is text_of($client->reply($ids[0])), $ended, 'one that runs';
runs('few', 1);
cancel($few[2]{id});
$client->reply($ids[2]);

$id = $client->request('tools/call', { name => 'away' });
my $conn = $backend->accept;
($call) = calls('away', 1);
is $call->{kind}, 'worker', 'a worker waits for a backend';
is $call->{state}, 'running', 'since it has asked';
cancel($call->{id});
is text_of($client->reply($id)), $ended, 'no more';

$id = $client->request('tools/call', { name => 'away' });
$conn = $backend->accept if !$conn || $conn->at_eof;
my ($before) = calls('away', 1);
$tg->reload;
wait_for { (calls('away', 1))[0]{worker} != $before->{worker} } 'it to move';
($call) = calls('away', 1);
is $call->{id}, $before->{id}, 'the same call';
is $call->{kind}, 'worker', 'which its old worker continues';
cancel($call->{id});
is text_of($client->reply($id)), $ended, 'until it is ended';

# --- in another worker, and after a reload ----------------------------------

my @clients = map { client_of($tg, $_) } $tg->worker_pids;
@ids = map { $_->request('tools/call', { name => 'hang' }) } @clients;
my @calls = calls('hang', 2);
my %workers = map { $_->{worker} => 1 } @calls;
is_deeply [ sort keys %workers ], [ sort $tg->worker_pids ],
    'calls of all workers';
$tg->reload;
my %old = %workers;
wait_for { !grep { $old{ $_->{worker} } } calls('hang', 2) } 'both to move';
is_deeply [ map { $_->{id} } calls('hang', 2) ], [ map { $_->{id} } @calls ],
    'their numbers are as before';
cancel($_->{id}) for @calls;
is text_of($clients[$_]->reply($ids[$_])), $ended, 'each is told' for 0, 1;
wait_for { sleeps() == 0 } 'the last programs to end';

# --- in a storm of reloads --------------------------------------------------

for my $round (1 .. 5) {
    @ids = map { $_->request('tools/call', { name => 'hang' }) } @clients;
    @calls = calls('hang', 2);
    my @wanted = map { $asks->request('toolgate.cancel', { id => $_->{id} }) }
        @calls;
    $tg->reload;
    is $asks->reply($_)->{result}{ended}, JSON::PP::true, 'ended on the way'
        for @wanted;
    is text_of($clients[$_]->reply($ids[$_])), $ended, 'once' for 0, 1;
}
is $_->is_silent(0.1), 1, 'nothing comes twice' for @clients;
is $status->look->sum('in_flight'), 0, 'nothing is in flight';

# --- unknown calls ----------------------------------------------------------

like cancel(987654)->{message}, qr/is running/, 'one that is not there';
like cancel($_)->{message}, qr/"id" must be/, 'no number'
    for 0, -1, 'x', undef, 1.5;
is $asks->rpc('toolgate.cancel', [1])->{error}{code}, -32602, 'no object';

done_testing;
