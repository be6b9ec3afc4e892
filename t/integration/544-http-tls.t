#!/usr/bin/perl
# TLS: required issuer and name of a certificate.

use Toolgate::Test qw(Tls Web);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $web = Toolgate::Web->new($tg);

# A CA, and its certificates for names and an address.
certify($dir, $_) for qw(ca no);
my %names = (
    good => 'DNS:localhost,IP:127.0.0.1',
    name => 'DNS:else.where',
    old  => 'DNS:localhost',
);
certify($dir, $_, alt => $names{$_}, ca => 'ca', days => $_ eq 'old' ? -1 : 2)
    for sort keys %names;

# NGINX itself is the TLS server, in front of the plain one.
my %port;

sub server {
    my ($name) = @_;
    my $protocols = $name eq 'tls11' ? 'TLSv1.1' : 'TLSv1.2 TLSv1.3';
    my $certificate = $name eq 'tls11' ? 'good' : $name;
    return <<"END";
server {
    listen              127.0.0.1:$port{$name} ssl;
    ssl_certificate     $dir/$certificate.pem;
    ssl_certificate_key $dir/$certificate.key;
    ssl_protocols       $protocols;
    proxy_pass          127.0.0.1:@{[ $web->port ]};
}
END
}

sub conf {
    %port = map { $_ => free_port() } keys %names, 'tls11';
    my $ca = "ca_file $dir/ca.pem;";
    return join('', map { server($_) } sort keys %port) . <<"END";
server {
    listen         unix:%%SOCKET%%;
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir %%STATE%%;
    tool good { http GET https://localhost:$port{good}/echo; $ca }
    tool address { http GET https://127.0.0.1:$port{good}/echo; $ca }
    tool system { http GET https://localhost:$port{good}/echo; }
    tool theirs {
        http    GET https://localhost:$port{good}/echo;
        ca_file $dir/no.pem;
    }
    tool name { http GET https://localhost:$port{name}/echo; $ca }
    tool old { http GET https://localhost:$port{old}/echo; $ca }
    tool tls11 { http GET https://localhost:$port{tls11}/echo; $ca }
    tool plain { http GET https://localhost:@{[ $web->port ]}/echo; $ca }
    tool down {
        http      GET https://localhost:$port{good}/to/\$tool_arg_to;
        redirects 1;
        hosts     localhost:*;
        $ca
    }
}
END
}

start_on_ports($tg, sub { (conf(), server => 0) });
$tg->allow_log(qr/SSL_do_handshake|while SSL handshaking/);

my $c = $tg->connect;
sub call { return text_of($c->call_tool(@_)) }
like call($_), qr/"method":"GET"/, "$_ is called" for qw(good address good);
is $web->connections, 2, 'and the connection kept';

my $n = () = $web->requests;
my %why = (
    system => qr/certificate|CA/i,
    theirs => qr/certificate|CA/i,
    name   => qr/subject name|does not match/i,
    old    => qr/expired/i,
    tls11  => qr/SSL|TLS/i,
    plain  => qr/SSL|TLS|wrong version/i,
);
for my $name (sort keys %why) {
    my $text = call($name);
    like $text, qr{cannot be reached; no request was sent}, "$name: no";
    like $text, $why{$name}, "$name: why";
}
is scalar(() = $web->requests), $n, 'none of these was asked for something';
like call(down => { to => "http://localhost:@{[ $web->port ]}/echo" }),
    qr/leads from https to http/, 'no redirect without TLS';

done_testing;
