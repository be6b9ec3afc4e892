#!/usr/bin/perl
# Clients that begin a frame and do not end it: each is closed in time, and no
# trickle of bytes puts that off.  Who is silent stays, unless the config says
# for how long it may be.

use Toolgate::Test;

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);
my $tool = <<'END';
tool hi { return hi; }
tool nap { exec sleep 2.5; }
END

# Sends bytes each 50 ms until all clients are closed; how long each was open.
sub open_times {
    my ($bytes, @clients) = @_;
    my $start = time;
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

# NGINX's clock is read once an event, so that a timer may be early by some
# milliseconds; a machine under load may be late by any time.
sub is_about {
    my ($time, $wanted, $name) = @_;
    isnt $time, 'for ever', "$name: it is closed";
    cmp_ok $time, '>', $wanted - 0.1, "$name: not too early"
        if $time ne 'for ever';
}

sub closes {
    my ($client) = @_;
    my $start = time;
    ok $client->at_eof, 'it is closed without a word';
    return time - $start;
}

# --- half a frame ---------------------------------------------------------

$tg->conf("tool_idle_timeout off frame=2s;\n$tool")->start;
my $mute = $tg->connect;
my @begun = ('{', "\0", "\0\0\xff\0abc");
my @clients = map { $tg->connect } @begun;
$clients[$_]->send_raw($begun[$_]) for 0 .. $#begun;
is_about($_, 2, 'half a frame') for open_times('', @clients);
like $tg->log, qr/sent no whole frame in time \(tool_idle_timeout frame=\)/,
    'the log says it';

@clients = map { $tg->connect } @begun;
$clients[$_]->send_raw($begun[$_]) for 0 .. $#begun;
is_about($_, 2, 'half a frame that trickles in')
    for open_times('x', @clients);

# After a whole one too; but silence between frames is no mistake here.
my $quiet = $tg->connect;
is text_of($quiet->call_tool('hi')), 'hi', 'a whole frame';
my $client = $tg->connect;
is text_of($client->call_tool('hi')), 'hi', 'another one';
$client->send_raw('{"jsonrpc":');
is_about($_, 2, 'half a second frame') for open_times(' ', $client);
is text_of($quiet->call_tool('hi')), 'hi', 'the silent one is still there';

# While a call runs it may wait with the rest.
$client = $tg->connect;
my $id = $client->request('tools/call', { name => 'nap' });
$client->send_raw('{"jsonrpc":');
is text_of($client->reply($id)), '', 'half a frame during a call';
is_about(closes($client), 2, 'when the call has ended');
is text_of($mute->call_tool('hi')), 'hi', 'who has not spoken yet may still';
$tg->stop;

# --- silence --------------------------------------------------------------

$tg->conf("tool_idle_timeout 2s frame=600s;\n$tool")->start;
$client = $tg->connect;
is text_of($client->call_tool('hi')), 'hi', 'it says something';
is_about(closes($client), 2, 'then nothing');
like $tg->log, qr/client was silent \(tool_idle_timeout\)/, 'the log says it';
is_about(closes($tg->connect), 2, 'nothing at all');

$client = $tg->connect;
my $start = time;
while (time - $start < 3) {
    $client->call_tool('hi')->{result} or last;
    $client->fill(time + 0.3);
}
is text_of($client->call_tool('hi')), 'hi', 'who says something stays';
is text_of($client->call_tool('nap')), '', 'and who waits for an answer';
is_about(closes($client), 2, 'then nothing again');

done_testing;
