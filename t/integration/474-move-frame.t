#!/usr/bin/perl
# A message that a reload cuts anywhere: its beginning moves with the session,
# and the rest goes to the new worker.

use Toolgate::Test qw(Move);

my $tg = Toolgate::Test->new;

sub body {
    my ($n) = @_;
    my $do = "return \"$n \$tool_arg_n\";";
    return 'tool_idle_timeout off frame=1h; '
        . "tool n { description \"N.\"; $do } method n { $do output text; }";
}

# A request in each dialect, with extra length.
my %request = (
    ipc => sub {
        my ($pad) = @_;
        my $json = '{"method":"call_tool","params":{"name":"n","arguments":'
            . qq({"n":"m","pad":"$pad"}}});
        return pack('N', length $json) . $json;
    },
    rpc => sub {
        my ($pad) = @_;
        return '{"jsonrpc":"2.0","id":1,"method":"n","params":'
            . qq({"n":"m","pad":"$pad"}}\n);
    },
    mcp => sub {
        my ($pad) = @_;
        return '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
            . qq({"name":"n","arguments":{"n":"m","pad":"$pad"}}}\n);
    },
    relay => sub {
        my ($pad) = @_;
        return '{"kind":"mcp_request","id":1,"method":"tools/call",'
            . '"params":{"name":"n",'
            . qq("arguments":{"n":"m","pad":"$pad"}}}\n);
    },
);

sub answer {
    my ($dialect, $client) = @_;
    my $reply = $dialect eq 'ipc' ? $client->recv_ipc : $client->recv_json;
    return ref $reply->{result} ? text_of($reply) : $reply->{result};
}

$tg->conf(body(0))->start;

# --- small messages, cut at many places -----------------------------------

# Half of them have called before; for the others it is the first message.
my @cut;
for my $dialect (sort keys %request) {
    my $bytes = $request{$dialect}->("\x{e2}\x{98}\x{83}");
    my $size = length $bytes;
    for my $at (1 .. 9, 20, $size / 2, $size - 7 .. $size - 1) {
        my $client = $tg->connect;
        if ($at % 2) {
            $client->send_raw($bytes);
            is answer($dialect, $client), '0 m', "$dialect: before";
        }
        $client->send_raw(substr $bytes, 0, $at);
        push @cut, [ $dialect, $at, $client, $bytes ];
    }
}
move($tg, body(1));
for (@cut) {
    my ($dialect, $at, $client, $bytes) = @$_;
    $client->send_raw(substr $bytes, $at);
    is answer($dialect, $client), '1 m', "$dialect: cut at $at";
}

# --- a message that is cut repeatedly, and others after it ----------------

my %client = map { $_ => $tg->connect } keys %request;
my %bytes = map { $_ => $request{$_}->('x' x 60) x 3 } keys %request;
my $n = 1;
for my $part (0 .. 4) {
    for my $dialect (keys %client) {
        my $step = int(length($bytes{$dialect}) / 5);
        $client{$dialect}->send_raw(substr $bytes{$dialect}, $part * $step,
            $part == 4 ? length $bytes{$dialect} : $step);
    }
    move($tg, body(++$n)) if $part < 4;
}
for my $dialect (sort keys %client) {
    my @answers = map { answer($dialect, $client{$dialect}) } 1 .. 3;
    like "@answers", qr/^[234] m [345] m 5 m$/, "$dialect: in five pieces";
}

# --- the largest message --------------------------------------------------

for my $dialect (sort keys %request) {
    my $room = ($dialect eq 'relay' ? 1 << 20 : 10 << 20) - 200;
    my $bytes = $request{$dialect}->('y' x $room);
    my $client = $tg->connect;
    my $half = int(length($bytes) / 2);
    $client->send_raw(substr($bytes, 0, $half), 60);
    move($tg, body(++$n));
    $client->send_raw(substr($bytes, $half, 100_001), 60);
    move($tg, body(++$n));
    $client->send_raw(substr($bytes, $half + 100_001), 60);
    is answer($dialect, $client), "$n m", "$dialect: half of the largest";
}

# --- a message that is too large, while it arrives ------------------------

my %large = map { $_ => $tg->connect } qw(rpc relay);
for my $dialect (keys %large) {
    $large{$dialect}->send_raw($request{$dialect}->(''));
    is answer($dialect, $large{$dialect}), "$n m", "$dialect: before";
}
$large{$_}->send_raw($request{$_}->('z' x (11 << 20)) =~ s/\n//r, 60)
    for keys %large;
move($tg, body(++$n));
$large{$_}->send_raw("zzz\n" . $request{$_}->('')) for keys %large;
is $large{$_}->recv_json->{error}{code}, -32600, "$_: too large"
    for sort keys %large;
is answer('rpc', $large{rpc}), "$n m", 'rpc: the next one';
is answer('relay', $large{relay}), "$n m", 'relay: the next one';

done_testing;
