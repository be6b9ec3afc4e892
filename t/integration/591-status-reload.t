#!/usr/bin/perl
# Counters are those of all workers, and outlive them: over reloads, changed
# configs, and killed workers, whose calls do not count as running for ever.

use Toolgate::Test qw(Status);

my $tg = Toolgate::Test->new;
my $body = <<'END';
tool hi { return hi; }
tool hang { exec sleep 3600; timeout 2h; }
END
$tg->conf($body)->start;

sub status { return Toolgate::Status->new($tg->connect)->look }

# Each worker counts.
my @workers = map { client_of($tg, $_) } $tg->worker_pids;
$_->call_tool('hi') for @workers, $workers[0];
is status()->of('hi')->{calls}, 3, 'of all workers';

# --- reloads ----------------------------------------------------------------

$tg->reload for 1 .. 3;
my $client = $tg->connect;
$client->call_tool('hi');
is_deeply status()->ends('hi'), { ok => 4 }, 'after some reloads';
is status()->of('hang')->{calls}, 0, 'another one was never called';
my $accepted = status()->server->{connections}{accepted};
$tg->reload;
is status()->server->{connections}{accepted}, $accepted + 1,
    'a client that moved is the same';
# The close of earlier clients may not have been handled yet.
wait_for { status()->server->{connections}{open}{jsonrpc} == 4 }
'it to be counted once: three, and who asks';

$tg->reload('tool other { return 1; }');
$client->call_tool('other');
is status()->of('other')->{calls}, 1, 'a tool that is new';
$tg->reload($body);
is status()->of('hi')->{calls}, 4, 'one that was gone';

# --- a moved call -----------------------------------------------------------

my $id = $client->request('tools/call', { name => 'hang' });
wait_for { status()->of('hang')->{in_flight} == 1 } 'a call';
my ($before) = status()->calls('hang');
$tg->reload;
wait_for {
    my ($now) = status()->calls('hang');
    return $now && $now->{worker} != $before->{worker};
} 'it to move';
is status()->of('hang')->{calls}, 1, 'is one call';
is status()->of('hang')->{in_flight}, 1, 'in flight once';
is((status()->calls('hang'))[0]{id}, $before->{id}, 'with the same number');
$client->notify('notifications/cancelled', { requestId => $id });
wait_for { status()->of('hang')->{in_flight} == 0 } 'its end';
is_deeply status()->ends('hang'), { cancelled => 1 }, 'once';

# --- killed workers ---------------------------------------------------------

$tg->allow_log(qr/exited on signal 9/);
$client->request('tools/call', { name => 'hang' });
wait_for { status()->of('hang')->{in_flight} == 1 } 'another call';
my ($call) = status()->calls('hang');
kill KILL => $call->{worker};
ok $client->at_eof, 'its worker is killed';
wait_for {
    !grep { $_ == $call->{worker} } $tg->worker_pids;
} 'that to be known';
wait_for { $tg->worker_pids == 2 } 'another worker';
my $status = status();
is $status->of('hang')->{in_flight}, 0, 'nothing is in flight';
is_deeply $status->ends('hang'), { cancelled => 1, killed => 1 },
    'it ended with its worker';
is $status->of('hi')->{calls}, 4, 'what the worker counted is kept';
is scalar($status->calls), 0, 'no call is under way';
is $status->{result}{workers}, 2, 'two workers';
$tg->reload;
is_deeply status()->ends('hang'), { cancelled => 1, killed => 1 },
    'once and for all';

done_testing;
