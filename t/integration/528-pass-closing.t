#!/usr/bin/perl
# A backend sends `notifications/toolgate/closing`, as Toolgate does: it has not
# started unanswered calls, which are sent again, also if a write fails before
# the notice is read. A client that has just connected over TLS may send its
# first request to an exiting worker.

use Toolgate::Test qw(Backend Native Parent Tls);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $secret = "$dir/tls.sock";
my $backend = Toolgate::Backend->new('jsonrpc', "$dir/backend");
certify($dir, 'tools');
Toolgate::Native->probe("$dir/probe.so", 1);

sub conf {
    my ($n) = @_;
    return $tg->conf(<<"END", server => 0);
server {
    listen unix:%%SOCKET%%;
    tool block { description x; library probe.so probe_block 1000; }
    tool ask { description x; timeout 600s; @{[ $backend->pass ]} }
}
server {
    listen unix:$secret ssl;
    ssl_certificate $dir/tools.pem;
    ssl_certificate_key $dir/tools.key;
    tool n { description x; return $n; }
}
END
}
conf(0)->start;
my $client = $tg->connect;

sub start {
    return $client->request('tools/call', { name => 'ask' });
}

# --- a shutdown notice ------------------------------------------------------

my @ids = map { start() } 1 .. 3;
my @requests = map { $backend->heard } @ids;
is_deeply
    $backend->conn->notification('notifications/toolgate/hello')->{params},
    { resends => JSON::PP::true }, 'the backend hears who it is';
$backend->text($requests[1], 'one');
$backend->conn->notify('notifications/toolgate/closing', { reason => 'x' });
is text_of($client->reply($ids[1])), 'one', 'what was answered was';
$backend->accept;
my @again = map { $backend->heard } 1, 2;
$backend->text($again[$_], "again $_") for 0, 1;
is_deeply [ map { text_of($client->reply($_)) } @ids[ 0, 2 ] ],
    [ 'again 0', 'again 1' ], 'what was not is asked again, once each';

# --- a notice that is not read before the next write ------------------------

# The worker is busy between the call and its write.
my $id = start();
$backend->heard;
$client->send_raw(join '', map { Toolgate::Client->encode({
    jsonrpc => '2.0', id => $_, method => 'tools/call',
    params => { name => $_ } }) . "\n" } qw(ask block));
# Otherwise it would read the notice first, which is the case above.
select undef, undef, undef, 0.2;
$backend->conn->notify('notifications/toolgate/closing', { reason => 'x' });
$backend->conn->close;
$backend->accept;
$backend->text($backend->heard, 'again') for 1, 2;
is text_of($client->reply($id)), 'again', 'a call that was sent is sent again';
is text_of($client->reply('ask')), 'again', 'and the one that found it out';

# --- a backend that refuses calls -------------------------------------------

my ($slow, $more) = map { start() } 1, 2;
my $running = $backend->heard;
my $refused = $backend->heard;
my $old = $backend->conn;
$old->send_line({ jsonrpc => '2.0', id => $refused->{id},
    error => { code => -32090, message => 'leaving', data => 'toolgate' } });
$backend->accept;
$backend->text($backend->heard, 'elsewhere');
is text_of($client->reply($more)), 'elsewhere', 'a rejected call is sent again';
$id = start();
$backend->text($backend->heard, 'there');
is text_of($client->reply($id)), 'there', 'and all that follows, there';
$client->notify('notifications/cancelled', { requestId => $slow });
is $old->notification('notifications/cancelled')->{params}{requestId},
    $running->{id},
    'the old connection receives the cancellation of its last call';
$old->send_line({ jsonrpc => '2.0', id => 'x', method => 'ping' });
ok Toolgate::Parent::is_left($old), 'and is left when there is no call';

# --- a backend that always exits --------------------------------------------

$id = start();
for my $try (1 .. 3) {
    $backend->heard;
    $backend->conn->notify('notifications/toolgate/closing', { reason => 'x' });
    $backend->conn->close;
    $backend->accept if $try < 3;
}
like text_of($client->reply($id)),
    qr/can be reached \(\w.*\), so the call was not started/,
    'who always leaves is asked three times';

# --- the first request ------------------------------------------------------

# Within its time; a machine may be slow.
my $n = 0;
wait_for {
    my $new = $tg->spawn({}, 'openssl', 's_client', '-quiet', '-no_ign_eof',
        '-verify_quiet', '-unix', $secret);
    my $from = $tg->log_size;
    $tg->wait_log(qr/client unix: connected to unix:\Q$secret\E/, $from);
    conf(++$n);
    $tg->reload;
    $tg->wait_log(qr/gracefully shutting down/, $from);
    $new->notify('notifications/toolgate/hello');
    my $call = eval { $new->request('tools/call', { name => 'n' }) };
    my $got = eval { text_of($new->reply($call)) } // '';
    my $last = eval {
        $new->notification('notifications/toolgate/closing')->{method}
    };
    $got eq $n - 1 && $last && $new->at_eof;
} 'a call that an exiting worker answers';
pass 'a new client is answered and gets its shutdown notice';

done_testing;
