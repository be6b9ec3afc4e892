#!/usr/bin/perl
# Which clients are closed when a worker's memory is short: those with the most
# memory, of the process or user with the most, in any number of connections;
# never those that have used theirs for longer.

use strict;
use warnings;

use Time::HiRes qw(sleep);

use Toolgate::Test qw(Attacker User);

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool_socket_mode  0666;
tool_idle_timeout off frame=600s;
tool nap { exec sleep 600; timeout 600s; }
tool hi { return hi; }
END
my $closed = qr/client closed: the clients of this worker use more than 256/;
my $part = '{"jsonrpc":"2.0","id":1,"method":"' . 'x' x 9_000_000;

sub cut { return scalar grep { $_->at_eof(0) } @_ }

# Returns the log lines about closed clients.
sub closings {
    my ($from) = @_;
    return scalar(my @all = $tg->log($from) =~ /$closed/g);
}

# Processes with one beginning of a message each; they stay.
sub attack {
    my ($n, @options) = @_;
    my @all = map {
        Toolgate::Attacker->start(
            hoard       => $tg->socket_path,
            connections => 1,
            @options)
    } 1 .. $n;
    is scalar(grep { $_->line eq 'sent' } @all), $n, "$n processes have sent";
    return @all;
}

# Each has a running call with arguments, for so long that this counts more than
# what others use for a moment.
my @quiet = map { $tg->connect } 1 .. 6;
$_->request('tools/call',
    { name => 'nap', arguments => { text => 'y' x 1_000_000 } })
    for @quiet;
my $other = $tg->connect;
is $other->call_tool('hi')->{result}{content}[0]{text}, 'hi',
    'the calls are there';
sleep 4;
my ($worker) = $tg->worker_pids;
my $fds = fd_count($worker);

my $from = $tg->log_size;
my @greedy;
while (@greedy < 40 && !closings($from)) {
    push @greedy, $tg->connect;
    eval { $greedy[-1]->send_raw($part) };
}
wait_for { closings($from) } 'a client to be closed';
wait_for { cut(@greedy) } 'one of the greedy to go';
is cut(@quiet), 0, 'of one process, who keeps little stays';
undef @greedy;

# No process uses much, and some have existed for as long.
$from = $tg->log_size;
my @attackers = attack(24);
cmp_ok closings($from), '>', 3, 'some of many processes had to go';
is cut(@quiet), 0, 'no other did';
$_->stop for @attackers;

SKIP: {
    skip 'only root can be others', 5 if !Toolgate::User::is_possible();
    my @large = map { $tg->connect } 1 .. 4;
    $_->send_raw($part) for @large;
    wait_for { fd_count($worker) == $fds + @large } 'the attackers to be gone';
    sleep 1;
    $from = $tg->log_size;
    @attackers = attack(24, user => 'nobody');
    cmp_ok closings($from), '>', 3, 'some of a user with many had to go';
    is cut(@large), 0, 'no client of a user with less, even in one process';
    is cut(@quiet), 0, 'nor had the others';
    $_->send_raw(qq("}\n)) for @large;
    is scalar(grep { $_->recv_json->{error}{code} == -32601 } @large), 4,
        'these are served';
    $_->stop for @attackers;
}

done_testing;
