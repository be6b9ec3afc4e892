#!/usr/bin/perl
# TLS sessions cannot move, because only the worker has their keys: an idle one
# is closed at once with its dialect's shutdown notice, a busy one after its
# last call. Sessions on plain sockets move.

use Toolgate::Test qw(Hang Move Tls Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $secret = "$dir/tls.sock";

certify($dir, 'tools');

sub server {
    my ($listen, $n) = @_;
    return <<"END";
server {
    listen              $listen;
    ssl_certificate     $dir/tools.pem;
    ssl_certificate_key $dir/tools.key;
    tool_runner         @{[ $tg->runner_path ]};
    tool_state_dir      %%STATE%%;
    tool n { description "N."; return $n; }
    tool hang { description "H."; $handler }
}
END
}

sub conf {
    my ($n) = @_;
    return $tg->conf(
        server("unix:$secret ssl", $n) . server("unix:%%SOCKET%%", $n),
        server => 0);
}

# A client behind openssl: its output is sent; it ends with the connection.
sub tls {
    return $tg->spawn({}, 'openssl', 's_client', '-quiet', '-no_ign_eof',
        '-verify_quiet', '-unix', $secret);
}

conf(0)->start;
my %plain = map { $_->name => $_ } Toolgate::Way->all($tg);
is $_->call('n')->{text}, 0, 'plain: ' . $_->name for values %plain;
my %idle = map { $_ => Toolgate::Way->new($_, tls()) } qw(legacy relay ipc);
my %busy = map { $_ => Toolgate::Way->new($_, tls()) } qw(legacy relay ipc);
for my $name (sort keys %idle) {
    is $idle{$name}->call('n')->{text}, 0, "TLS: $name";
    my $key = "tls-$name";
    $busy{$name}{call} = $busy{$name}->start('hang', { key => $key });
    $hang->started($key);
}
my @old = $tg->worker_pids;
conf(1);
$tg->reload;

for my $name (sort keys %idle) {
    my $client = $idle{$name}->client;
    is $client->recv_json->{kind}, 'shutdown', "$name: the shutdown frame"
        if $name eq 'relay';
    ok $client->at_eof, "$name: idle, closed";
}
for my $name (sort keys %busy) {
    my $way = $busy{$name};
    ok $way->client->is_silent(0), "$name: busy, stays";
    $hang->finish("tls-$name");
    is $way->finish($way->{call})->{text}, "done tls-$name\n",
        "$name: its last call is answered";
    is $way->client->recv_json->{kind}, 'shutdown', "$name: the frame"
        if $name eq 'relay';
    ok $way->client->at_eof, "$name: then closed";
}
old_gone($tg, @old);
is $_->call('n')->{text}, 1, 'plain: ' . $_->name . ' has moved'
    for values %plain;
is(Toolgate::Way->new('legacy', tls())->call('n')->{text}, 1,
    'TLS: a new connection has the new config');

done_testing;
