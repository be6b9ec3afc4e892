#!/usr/bin/perl
# `pass` to an upstream of NGINX's: its methods, weights and failures count
# calls. Of three servers one is killed and one hangs; calls go to the third.

use strict;
use warnings;

use Toolgate::Test qw(Parent Way);

# The backends are servers of another NGINX, each on its own socket.
my $there = Toolgate::Test->new(workers => 1);
my $tg = Toolgate::Test->new(workers => 1);
$tg->allow_log(
    qr/no connection to backend/,
    qr/its connection with \d+ calls? in/,
    qr/temporarily disabled/);

sub backends {
    my (@names) = @_;
    return join "\n", map { <<"END" } @names;
server {
    listen unix:%%DIR%%/$_;
    @{[ $_ eq $names[0] ? "listen unix:%%SOCKET%%;" : "" ]}
    tool_runner @{[ $there->runner_path ]};
    tool_state_dir %%STATE%%;
    tool who { description "Who."; return $_; }
}
END
}
$there->conf(backends(qw(a b c)), server => 0)->start;

sub server {
    my ($name) = @_;
    return 'server unix:' . $there->dir . "/$name";
}
my ($client, $n);

sub serve {
    my ($upstream, %option) = @_;
    $n++;
    my $pass = $option{pass} // 'back';
    my @conf = (<<"END", stream => "upstream back {\n$upstream\n}");
tool who { description "Who."; timeout 600s; pass $pass; }
tool soon { description "Who."; timeout 10s; pass $pass name=who; }
tool now { description "Now."; return $n; }
END
    if ($tg->master_pid) {
        $tg->reload(@conf);
    } else {
        $tg->conf(@conf)->start;
    }
    $client //= $tg->connect;
    wait_for { text_of($client->call_tool('now')) eq $n }
    'the new config';
}

# Returns how many of a number of calls each one has answered.
sub share {
    my ($n, %arguments) = @_;
    my %by;
    $by{ text_of($client->call_tool('who', \%arguments)) }++ for 1 .. $n;
    return join ' ', map {"$_$by{$_}"} sort keys %by;
}

serve(join '', map { server($_) . ";\n" } qw(a b c));
is share(9), 'a3 b3 c3', 'in turn';
serve(server('a') . ' weight=4;' . server('b') . ';');
is share(10), 'a8 b2', 'by weight';
serve(server('a') . ' down;' . server('b') . ';');
is share(4), 'b4', 'one is down';
serve('hash $tool_arg_key consistent;' . join '',
    map { server($_) . ';' } qw(a b c));
my %at;
for my $key (map {"key$_"} 1 .. 30) {
    my $share = share(3, key => $key);
    like $share, qr/^[abc]3$/, "always the same for $key";
    $at{$share}++;
}
is scalar(keys %at), 3, 'and not for all keys';
serve('zone z 64k; least_conn;' . server('a') . ';' . server('b') . ';');
like share(8), qr/^a4 b4$/, 'with the fewest calls, in shared memory';
serve(server('a') . ';', pass => 'unix:' . $there->dir . '/c');
is share(3), 'c3', 'an address';

# Nobody listens: the next one is used, and this one not for a while.
serve(server('a') . ';' . server('nobody') . ' max_fails=1 fail_timeout=1h;');
my $from = $tg->log_size;
is share(10), 'a10', 'one is not there';
like substr($tg->log, $from), qr/temporarily disabled/, 'which is noted';
serve(server('nobody') . ';' . server('b') . ' backup;');
is share(5), 'b5', 'a backup';
serve(server('nobody') . ';' . server('nowhere') . ';');
like share(1), qr/^who: no backend of "back" .*not started/, 'none is there';

# One hangs: its calls time out, then it gets no more.
my $hung = Toolgate::Parent->new($tg->dir . '/hung');
serve(server('a') . ";\n" . server('nobody') . ";\nserver unix:"
        . $tg->dir . "/hung max_fails=1 fail_timeout=1h;");
my $vain = 0;
for (1 .. 12) {
    my $said = text_of($client->call_tool('soon'));
    next if $said eq 'a';
    $vain++;
    like $said, qr/^There was no answer within 10000 ms/,
        'what the hung one was sent is over in time';
}
is $vain, 1, 'it is sent one call, and no other';
is share(6), 'a6', 'the third one answers all that follow';

# All at once, while one of three is killed and one is stopped.
$there->conf(backends('a'), server => 0);
my @others = map { Toolgate::Test->new(workers => 1) } 1 .. 2;
$_->conf(backends('x'), server => 0)->start for @others;
my @ways = Toolgate::Way->all($tg);
serve(server('a') . ';' . join '',
    map { 'server unix:' . $_->dir . '/x max_fails=1 fail_timeout=1h;' }
        @others);
@ways = grep { $_->name ne 'ipc' } @ways;
$_->call('who') for (@ways) x 3;
my ($worker) = $others[0]->worker_pids;
stop_idle($worker);
my @killed = $others[1]->worker_pids;
$others[1]->allow_log(qr/./);
$others[1]->kill_master;
kill KILL => $_ for @killed;
my @asked = map { my $way = $_; map { [ $way, $way->start('soon') ] } 1 .. 30 }
    @ways;
for my $ask (@asked) {
    my ($way, $id) = @$ask;
    like $way->finish($id)->{text},
        qr/^a$|no answer within|may have been executed|not started/,
        'each call is answered';
}
my @said = map { text_of($client->call_tool('soon')) } 1 .. 6;
is_deeply \@said, [ ('a') x 6 ], 'then the one that is left answers';
kill CONT => $worker;

done_testing;
