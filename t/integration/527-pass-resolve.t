#!/usr/bin/perl
# `pass` to an upstream whose servers are a name's current addresses
# (`resolve`), if NGINX has that: calls go to the current ones, also those that
# have waited, and end where they began.

use strict;
use warnings;

use Toolgate::Test qw(Hang);

use IO::Socket::INET;

my $there = Toolgate::Test->new(workers => 1);
my $tg = Toolgate::Test->new(workers => 1);
my $hang = Toolgate::Hang->new($there);
my $port = IO::Socket::INET->new(LocalAddr => '127.0.0.2', Listen => 1)
    ->sockport;
my %address = (a => '127.0.0.2', b => '127.0.0.3', c => '127.0.0.4');

# A name server for one name, whose addresses are in the file `names`.
$tg->file('dns.pl', <<'END');
use IO::Socket::INET;
use Socket qw(inet_aton);
my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp')
    or die "udp: $!";
syswrite STDOUT, $socket->sockport . "\n";
while (my $from = recv $socket, my $query, 512, 0) {
    my ($id, $question) = $query =~ /\A(..).{10}(.*?\0....)/s or next;
    open my $fh, '<', $ARGV[0] or next;
    my @to = split ' ', <$fh> // '';
    my $code = @to ? 0x8180 : 0x8183;
    @to = () if substr($question, -4) ne "\0\1\0\1";
    send $socket, join('', $id, pack('n5', $code, 1, scalar @to, 0, 0),
        $question, map { pack('n3Nna4', 0xc00c, 1, 1, 1, 4, inet_aton($_)) }
            @to), 0, $from;
}
END
my $names = $tg->dir . '/names';
my $dns = $tg->spawn({}, $^X, $tg->dir . '/dns.pl', $names);
my ($resolver) = $dns->recv_line =~ /(\d+)/;

sub means {
    my (@servers) = @_;
    $tg->file('names.new', join ' ', map { $address{$_} } @servers);
    rename "$names.new", $names or die "$names: $!";
}

sub body {
    my ($n, $pass) = @_;
    return <<"END";
tool who { description "W."; $pass }
tool turn { description "T."; timeout 600s; concurrency 1 queue=99;
            $pass
            input_schema '{"type":"object",
                "properties":{"key":{"default":"none"}}}'; }
tool now { description "N."; return $n; }
END
}

sub upstream {
    my ($method) = @_;
    return (stream => <<"END");
resolver 127.0.0.1:$resolver valid=1s ipv6=off;
resolver_timeout 1s;
upstream back { zone z 64k; $method server back.test:$port resolve; }
END
}

# An NGINX without it reports an error.
means('a');
my ($status, $said) = $tg->test_conf(body(1, 'pass back;'), upstream(''));
if ($status != 0 && $said =~ /invalid parameter "resolve"/) {
    ok 1, 'this NGINX has no "resolve"';
    done_testing;
    exit;
}
is $status, 0, 'a name that is looked up again and again' or diag $said;

$there->conf(join("\n", map { <<"END" } sort keys %address), server => 0)
server {
    listen $address{$_}:$port;
    @{[ $_ eq 'a' ? 'listen unix:%%SOCKET%%;' : '' ]}
    tool_runner @{[ $there->runner_path ]};
    tool_state_dir %%STATE%%;
    tool who { description "W."; return $_; }
    tool turn { description "T."; @{[
        $_ eq 'a' ? $hang->handler : "return $_;" ]} }
}
END
    ->start;
$tg->conf(body(1, 'pass back;'), upstream(''))->start;
my $client = $tg->connect;

sub who { return text_of($client->call_tool('who', { key => "$_[0]" })) }
wait_for { who(0) eq 'a' } 'the name to be known';

# One runs at a, others wait; then the name means b.
my $ran = $client->request('tools/call',
    { name => 'turn', arguments => { key => 'first' } });
$hang->started('first');
my @waiting = map {
    $client->request('tools/call',
        { name => 'turn', arguments => { key => "$_" } })
} 1 .. 3;
means('b');
wait_for { who(0) eq 'b' } 'calls to go to b';
ok $hang->is_whole('first'), 'the call to the old address continues';
$hang->finish('first');
is text_of($client->reply($ran)), "done first\n", 'and ends there';
is text_of($client->reply($_)), 'b', 'what has waited goes to b' for @waiting;

# More of them, and none.
means('b', 'c');
my %seen;
wait_for { $seen{ who(0) }++; $seen{b} && $seen{c} } 'calls to go to both';
means();
wait_for { who(0) =~ /no backend of "back" .*not started/ }
'the backend to be gone';
means('c');
wait_for { who(0) eq 'c' } 'c to be there';

# A call that has waited goes where its arguments say.
means('a');
$tg->reload(body(2, 'pass back;'),
    upstream('hash $tool_arg_key;'));
wait_for { text_of($client->call_tool('now')) eq '2' } 'the new config';
wait_for { who(0) eq 'a' } 'the name to be known again';
$ran = $client->request('tools/call',
    { name => 'turn', arguments => { key => 'second' } });
$hang->started('second');
my %asked = map {
    $_ => $client->request('tools/call', { name => 'turn',
        arguments => $_ eq 'none' ? {} : { key => "$_" } })
} 1 .. 16, 'none';
means('b', 'c');
wait_for { !grep { who($_) eq 'a' } 1 .. 16 } 'calls to leave a';
my %where = map { $_ => who($_) } 1 .. 16, 'none';
$hang->finish('second');
is text_of($client->reply($ran)), "done second\n", 'one ends at a';
my %went = map { $_ => text_of($client->reply($asked{$_})) } keys %asked;
is_deeply \%went, \%where, 'each of the others goes where it belongs';

done_testing;
