#!/usr/bin/perl
# Another Toolgate as the backend: over a Unix socket, over TLS, and over TLS
# and TCP, with names and both sides' certificates verified. It is reloaded
# during calls, and none is lost.

use strict;
use warnings;

use Toolgate::Test qw(Hang Tls Way);

use IO::Socket::INET;

my $there = Toolgate::Test->new(workers => 1);
my $tg = Toolgate::Test->new(workers => 1);
my $hang = Toolgate::Hang->new($there);
my $dir = $there->dir;
my $port = IO::Socket::INET->new(LocalAddr => '127.0.0.5', Listen => 1)
    ->sockport;

# --- certificates -----------------------------------------------------------

certify($dir, $_) for qw(ca other);
certify($dir, 'server', alt => 'DNS:fleet.test', ca => 'ca');
certify($dir, 'client', subject => 'front.test', ca => 'ca');
certify($dir, 'stranger', subject => 'front.test', ca => 'other');
chmod 0644, glob("$dir/*.key"), glob("$dir/*.pem");
chmod 0755, $dir;

$there->file('tell.sh', <<'END', 0755);
#!/bin/sh
echo '{"progress":1}' >&$TOOL_PROGRESS_FD
echo told
END

# --- the backend ------------------------------------------------------------

sub server {
    my ($listen, $n, $more) = @_;
    return <<"END";
server {
    $listen;
    $more
    tool_runner @{[ $there->runner_path ]};
    tool_state_dir %%STATE%%;
    tool n { description "N."; return $n; }
    tool hang { description "H."; @{[ $hang->handler ]} }
    tool tell { description "T."; timeout 60s; exec $dir/tell.sh; }
    tool session { description "S.";
        return '\$ssl_session_reused \$ssl_client_s_dn \$ssl_server_name'; }
}
END
}

sub there {
    my ($n) = @_;
    return (
        server('listen unix:%%SOCKET%%', $n, '')
            . server("listen unix:$dir/tls ssl; listen 127.0.0.5:$port ssl", $n,
            <<"END"),
    ssl_certificate $dir/server.pem;
    ssl_certificate_key $dir/server.key;
    ssl_session_cache shared:s:1m;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_client_certificate $dir/ca.pem;
    ssl_verify_client optional;
END
        server => 0);
}
$there->conf(there(1))->start;

# --- the client side --------------------------------------------------------

my %ssl = (
    tool_pass_ssl                     => 'on',
    tool_pass_ssl_name                => 'fleet.test',
    tool_pass_ssl_trusted_certificate => "$dir/ca.pem",
    tool_pass_ssl_certificate         => "$dir/client.pem",
    tool_pass_ssl_certificate_key     => "$dir/client.key",
    tool_pass_ssl_protocols           => 'TLSv1.2',
);

sub ssl {
    my (%more) = @_;
    my %all = (%ssl, %more);
    return join '', map { defined $all{$_} ? "$_ $all{$_};\n" : '' }
        sort keys %all;
}

sub tools {
    my ($address, $more) = @_;
    return join '', map { "tool $_ { description x; timeout 600s; "
        . "pass $address; $more }\n" } qw(n hang tell session);
}
my $client;
my $round = 0;

sub here {
    my (@conf) = @_;
    $round++;
    $conf[0] .= "tool round { return $round; }";
    if ($tg->master_pid) {
        $tg->reload(@conf);
    } else {
        $tg->conf(@conf)->start;
    }
    $client //= $tg->connect;
    wait_for { text_of($client->call_tool('round')) eq $round }
    'the new config';
}
my %address = (
    plain => [ 'unix:' . $there->socket_path, '' ],
    TLS   => [ "unix:$dir/tls", ssl() ],
    TCP   => [ "127.0.0.5:$port", ssl() ],
);
my $key = 0;
for my $kind (sort keys %address) {
    my ($address, $more) = @{ $address{$kind} };
    # All tools on one connection.
    here($more . tools($address, ''));
    for my $way (Toolgate::Way->all($tg)) {
        my $name = "$kind, " . $way->name;
        ok defined $way->call('n')->{text}, "$name: it answers";

        # A call that is cancelled here ends there.
        next if $way->name eq 'ipc';
        my $call = $way->start('hang', { key => ++$key });
        my @pids = $hang->started($key);
        $way->name eq 'relay' ? $way->client->close
            : $way->client->notify('notifications/cancelled',
            $way->params({ requestId => $call }));
        wait_for { !grep { is_alive($_) } @pids } 'the program to end';
        pass "$name: a cancellation goes through";
    }
    my $id = $client->request('tools/call',
        { name => 'tell', _meta => { progressToken => 'x' } });
    is $client->notification('notifications/progress')->{params}{progress}, 1,
        "$kind: so does progress";
    is text_of($client->reply($id)), "told\n", "$kind: and the end";

    # A reload there, during calls.
    my @calls = map { $client->request('tools/call', { name => 'n' }) } 1 .. 50;
    my $slow = $client->request('tools/call',
        { name => 'hang', arguments => { key => ++$key } });
    $hang->started($key);
    $there->reload(there(++$round));
    for (1 .. 20) {
        push @calls, map { $client->request('tools/call', { name => 'n' }) }
            1 .. 20;
        $client->rpc('ping');
    }
    my @wrong = grep { !/^\d+$/ }
        map { text_of($client->reply($_)) // 'none' } @calls;
    is_deeply \@wrong, [], "$kind: a reload there loses no call";
    wait_for { text_of($client->call_tool('n')) eq $round } 'the new one there';
    $hang->finish($key);
    is text_of($client->reply($slow)), "done $key\n",
        "$kind: nor one that runs";
}

# --- certificates of both sides ---------------------------------------------

my ($address) = $address{TLS}[0];
here(tools($address, ssl()));
is text_of($client->call_tool('session')), '. CN=front.test fleet.test',
    'both sides are known by their names';
here(tools($address, ssl(tool_pass_ssl_server_name => 'off',
    tool_pass_ssl_certificate => undef,
    tool_pass_ssl_certificate_key => undef)));
is text_of($client->call_tool('session')), '.  ', 'or not';

# A TLS session is reused, unless that is off.
for my $case ([qw(on TLSv1.2)], [qw(on TLSv1.3)], [qw(off TLSv1.2)]) {
    my ($reuse, $protocol) = @$case;
    here(tools($address, ssl(tool_pass_ssl_session_reuse => $reuse,
        tool_pass_ssl_protocols => $protocol)));
    my $first = text_of($client->call_tool('session'));
    like $first, qr/^\. /, "$protocol, reuse $reuse: a new session";
    # Its connection ends; the next one reuses the session.
    $tg->allow_log(qr/./);
    $there->kill_workers($there->worker_pids);
    my $second = text_of($client->call_tool('session'));
    like $second, $reuse eq 'on' ? qr/^r / : qr/^\. /,
        "$protocol, reuse $reuse: then";
}

# Wrong certificates.
for my $case (
    [ 'another name', { tool_pass_ssl_name => 'other.test' },
        qr/its certificate is not that of "other\.test"/ ],
    [ 'another authority',
        { tool_pass_ssl_trusted_certificate => "$dir/other.pem" },
        qr/its certificate is not trusted/ ],
    [ 'another protocol', { tool_pass_ssl_protocols => 'TLSv1.1' },
        qr/the TLS handshake failed/ ],
) {
    my ($name, $more, $why) = @$case;
    here(tools($address, ssl(%$more)));
    like text_of($client->call_tool('n')),
        qr/no backend of .*\($why.*\).*not started/, $name;
}
here(tools($address, ssl(
    tool_pass_ssl_certificate     => "$dir/stranger.pem",
    tool_pass_ssl_certificate_key => "$dir/stranger.key")));
unlike text_of($client->call_tool('n')), qr/^\d+$/, 'a stranger is sent away';
here(tools('unix:' . $there->socket_path, ssl()));
like text_of($client->call_tool('n')), qr/TLS handshake failed/,
    'a backend without TLS';
here(tools($address, ssl(tool_pass_ssl_verify => 'off',
    tool_pass_ssl_name => 'x', tool_pass_ssl_trusted_certificate => undef)));
like text_of($client->call_tool('n')), qr/^\d+$/, 'unless nobody looks';

# For the whole server, but not for one tool.
here(ssl() . tools($address, '') . "tool plain { description x; "
    . 'pass unix:' . $there->socket_path
    . ' name=n; tool_pass_ssl off; }');
like text_of($client->call_tool($_)), qr/^\d+$/, "$_ of such a server"
    for qw(n plain);

# --- mistakes ---------------------------------------------------------------

my $none = "$dir/none.pem";
for my $case (
    [ 'no authority', ssl(tool_pass_ssl_trusted_certificate => undef),
        qr/"n" cannot verify .*"tool_pass_ssl_verify off"/ ],
    [ 'no name', ssl(tool_pass_ssl_name => undef),
        qr/"n" has a backend at a Unix socket.*"tool_pass_ssl_name NAME"/ ],
    [ 'no key', ssl(tool_pass_ssl_certificate_key => undef),
        qr/"n" has one of .*add the other/ ],
    [ 'no file', ssl(tool_pass_ssl_trusted_certificate => $none),
        qr/none\.pem.*No such file/ ],
    [ 'no certificate', ssl(tool_pass_ssl_certificate => "$dir/server.key"),
        qr/server\.key.*failed/ ],
    [ 'another key', ssl(tool_pass_ssl_certificate_key => "$dir/server.key"),
        qr/key values mismatch/ ],
    [ 'no list of the revoked', ssl(tool_pass_ssl_crl => $none),
        qr/none\.pem.*failed/ ],
    [ 'no such protocol', ssl(tool_pass_ssl_protocols => 'TLSv7'),
        qr/invalid value "TLSv7"/ ],
    [ 'no such ciphers', ssl(tool_pass_ssl_ciphers => 'NONESUCH'),
        qr/NONESUCH/ ],
) {
    my ($name, $more, $why) = @$case;
    conf_fails($tg, tools($address, $more), $why, $name);
}
my ($status, $out) =
    $tg->test_conf('tool a { return b; tool_pass_ssl on; }');
like $out, qr/tool "a" has no "pass", so "tool_pass_ssl"/, 'TLS of nothing';

done_testing;
