#!/usr/bin/perl
# The content of a trace: each frame of each dialect, in both directions, in any
# worker, whole or cut; and another reader of MessagePack finds the same.

use Toolgate::Test qw(Trace);

plan(skip_all => 'built without msgpack-c') if !has_msgpack();

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my $tools = <<'END';
tool hi { return hi; }
tool slow { exec sleep 3600; timeout 2h; }
method news { broadcast app/news; }
END
my $conf = "tool_trace all.trace body=64k;\n$tools";
my $stream = <<'END';
map $tool_client_name $is_wanted { wanted 1; }
map $tool_protocol $is_ipc { ipc 1; default 0; }
server {
    listen unix:%%DIR%%/wanted.sock;
    tool_trace wanted.trace if=$is_wanted;
    tool hi { return hi; }
}
server {
    listen unix:%%DIR%%/ipc.sock;
    tool_trace ipc.trace if=$is_ipc body=1k;
    tool hi { return hi; }
}
server {
    listen unix:%%DIR%%/off.sock;
    tool_trace off;
    tool hi { return hi; }
}
server {
    listen unix:%%DIR%%/outer.sock;
    tool hi { return hi; }
}
tool_trace outer.trace;
END
$tg->conf($conf, stream => $stream)->start;
my %mine;

# Returns the frames of a client: direction, dialect and body of each.
sub of {
    my ($client, $path) = @_;
    my ($first) = grep { ($_->{body} // '') eq $mine{$client} }
        frames($path // "$dir/all.trace");
    return if !$first;
    return map { [ @$_{qw(direction dialect body)} ] }
        frames($path // "$dir/all.trace", '--connection',
            $first->{connection});
}

# Returns a client that is known by its first line.
sub client {
    my ($first) = @_;
    my $client = $tg->connect;
    $mine{$client} = $first;
    return $client;
}

# Returns the next message of ipc, as received.
sub prefixed {
    my ($client) = @_;
    return $client->recv_bytes(unpack 'N', $client->recv_bytes(4));
}

# --- every dialect --------------------------------------------------------

my $hello = '{"jsonrpc":"2.0","id":"first","method":"tools/list"}';
my $rpc = client($hello);
$rpc->send_line("\n$hello");
my @rpc = ([ in => jsonrpc => $hello ],
    [ out => jsonrpc => $rpc->recv_line ]);
my $two = '{"jsonrpc":"2.0","id":2,"method":"ping"}';
$rpc->send_raw("$two\n$two\n");
push @rpc, [ in => jsonrpc => $two ], [ in => jsonrpc => $two ],
    map { [ out => jsonrpc => $rpc->recv_line ] } 1, 2;
my $long = sprintf '{"jsonrpc":"2.0","id":3,"method":"%s"}', 'x' x 100_000;
$rpc->send_line($long);
push @rpc, [ in => jsonrpc => substr $long, 0, 65_536 ],
    [ out => jsonrpc => $rpc->recv_line ];

my $relay = client('{"kind":"mcp_request","id":"1","method":"tools/list"}');
$relay->send_line($mine{$relay});
my @relay =
    ([ in => relay => $mine{$relay} ], [ out => relay => $relay->recv_line ]);

my $call = '{"method":"call_tool","params":{"name":"hi","arguments":{}}}';
my $ipc = client($call);
$ipc->send_raw(pack 'N/a*', $call);
my @ipc = ([ in => ipc => $call ], [ out => ipc => prefixed($ipc) ]);

# --- unusual frames -------------------------------------------------------

my $odd = client('nothing of ours');
$odd->send_line($mine{$odd});
my @odd = ([ in => auto => $mine{$odd} ], [ out => auto => $odd->recv_line ]);
my $large = '{"jsonrpc":"2.0","id":4,"method":"' . ('x' x 10_500_000);
$odd->send_raw($large);
$odd->recv_line;
$odd->send_raw("yyy\"}\n$two\n");
$odd->recv_line;

my $cut = client('begins, and no more');
$cut->send_raw(pack('N', 16_000_000) . $mine{$cut});
my $refused = prefixed($cut);

# --- other workers --------------------------------------------------------

my @workers = map { client_of($tg, $_) } $tg->worker_pids;
$_->call_tool('hi') for @workers;
my $slow = $rpc->request('tools/call', { name => 'slow', arguments => {} });
my @old = $tg->worker_pids;
$tg->reload($conf, stream => $stream);
wait_for { !grep { is_alive($_) } @old } 'the old workers to go';
$rpc->send_line($two);
push @rpc, [ in => jsonrpc => $two ], [ out => jsonrpc => $rpc->recv_line ];
$rpc->notify('notifications/cancelled', { requestId => $slow });
$relay->send_line('{"kind":"mcp_request","id":"2","method":"ping"}');
$relay->recv_line;
my $teller = $tg->connect;
$teller->rpc('news', { n => 1 });

# --- if=, off, and contexts -----------------------------------------------

sub introduce {
    my ($path, $name) = @_;
    my $client = $tg->connect("$dir/$path");
    $client->call_tool('hi');
    $client->rpc('initialize', {
        protocolVersion => '2025-06-18',
        capabilities    => {},
        clientInfo      => { name => $name, version => '1' },
    });
    $client->call_tool('hi');
}
introduce('wanted.sock', $_) for 'wanted', 'other';
$tg->connect("$dir/ipc.sock")->call_tool('hi');
$tg->connect("$dir/ipc.sock")->ipc_call('hi');
$tg->connect("$dir/$_.sock")->call_tool('hi') for qw(off outer);
$tg->stop;

# --- their content --------------------------------------------------------

is_deeply [ (of($rpc))[ 0 .. 7 ] ], [ @rpc[ 0 .. 7 ] ], 'jsonrpc: each frame';
my @moved = grep { $_->{connection} } frames("$dir/all.trace", '--match',
    '"id":2,"method":"ping"');
my %by = map { $_->{worker} => 1 } grep { $_->{direction} eq 'in' } @moved;
my ($number) = map { $_->{connection} } grep { ($_->{body} // '') eq $hello }
    frames("$dir/all.trace");
my @all = frames("$dir/all.trace", '--connection', $number);
my %workers = map { $_->{worker} => 1 } @all;
is keys %workers, 2, 'its connection has one number in both workers';
is_deeply [ map { $_->[2] } grep { $_->[2] =~ /"ping"/ } of($rpc) ],
    [ ($two) x 3 ], 'each frame once';
my ($longest) = sort { $b->{size} <=> $a->{size} } @all;
is $longest->{size}, length $long, 'the size of one, of which';
is length $longest->{body}, 65_536, 'body= leaves a part';
ok !exists $longest->{cut}, 'it came whole';
is_deeply [ (of($relay))[ 0, 1 ] ], \@relay, 'relay';
is_deeply [ of($ipc) ], \@ipc, 'ipc';
my @told = frames("$dir/all.trace", '--out', '--match', '"app/news"');
cmp_ok scalar @told, '>=', 3, 'notifications are traced';

is_deeply [ (of($odd))[ 0, 1 ] ], \@odd, 'no message';
my ($odd_number) = map { $_->{connection} }
    grep { ($_->{body} // '') eq 'nothing of ours' } frames("$dir/all.trace");
my @odd_in = frames("$dir/all.trace", '--connection', $odd_number, '--in');
is scalar @odd_in, 3, 'one that is too large is one frame';
ok $odd_in[1]{cut}, 'which is not all of it';
cmp_ok $odd_in[1]{size}, '>', 10_000_000, 'and has the size that was seen';
is $odd_in[2]{body}, $two, 'and the next one is whole';
is_deeply [ of($cut) ],
    [ [ in => ipc => $mine{$cut} ], [ out => ipc => $refused ] ],
    'one that is announced too large';

my ($any) = frames("$dir/all.trace");
like $any->{time}, qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\z/, 'when';
is $any->{client}, $$, 'whose';
my %seen = map { $_->{worker} => 1 } frames("$dir/all.trace");
cmp_ok scalar keys %seen, '>=', 3, 'of all workers';
ok !(grep { $_->{lost} } frames("$dir/all.trace")), 'nothing is lost';

my @wanted = frames("$dir/wanted.trace");
is join(' ', map { $_->{direction} } @wanted), 'in out in out',
    'if=: since it is known who that is';
ok !(grep { exists $_->{body} } @wanted), 'without body= there is none';
my %dialects = map { $_->{dialect} => 1 } frames("$dir/ipc.trace");
is join(' ', keys %dialects), 'ipc', 'if= by what is spoken';
is scalar(frames("$dir/outer.trace")), 2,
    'what says nothing has that of stream, and not what is off';
is sprintf('%o', (stat "$dir/all.trace")[2] & 07777), '600', 'its mode';

# --- another reader -------------------------------------------------------

SKIP: {
    my $records = records("$dir/all.trace");
    skip 'no python3-msgpack', 3 if !$records;
    my @frames = frames("$dir/all.trace");
    is scalar @$records, scalar @frames, 'python3-msgpack finds as many';
    my @odd = grep { $_->{tg} != 1 || $_->{time} !~ /\A\d{16}\z/ } @$records;
    is_deeply \@odd, [], 'each says what it is, and when it was';
    delete @$_{qw(tg time)} for @$records;
    delete $_->{time} for @frames;
    $_->{cut} = $_->{cut} ? 1 : 0 for @frames, @$records;
    is_deeply $records, \@frames, 'and the same in them';
}

done_testing;
