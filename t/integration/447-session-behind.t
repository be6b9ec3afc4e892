#!/usr/bin/perl
# A request after one with a large response is answered when the client has read
# that, whatever its size and however it was sent.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new(workers => 1);
# Each waits for those before it, on a slow machine for minutes.
$tg->conf('tool_idle_timeout off frame=1h; tool_send_timeout 1h; '
        . 'tool echo { description "E."; return $tool_arg_text; } '
        . 'tool n { description "N."; return $tool_arg_n; }')->start;

for my $size (200_000, 300_000, 440_000, 470_000, 500_000, 1_000_000,
    8_000_000)
{
    for my $way (Toolgate::Way->all($tg)) {
        my $name = $way->name . " $size";
        next if $way->name eq 'relay' && $size > 1_000_000;
        my $text = 'x' x $size;
        my $first = $way->start('echo', { text => $text });
        my @behind = map { $way->start('n', { n => $_ }) } 1 .. 3;
        my $client = $way->client;
        # Nothing is read until the socket is full.
        wait_for { $client->fill(0); length $client->buffered }
            'the beginning of the answer';
        ok $way->finish($first)->{text} eq $text, "$name: the answer";
        is $way->finish($behind[ $_ - 1 ])->{text}, $_, "$name: behind it"
            for 1 .. 3;
        $client->close;
    }
}

done_testing;
