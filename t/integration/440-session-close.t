#!/usr/bin/perl
# A client that has shut down writing still gets its responses; one that closes
# ends everything that runs for it.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
# Two levels of children, one in its own session; all ignore SIGTERM.
$tg->file('stubborn', <<'END', 0755);
#!/bin/sh
trap '' TERM
setsid sh -c 'trap "" TERM; sleep 3603 & while :; do sleep 3603; done' &
while :; do sleep 3602; done
END
$tg->conf(<<'END')->start;
tool hi { return 'hi $tool_arg_n'; }
tool nap { exec sleep 0.4; }
tool long { exec sleep 3601; timeout 2h; }
tool stubborn { exec %%DIR%%/stubborn; timeout 2h; }
END

sub runs {
    my ($pattern, $wanted, $what) = @_;
    wait_for {
        my $all = join "\n", values %{ $tg->processes };
        return $wanted == (() = $all =~ /$pattern/mg);
    } $what;
}

sub call {
    my ($name, $n) = @_;
    return {
        method => 'tools/call',
        params => { name => $name, arguments => { n => $n // 0 } },
    };
}

# --- half closed ----------------------------------------------------------

my $client = $tg->connect;
my @ids = map { $client->request('tools/call', call($_)->{params}) }
    qw(nap hi nap hi);
$client->shutdown_write;
my %text = map { $_ => text_of($client->reply($_)) } @ids;
is_deeply [ @text{@ids} ], [ '', 'hi 0', '', 'hi 0' ], 'jsonrpc: all answers';
ok $client->at_eof, 'jsonrpc: then it is closed';

$client = $tg->connect;
for my $n (1 .. 3) {
    $client->send_ipc({
        method => 'call_tool',
        params => call(($n == 2 ? 'nap' : 'hi'), $n)->{params},
    });
}
$client->shutdown_write;
is text_of($client->recv_ipc), 'hi 1', 'ipc: the first answer';
is text_of($client->recv_ipc), '', 'ipc: the second one';
is text_of($client->recv_ipc), 'hi 3', 'ipc: the third one';
ok $client->at_eof, 'ipc: then it is closed';

$client = $tg->connect;
$client->send_line({ kind => 'mcp_request', id => $_,
    %{ call($_ == 1 ? 'nap' : 'hi', $_) } }) for 1, 2;
$client->shutdown_write;
%text = map { $_->{id} => text_of($_) } map { $client->recv_json } 1, 2;
is_deeply \%text, { 1 => '', 2 => 'hi 2' }, 'relay: all answers';
ok $client->at_eof, 'relay: then it is closed';

# Nothing to wait for: closed at once, whatever was begun.
for my $bytes ('', '{"jsonrpc"', "\0\0", "\0\0\0\x10abc") {
    $client = $tg->connect;
    $client->send_raw($bytes);
    $client->shutdown_write;
    ok $client->at_eof, 'half a frame and no more: closed';
}

# --- closed ---------------------------------------------------------------

$client = $tg->connect;
$client->request('tools/call', call('long')->{params}) for 1 .. 3;
$client->send_line('{"half');
runs(qr/^\S*sleep 3601$/m, 3, 'three programs');
$client->close;
runs(qr/^\S*sleep 3601$/m, 0, 'the end of three programs');
pass 'programs end with their client';

# It had sent more than was read, and did not read its responses.
$client = $tg->connect;
$client->request('tools/call', call('long')->{params});
$client->send_raw("\0" x 16);
runs(qr/^\S*sleep 3601$/m, 1, 'a program');
$client->close;
runs(qr/^\S*sleep 3601$/m, 0, 'its end');
pass 'with answers unread too';

# In ipc nothing is read while a call runs; the close is detected anyway.
$client = $tg->connect;
$client->send_ipc({ method => 'call_tool', params => call($_)->{params} })
    for 'long', 'hi', 'hi';
runs(qr/^\S*sleep 3601$/m, 1, 'a program');
$client->close;
runs(qr/^\S*sleep 3601$/m, 0, 'its end');
pass 'in ipc too';

# First half closed, then closed.
$client = $tg->connect;
$client->request('tools/call', call('long')->{params});
shutdown $client->{out}, 1;
runs(qr/^\S*sleep 3601$/m, 1, 'a program');
$client->close;
runs(qr/^\S*sleep 3601$/m, 0, 'its end');
pass 'after it was half closed too';

# A client that is killed, with a program that does not end.
my $pid = fork // die "fork: $!";
if ($pid == 0) {
    my $other = $tg->connect;
    $other->request('tools/call', call('stubborn')->{params});
    sleep 1000;
    POSIX::_exit(0);
}
runs(qr/^\S*sleep 360[23]$/m, 3, 'the program and its children');
kill KILL => $pid;
waitpid $pid, 0;
runs(qr/sleep 360\d|stubborn/, 0, 'all of them to be gone');
pass 'and what ignores SIGTERM, with its children';

# Cancelled instead: the session continues without a response.
$client = $tg->connect;
my $id = $client->request('tools/call', call('stubborn')->{params});
runs(qr/^\S*sleep 360[23]$/m, 3, 'the program and its children');
$client->notify('notifications/cancelled', { requestId => $id });
is text_of($client->call_tool(hi => { n => 7 })), 'hi 7', 'cancelled: it stays';
runs(qr/sleep 360\d|stubborn/, 0, 'all of them to be gone');
$client->shutdown_write;
ok $client->at_eof, 'cancelled: no answer comes';

done_testing;
