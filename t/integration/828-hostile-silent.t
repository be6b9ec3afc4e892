#!/usr/bin/perl
# Clients that connect and send nothing: if connections are short, the oldest of
# them is closed for a new one, also during its TLS handshake.

use Toolgate::Test qw(Tls);

my $tools = <<'END';
tool hi { return hi; }
tool run { exec echo ran; }
END
my @ways = (
    [ connections => 'worker_connections 128;', '' ],
    [ descriptors => 'worker_connections 512;', 'worker_rlimit_nofile 96;' ],
);

sub is_served {
    my ($client) = @_;
    return eval { $client->call_tool('hi') };
}

sub text { return $_[0]{result}{content}[0]{text} }

for my $way (@ways) {
    my ($what, $events, $main) = @$way;
    my $tg = Toolgate::Test->new(workers => 1);
    $tg->conf($tools, events => $events, main => $main)->start;
    my $first = $tg->connect;
    is text($first->call_tool('hi')), 'hi', "$what: one who has spoken";

    my @silent = map { $tg->connect } 1 .. 300;
    is text($tg->connect->call_tool('hi')), 'hi', "$what: a new client";
    is text($first->call_tool('run')), "ran\n", "$what: the first, a program";
    like $tg->log, qr/client closed: the worker needs its last $what \(/,
        "$what: the log says it";

    # The worker has served a later one, so these will stay.
    my @open = grep { !$silent[$_]->at_eof(0) } 0 .. $#silent;
    cmp_ok @open, '>', 32, "$what: there is place for many";
    is $open[0], 300 - @open, "$what: the longest silent went";
    is text($silent[$_]->call_tool('hi')), 'hi', "$what: $_ may speak"
        for @open;

    # Log lines about closed clients; an excess client is rejected.
    my @more;
    do { push @more, $tg->connect } while is_served($more[-1]);
    cmp_ok @more, '<', 5, "$what: no client that has sent a request is closed";
    is text($first->call_tool('run')), "ran\n", "$what: the first is served";
    unlike $tg->log, qr/ are not enough| \(2[34]: /,
        "$what: NGINX never had none";
    $tg->stop;
}

# --- handshakes that never end --------------------------------------------

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
certify($dir, 'tools');

for my $how (qw(ssl proxy_protocol)) {
    $tg->conf(<<"END", events => 'worker_connections 128;')->start;
listen              unix:$dir/half.sock $how;
listen              unix:%%SOCKET%%;
ssl_certificate     $dir/tools.pem;
ssl_certificate_key $dir/tools.key;
$tools
END
    my $client = $tg->connect;
    is text($client->call_tool('hi')), 'hi', "$how: one who has spoken";
    my @half =
        map { Toolgate::Client->connect("$dir/half.sock") } 1 .. 200;
    # Up to an incomplete first message of TLS.
    if ($how eq 'ssl') {
        eval { $_->send_raw("\x16\x03\x01\x02\x00\x01") } for @half;
    }
    is text($tg->connect->call_tool('hi')), 'hi', "$how: a new client";
    ok $half[0]->at_eof, "$how: the longest of many is closed";
    ok !$half[-1]->at_eof(0), "$how: not the last";
    is text($client->call_tool('run')), "ran\n", "$how: the runner is reached";
    unlike $tg->log, qr/ are not enough/, "$how: NGINX never had none";
    undef @half;
    ok wait_for(sub { is_served($tg->connect) }, 'a free place'),
        "$how: a new client, when they are gone";
    $tg->stop;
}

done_testing;
