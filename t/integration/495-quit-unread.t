#!/usr/bin/perl
# NGINX quits while clients have not read their responses: all requests are
# answered, and all responses arrive.

use Toolgate::Test qw(Client Tls Way);

use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_RCVBUF);

# Requests after responses that are not read yet.
{
    my $tg = Toolgate::Test->new(workers => 1);
    my $text = '$tool_arg_text' x 15;
    $tg->conf("tool large { return \"$text\"; }")->start;
    my @ways = grep { $_->name ne 'ipc' } Toolgate::Way->all($tg);
    for my $way (@ways) {
        my $client = $way->client;
        $way->{calls} = [ map {
            $way->start('large', { text => 'x' x 4000 })
        } 1 .. 40 ];
        $client->await('some of it', undef,
            sub { length $client->buffered || undef });
    }
    kill QUIT => $tg->master_pid;
    $tg->wait_log(qr/gracefully shutting down/);
    for my $way (@ways) {
        my @whole = grep { length $way->finish($_)->{text} == 60_000 }
            @{ $way->{calls} };
        is scalar @whole, 40, $way->name . ': all that was asked is answered';
    }
    wait_for { !$tg->is_running } 'NGINX to end';
    $tg->stop;
}

# Over TCP: output in transit arrives, also when the client sends something that
# nobody reads.
{
    my $size = 900_000;
    my $tg = Toolgate::Test->new(workers => 1);
    my $port;
    start_on_ports $tg, sub {
        $port = free_port();
        return "listen 127.0.0.1:$port;\nlisten unix:%%SOCKET%%;\n"
            . 'method echo { return $tool_arg_text; output text; }';
    };
    my $socket = IO::Socket::INET->new(
        PeerAddr => '127.0.0.1',
        PeerPort => $port
    ) or die "connect: $!";
    setsockopt $socket, SOL_SOCKET, SO_RCVBUF, 8192;
    my $client = Toolgate::Client->over($socket, $socket, 'tcp');
    my $id = $client->request('echo', { text => 'x' x $size });
    my $from = $tg->log_size;
    $client->await('some of it', undef,
        sub { length $client->buffered || undef });
    kill QUIT => $tg->master_pid;
    $tg->wait_log(qr/gracefully shutting down/, $from);
    $client->request('ping');
    is length $client->reply($id)->{result}, $size, 'TCP: all of it';
    wait_for { !$tg->is_running } 'NGINX to end';
    $tg->stop;
}

done_testing;
