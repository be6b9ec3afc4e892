package Toolgate::Tls;

# Certificates for tests, and an NGINX on TCP ports, for instance in front of
# servers without TLS.

use strict;
use warnings;

use Exporter qw(import);
use IO::Socket::INET;
use Toolgate::Util;

our @EXPORT = qw(certify free_port start_on_ports);

sub openssl {
    my ($dir, @command) = @_;
    my ($status, $out, $err) =
        run_command({ timeout => 60, cwd => $dir }, 'openssl', @command);
    die "openssl @command: $out$err" if $status;
}

# Makes NAME.key and NAME.pem in a folder, for the names in `alt`
# ("DNS:localhost"), if any, signed by `ca` or by itself.
sub certify {
    my ($dir, $name, %option) = @_;
    my @new = ('req', qw(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1
        -nodes), '-subj', '/CN=' . ($option{subject} // $name), '-keyout',
        "$name.key");
    my @alt = $option{alt} ? "subjectAltName=$option{alt}" : ();
    return openssl($dir, @new, '-x509', '-days', 2, '-out', "$name.pem",
        map { (-addext => $_) } @alt) if !$option{ca};
    open my $fh, '>', "$dir/$name.ext" or die "$name.ext: $!";
    print {$fh} "@alt\n";
    close $fh;
    openssl($dir, @new, '-out', "$name.csr");
    openssl($dir, qw(x509 -req -CAcreateserial -in), "$name.csr",
        '-CA', "$option{ca}.pem", '-CAkey', "$option{ca}.key",
        '-days', $option{days} // 2, '-extfile', "$name.ext",
        '-out', "$name.pem");
}

# Returns a port that is free at this moment.
sub free_port {
    return IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
        ->sockport;
}

# Starts NGINX with the arguments of conf() from a function that takes free
# ports; again if another process has taken one.
sub start_on_ports {
    my ($tg, $conf) = @_;
    for my $try (1 .. 10) {
        $tg->conf($conf->());
        return if eval { $tg->start; 1 };
        die $@ if $try == 10 || $@ !~ /Address already in use/;
        $tg->allow_log(qr/bind\(\) .*in use|still could not bind/);
    }
}

1;
