#!/usr/bin/perl
# Sessions move while something fails in the old or the new worker: memory,
# sending, receiving. Each continues unchanged or is closed, never half.

use Errno qw(EAGAIN EINTR EMFILE ENOBUFS ENOMEM ETOOMANYREFS);

use Toolgate::Test qw(Faults Talks);

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->allow_log(
    qr/(?:malloc|posix_memalign|epoll_ctl|sendmsg|recvmsg|memfd_create)\(/,
    qr/worker process \d+ exited with (?:fatal )?code 2/);
$tg->conf($Toolgate::Talks::TOOLS)->start;

my $large = 'x' x 900_000;
my $call = Toolgate::Talks::tool_call('jsonrpc', 1, 'echo', $large);
my $half = length($call) / 2;

# What a client has done before the reload, and does then; each waits for one
# line in the end.
my @clients = (
    [
        'idle',
        sub { $_[0]->rpc('ping') },
        sub { $_[0]->send_raw(Toolgate::Talks::rpc(1, 'ping')) },
    ],
    [
        'with half a frame',
        sub { $_[0]->rpc('ping'); $_[0]->send_raw(substr $call, 0, $half) },
        sub { $_[0]->send_raw(substr $call, $half) },
    ],
    [
        'with an unread answer',
        sub { $_[0]->rpc('ping'); $_[0]->send_raw($call) },
        sub { },
    ],
);

# Returns 'served', 'failed' (an error with a reason) or 'closed'.
sub end_of {
    my ($client, $name, $then) = @_;
    my $line;
    # The second one checks that it stays.
    if (!eval {
        $then->($client);
        $line = $client->recv_line;
        $client->rpc('ping');
        1;
    }) {
        die "$name: $@" if $@ !~ /end of file|Broken pipe|Connection reset/;
        return 'closed';
    }
    return 'failed' if $line =~ /"error":.*memory/;
    $line =~ /"result"/ or die "$name: " . substr($line, 0, 200) . "\n";
    $client->shutdown_write;
    die "$name: more than an answer\n" if !$client->at_eof;
    return 'served';
}

# Reloads with all clients. Returns how each ended.
sub move {
    my ($where, %fault) = @_;
    my @all = map { $tg->connect } @clients;
    $clients[$_][1]->($all[$_]) for 0 .. $#all;
    my ($old) = $tg->worker_pids;
    if ($where eq 'leave') {
        $faults->arm($old, %fault);
        kill HUP => $tg->master_pid;
    } else {
        # The old one is stopped until the new one exists, and has its fault.
        stopped(
            sub {
                kill HUP => $tg->master_pid;
                my $new;
                wait_for {
                    ($new) = grep { $_ != $old } $tg->worker_pids;
                    return $new && $tg->log =~
                        /\b$new#\d+: epoll|start worker process $new\b/
                        && serves($new);
                } 'the new worker';
                $faults->arm($new, %fault);
            },
            $old);
    }
    # As long as it exists, a client's bytes may be read from it.
    wait_for { !is_alive($old) } 'the old worker to go';
    my %how;
    $how{ end_of($all[$_], $clients[$_][0], $clients[$_][2]) }++
        for 0 .. $#all;
    my $failed = $faults->failed;
    $faults->calm;
    # New clients are served, whatever has failed.
    my $said = text_of($tg->connect->call_tool(hi => {}));
    die "a new client got $said\n" if $said ne 'hi';
    return ($failed, \%how);
}

# Waits until the new worker accepts.
sub serves {
    my ($pid) = @_;
    my $client = $tg->connect;
    $client->rpc('ping');
    return $tg->log =~ /\b$pid#\d+: \*\d+ client unix: connected/;
}

sub row {
    my ($where, $name, $most, $fault) = @_;
    my (%how, $n);
    for ($n = 1; $n <= $most; $n++) {
        my ($failed, $how) = move($where, $fault->($n));
        last if !$failed;
        $how{$_} += $how->{$_} for keys %$how;
    }
    cmp_ok $n, '>', 1, "$where, $name: " . join ', ',
        map {"$how{$_} $_"} sort keys %how;
}

my (undef, $how) = move('leave');
is_deeply $how, { served => 3 }, 'with no fault all are served';
row('leave', 'an allocation', 30, sub { (alloc => $_[0]) });
row('leave', "sendmsg() with $_->[0]", 4,
    sub { (sendmsg => [ $_->[1], $_[0] ]) })
    for [ EAGAIN => EAGAIN ], [ EINTR => EINTR ], [ ENOBUFS => ENOBUFS ],
    [ ETOOMANYREFS => ETOOMANYREFS ];
row('leave', 'no file for what is large', 3,
    sub { (memfd => [ EMFILE, $_[0] ]) });
row('take', 'an allocation', 30, sub { (alloc => $_[0]) });
row('take', "recvmsg() with $_->[0]", 4,
    sub { (recvmsg => [ $_->[1], $_[0] ]) })
    for [ EINTR => EINTR ], [ ENOMEM => ENOMEM ];
row('take', 'epoll_ctl()', 6, sub { (epoll => [ ENOMEM, $_[0] ]) });

done_testing;
