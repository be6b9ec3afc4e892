#!/usr/bin/perl
# However NGINX is stopped, its sockets are removed; and a TCP listener works
# equally, without a file.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $socket = $tg->socket_path;

# Runs until the test ends it.
$tg->file('wait', <<'END', 0755);
#!/bin/sh
touch "$1/runs"
while ! [ -e "$1/go" ]; do sleep 0.02; done
echo done
END

for my $signal (qw(TERM INT QUIT)) {
    $tg->conf(<<'END')->start;
listen unix:%%SOCKET%%;
listen unix:%%DIR%%/two.sock;
tool hi { return hi; }
tool wait { exec %%DIR%%/wait %%DIR%%; timeout 1h; }
END
    my $idle = $tg->connect;
    is text_of($idle->call_tool('hi')), 'hi', "$signal: it serves";
    my $busy = $tg->connect("$dir/two.sock");
    my $id = $busy->request('tools/call', { name => 'wait' });
    wait_for { -e "$dir/runs" } 'the program';
    kill $signal => $tg->master_pid;
    ok $idle->at_eof, "$signal: idle clients are closed";
    if ($signal eq 'QUIT') {
        $tg->file('go', '');
        is text_of($busy->reply($id)), "done\n",
            "$signal: calls come to their end";
    }
    ok $busy->at_eof, "$signal: busy clients are closed at last";
    $tg->stop(signal => $signal);
    is_deeply [ glob "$dir/*.sock*" ], [], "$signal: both sockets are gone";
    wait_for { !grep {m{/wait }} values %{ $tg->processes } }
        'the program to end';
    unlink "$dir/runs";
}

# A free port of the loopback interface, which another process may take first.
my $port;
for my $try (1 .. 20) {
    my $free = IO::Socket::INET->new(
        LocalAddr => '127.0.0.1', Listen => 1, ReuseAddr => 1)
        or die "127.0.0.1: $!";
    $port = $free->sockport;
    close $free;
    $tg->conf(<<"END");
listen 127.0.0.1:$port;
listen unix:%%SOCKET%%;
tool hi { return 'hi \$tool_client_pid'; }
END
    last if eval { $tg->start; 1 };
    die $@ if $@ !~ /Address already in use/;
    $tg->allow_log(qr/bind\(\) to 127\.0\.0\.1/);
}
my $tcp = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
    or die "127.0.0.1:$port: $!";
my $client = Toolgate::Client->over($tcp, $tcp, 'tcp');
is text_of($client->call_tool('hi')), 'hi ', 'TCP: it serves, whom is unknown';
is text_of($tg->connect->call_tool('hi')), "hi $$", 'and beside it the file';
$client->shutdown_write;
ok $client->at_eof, 'TCP: it closes';
is_deeply [ glob "$socket*" ], [$socket], 'there is no other file';

done_testing;
