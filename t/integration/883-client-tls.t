#!/usr/bin/perl
# A program that is a client by libtoolgate, over TCP and TLS: names and both
# sides' certificates are verified, as by the command line.

use Toolgate::Test qw(Host Tls);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
certify($dir, $_) for qw(ca other);
certify($dir, 'server', ca => 'ca', alt => 'IP:127.0.0.1,DNS:tools.test');
certify($dir, 'client', ca => 'ca', alt => 'DNS:agent.test');

my ($plain, $tls);
start_on_ports($tg, sub {
    ($plain, $tls) = (free_port(), free_port());
    my $tools = 'tool who { return "$ssl_client_s_dn|$tool_arg_text"; }';
    my $common = "tool_runner @{[ $tg->runner_path ]};\n"
        . "tool_state_dir %%STATE%%;\n$tools";
    return (
        "server { listen unix:%%SOCKET%%; listen 127.0.0.1:$plain; $common }\n"
            . "server { listen 127.0.0.1:$tls ssl; $common\n"
            . "ssl_certificate $dir/server.pem;\n"
            . "ssl_certificate_key $dir/server.key;\n"
            . "ssl_client_certificate $dir/ca.pem;\n"
            . 'ssl_verify_client on; }',
        server => 0);
});

for my $kind (qw(thread fd)) {
    my $host = Toolgate::Host->start($tg, $kind);
    my $who = 'client call who {"text":"hi"}';

    is $host->do("client new 127.0.0.1:$plain"), 'ok', "$kind: TCP";
    $host->do('client open');
    like $host->do($who), qr/"\|hi"/, 'a call over TCP';
    $host->do('client free');
    my $none = free_port();
    $host->do("client new 127.0.0.1:$none");
    like $host->fails('client open'),
        qr/^IPCConnectionError nothing listens on 127\.0\.0\.1:$none/,
        'no server';
    $host->do('client free');

    my $own = "certificate=$dir/client.pem key=$dir/client.key";
    $host->do("client new tls:127.0.0.1:$tls ca=$dir/ca.pem $own");
    $host->do('client open');
    like $host->do($who), qr/CN=client.*\|hi"/, 'a call over TLS';
    $host->do('client free');
    $host->do("client new tls:127.0.0.1:$tls ca=$dir/other.pem $own");
    like $host->fails('client open'),
        qr/^IPCConnectionError no connection to tls:.*certificate/,
        'a server that nobody vouches for';
    $host->do('client free');
    $host->do("client new tls:127.0.0.1:$tls ca=$dir/nowhere.pem");
    like $host->fails('client open'), qr/^ValueError .*nowhere\.pem/,
        'a file that is not there';
    $host->do('client free');
    $host->stop;
}

done_testing;
