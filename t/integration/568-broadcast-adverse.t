#!/usr/bin/perl
# Broadcasts under difficulties: an event method without wakeups, killed
# workers, and one that hangs.

use Toolgate::Test;

my $body = 'method tell { broadcast event; } method pid { return $pid; } '
    . 'tool shout { description "Tells all."; broadcast event; } '
    . 'tool pid { description "Who serves."; return $pid; }';

# --- other event methods ---------------------------------------------------

for my $use (qw(poll select)) {
    my $tg = Toolgate::Test->new;
    my $events = "use $use; worker_connections 200;";
    my ($status, $out) = $tg->test_conf($body, events => $events);
    next if $status && $out =~ /invalid event type/;    # not built in
    $tg->conf($body, events => $events)->start;
    my @clients;
    my %pid;
    while (keys %pid < 2) {
        push @clients, $tg->connect;
        $pid{ $clients[-1]->rpc('pid')->{result} } = 1;
    }
    for my $n (1 .. 5) {
        is $clients[0]->rpc('tell', { n => $n })->{result}{clients}, @clients,
            "$use: number of receivers";
        is $_->notification('event')->{params}{n}, $n, "$use: received"
            for @clients;
    }
    $tg->reload;
    is $clients[1]->rpc('tell', { n => 6 })->{result}{clients}, @clients,
        "$use: number of receivers after a reload";
    is $_->notification('event')->{params}{n}, 6, "$use: received" for @clients;
    $tg->stop;
}

# --- a single process -------------------------------------------------------

my $alone = Toolgate::Test->new(workers => 1);
$alone->conf($body);
$alone->file('nginx.conf', slurp($alone->dir . '/nginx.conf')
        =~ s/master_process on/master_process off/r);
$alone->{expected} = 0;
$alone->start;
my @two = map { $alone->connect } 1, 2;
$_->rpc('pid') for @two;
is $two[0]->rpc('tell', { n => 1 })->{result}{clients}, 2, 'alone: told';
is $_->notification('event')->{params}{n}, 1, 'alone: heard' for @two;
$alone->stop;

# --- killed workers ----------------------------------------------------------

my $tg = Toolgate::Test->new(workers => 3);
$tg->allow_log(qr/exited on signal 9/);
$tg->conf($body)->start;

# Each caller broadcasts repeatedly; a lost one reconnects.
sub caller_new {
    my ($n) = @_;
    my $client = $tg->connect;
    return { n => $n, client => $client, pid => $client->rpc('pid')->{result} };
}
my @callers = map { caller_new(0) } 1 .. 8;
my (%heard, $faults);

# Reads its broadcasts, in order for each caller.
sub hears {
    my ($caller) = @_;
    for my $message (splice @{ $caller->{client}{aside} }) {
        my ($c, $n) = @{ $message->{params} }{qw(c n)};
        my $last = $caller->{heard}{$c};
        $faults++ if defined $last && $n <= $last;
        $caller->{heard}{$c} = $n;
    }
}

my $lost = 0;
for my $round (1 .. 150) {
    for my $c (0 .. $#callers) {
        my $caller = $callers[$c];
        my $text = 'x' x rand 600;
        my $ok = eval {
            my $reply = $caller->{client}
                ->rpc('tell', { c => $c, n => ++$caller->{n}, t => $text });
            $reply->{result} or die $reply->{error}{message};
        };
        hears($caller);
        next if $ok;
        $lost++;
        like $@, qr/end of file|write:|connect/, 'its worker was killed'
            if $lost < 3;
        $callers[$c] = wait_for { eval { caller_new($caller->{n}) } }
            'another worker';
    }
    if ($round % 15 == 7) {
        my @pids = $tg->worker_pids;
        kill KILL => $pids[ rand @pids ];
    }
}
ok !$faults, 'nothing was received twice, or in another order';
cmp_ok $lost, '>', 0, 'some were killed';
wait_for { $tg->worker_pids == 3 } 'the workers';
my %pid;
my @more;
while (keys %pid < 3) {
    push @more, $tg->connect;
    $pid{ $more[-1]->rpc('pid')->{result} } = 1;
}
$_->{client}->rpc('pid') for @callers;
hears($_) for @callers;
my $all = @callers + @more;
wait_for {
    $more[0]->rpc('tell', { c => 'last', n => 0 })->{result}{clients} == $all
} 'those that were lost to be forgotten';
ok $_->notification('event')->{params}, 'and all others hear' for @more;

# --- a worker that hangs -----------------------------------------------------

# It is waited for, but not for ever; it misses broadcasts afterwards.
my $victim = $more[0]->rpc('pid')->{result};
my @there = grep { $_->rpc('pid')->{result} == $victim }
    @more, map { $_->{client} } @callers;
for my $client (@more, map { $_->{client} } @callers) {
    $client->close if !grep { $_ == $client } @there;
}

# A client that is not notified.
my $ipc;
do {
    $ipc = $tg->connect;
} while $ipc->ipc_call('pid')->{result}{content}[0]{text} == $victim;
my $text = 'x' x 1_000_000;

sub shout {
    my $reply = $ipc->ipc_call('shout', { c => 'large', n => 0, t => $text });
    return $reply->{error};
}
stop_idle($victim);
my ($told, $error) = (0);
$told++ while !($error = shout());
is $error->{type}, 'BlockingIOError', 'the memory is full';
like $error->{message}, qr/still delivering earlier .* Call again later/,
    'which is said';
cmp_ok $told, '>=', 15, 'after some 16 MiB';
wait_for { !shout() } 'it to be given up';
shout() for 1 .. 16;
kill CONT => $victim;
for my $client (@there) {
    wait_for { !eval { $client->recv_line; 1 } } 'the end of a late one';
    ok $client->{eof}, 'closed';
}
$tg->wait_log(qr/client closed: its worker was too slow/);
my $new;
wait_for {
    $new = $tg->connect;
    return $new->rpc('pid')->{result} == $victim;
} 'a new client of it';
$ipc->ipc_call('shout', { c => 'new' });
is $new->notification('event')->{params}{c}, 'new', 'receives broadcasts again';

done_testing;
