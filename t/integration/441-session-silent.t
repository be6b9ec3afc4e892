#!/usr/bin/perl
# Clients that begin a frame and do not end it are closed in time, even if bytes
# trickle in. Idle clients stay, unless the config limits that.

use Toolgate::Test;

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);
my $tool = <<'END';
tool hi { return hi; }
tool nap { exec sleep 2.5; }
END

# Sends bytes each 50 ms until all clients are closed. Returns how long each was
# open, from before it began its frame.
sub open_times {
    my ($start, $bytes, @clients) = @_;
    my %open = map { $_ => $_ } @clients;
    my %time;
    while (%open && time - $start < 60) {
        for my $client (values %open) {
            local $SIG{PIPE} = 'IGNORE';
            eval { $client->send_raw($bytes) };
            $client->fill(time);
            next if !$client->{eof};
            $time{$client} = time - $start;
            delete $open{$client};
        }
        select undef, undef, undef, 0.05;
    }
    return map { $time{$_} // 'for ever' } @clients;
}

# NGINX's clock is read once per event, so that a timer may be some milliseconds
# early; a busy machine may be late by any time.
sub is_about {
    my ($time, $wanted, $name) = @_;
    isnt $time, 'for ever', "$name: it is closed";
    cmp_ok $time, '>', $wanted - 0.1, "$name: not too early"
        if $time ne 'for ever';
}

# Returns the time since before the last byte was sent.
sub closes {
    my ($start, $client) = @_;
    ok $client->at_eof, 'it is closed without a word';
    return time - $start;
}

# --- half a frame ---------------------------------------------------------

$tg->conf("tool_idle_timeout off frame=2s;\n$tool")->start;
my $mute = $tg->connect;
my @begun = ('{', "\0", "\0\0\xff\0abc");
my @clients = map { $tg->connect } @begun;
my $start = time;
$clients[$_]->send_raw($begun[$_]) for 0 .. $#begun;
is_about($_, 2, 'half a frame') for open_times($start, '', @clients);
like $tg->log, qr/sent no complete frame in time \(tool_idle_timeout frame=\)/,
    'the log says it';

@clients = map { $tg->connect } @begun;
$start = time;
$clients[$_]->send_raw($begun[$_]) for 0 .. $#begun;
is_about($_, 2, 'half a frame that trickles in')
    for open_times($start, 'x', @clients);

# Also after a whole frame; but silence between frames is allowed.
my $quiet = $tg->connect;
is text_of($quiet->call_tool('hi')), 'hi', 'a whole frame';
my $client = $tg->connect;
is text_of($client->call_tool('hi')), 'hi', 'another one';
$start = time;
$client->send_raw('{"jsonrpc":');
is_about($_, 2, 'half a second frame')
    for open_times($start, ' ', $client);
is text_of($quiet->call_tool('hi')), 'hi', 'the silent one is still there';

# While a call runs, the rest of a frame may come later.
$client = $tg->connect;
$start = time;
my $id = $client->request('tools/call', { name => 'nap' });
$client->send_raw('{"jsonrpc":');
is text_of($client->reply($id)), '', 'half a frame during a call';
is_about(closes($start, $client), 2.5 + 2, 'when the call has ended');
is text_of($mute->call_tool('hi')), 'hi', 'who has not spoken yet may still';
$tg->stop;

# --- bridges ----------------------------------------------------------------

# Each is silent for longer than a frame may take: a frame that began before the
# silence would be closed first.
my $from = $tg->log_size;
$tg->conf("tool_idle_timeout off frame=1s;\n$tool")->start;
my %bridge = (
    jsonrpc => $tg->bridge,
    relay   => $tg->bridge([], {
        TOOLGATE_SOCKET   => undef,
        AC7_RUNNER_SOCKET => $tg->socket_path,
    }),
);

sub is_served {
    my ($when) = @_;
    is text_of($bridge{$_}->call_tool('hi')), 'hi', "a bridge, $_, $when"
        for sort keys %bridge;
}

sub frame_passes {
    my $begun = $tg->connect;
    $begun->send_raw('{');
    ok $begun->at_eof, 'the time of a frame passes';
}
$bridge{$_}->rpc('initialize', { protocolVersion => '2025-11-25' })
    for sort keys %bridge;
is_served('at first');
frame_passes();
is_served('that was silent');
frame_passes();
$tg->reload;
# The old worker logs it when it exits.
ok $tg->wait_log(qr/2 sessions moved/, $from),
    'a reload, while they are silent';
frame_passes();
is_served('that was silent before a reload and behind it');
is scalar(() = $tg->log($from) =~ /sent no complete frame in time/g), 3,
    'no other client was closed for that';
$_->stop for values %bridge;
$tg->stop;

# --- silence --------------------------------------------------------------

$tg->conf("tool_idle_timeout 2s frame=600s;\n$tool")->start;
$client = $tg->connect;
$start = time;
is text_of($client->call_tool('hi')), 'hi', 'it says something';
is_about(closes($start, $client), 2, 'then nothing');
like $tg->log, qr/client sent nothing in time \(tool_idle_timeout\)/, 'the '
    . 'log says it';
$start = time;
is_about(closes($start, $tg->connect), 2, 'nothing at all');

# The machine may be too slow: only clients in time must stay.
my $is_in_time;
for my $try (1 .. 20) {
    $client = $tg->connect;
    $start = my $said = time;
    $is_in_time = 1;
    while ($is_in_time && time - $start < 3) {
        my $is_there = eval { $client->call_tool('hi')->{result} };
        $is_in_time = time - $said < 1.9;
        die $@ if !$is_there && $is_in_time;
        $said = time;
        $client->fill(time + 0.3);
    }
    last if $is_in_time;
}
ok $is_in_time, 'who says something stays';
$start = time;
is text_of($client->call_tool('nap')), '', 'and who waits for an answer';
is_about(closes($start, $client), 2.5 + 2, 'then nothing again');

done_testing;
