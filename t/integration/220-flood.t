#!/usr/bin/perl
# A server that sends without end: the bridge answers its agent meanwhile, a
# command and a program get their answers or their timeouts, and nobody's
# memory grows.

use Toolgate::Test;
use Toolgate::Host;

my @kinds = qw(requests pings blank empty number garbage progress told changed
    answers large);
# What a connection may hold: frames, refusals and what waits for the agent.
my $most = Toolgate::Test::is_san() ? 400 : 24;
my $tg = Toolgate::Test->new;
my $server = Toolgate::Test::top() . '/t/servers/flood.pl';
my $path = $tg->dir . '/flood.sock';

sub flood {
    my (@how) = @_;
    my $flood = $tg->spawn({}, 'perl', $server, $path, @how);
    is $flood->recv_line, 'ready', "@how";
    return $flood;
}

# The most that a process ever had, in MB.
sub peak {
    my ($pid) = @_;
    my ($kb) = (slurp("/proc/$pid/status") // '') =~ /^VmHWM:\s*(\d+)/m;
    return ($kb // 0) / 1024;
}

# Something that the process does while its server floods, so often.
sub goes_on {
    my ($flood, $name, $do) = @_;
    is $flood->recv_line, 'floods', "$name: the flood has begun";
    my $ok = 0;
    $ok += $do->() for 1 .. 20;
    is $ok, 20, "$name: it goes on meanwhile";
    return;
}

for my $kind (@kinds) {
    my @hows = [ $kind, 'reads' ];
    push @hows, [$kind] if $kind =~ /^(?:requests|pings|told|large)$/;
    for my $how (@hows) {
        my $flood = flood(@$how);
        my $bridge = $tg->bridge([$path]);
        my $id = $bridge->request('initialize', {
            protocolVersion => '2025-11-25',
            capabilities    => { roots => {} },
        });
        goes_on(
            $flood,
            "bridge, @$how",
            sub {
                my $answer = $bridge->rpc('ping');
                return ref $answer->{result} eq 'HASH' ? 1 : 0;
            });
        ok $bridge->reply($id)->{result}, "bridge, @$how: initialized";
        if (@$how == 2) {
            my $result = $bridge->call_tool('one')->{result};
            is $result->{content}[0]{text}, 'done', 'a call is answered';
        }
        cmp_ok peak($bridge->pid), '<', $most, 'its memory is bounded';
        $bridge->signal('TERM');
        is $bridge->wait_exit, 0, 'SIGTERM ends it';
        $flood->close;
        is $flood->wait_exit, 0, 'the server ends';
    }
}

# A command, whose memory the shell bounds.
my $limit = Toolgate::Test::is_san() ? '' : 'ulimit -v 200000; ';
for my $kind (qw(requests told empty large)) {
    for my $how ([$kind], [ $kind, 'reads' ]) {
        my $flood = flood(@$how);
        my ($status, $out, $err) = run_command(
            { env => { TOOLGATE_SOCKET => $path, %{ $tg->san_env } } },
            'sh', '-c', $limit . 'exec "$0" call one --timeout "$1"',
            Toolgate::Test::build_dir() . '/toolgate', @$how == 2 ? 60 : 2);
        if (@$how == 2) {
            is "$status $out", '0 done', "command, @$how: its answer";
        } else {
            isnt $status, 0, "command, @$how: its timeout";
            like $err, qr/no answer/, 'which it says';
        }
        $flood->close;
        $flood->wait_exit;
    }
}

# A program with libtoolgate.
for my $kind (qw(requests told empty)) {
    for my $how ([$kind], [ $kind, 'reads' ]) {
        my $flood = flood(@$how);
        my $host = Toolgate::Host->start($tg, 'thread');
        $host->do("client new $path");
        $host->do('client open');
        is $flood->recv_line, 'floods', "library, @$how: it floods";
        $host->send_raw(
            'client ' . (@$how == 2 ? 60_000 : 2000) . " call one {}\n");
        my $answer = $host->answer;
        if (@$how == 2) {
            like $answer, qr/^= .*done/, 'a call is answered';
        } else {
            like $answer, qr/^! .*Timeout/, 'a call has its timeout';
        }
        cmp_ok peak($host->pid), '<', $most, 'its memory is bounded';
        $host->do('client close');
        $host->stop;
        $flood->close;
        $flood->wait_exit;
    }
}

done_testing;
