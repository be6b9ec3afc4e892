#!/usr/bin/perl
# A server that does not read requests of libtoolgate's client: requests that
# nobody waits for do not fill the program's memory.

use Toolgate::Test qw(Host);
use Toolgate::Parent qw(give);

my $tg = Toolgate::Test->new;

for my $kind (@Toolgate::Host::KINDS) {
    my $path = $tg->dir . "/$kind.sock";
    my $parent = Toolgate::Parent->new($path);
    my $host = Toolgate::Host->start($tg, $kind);
    $host->do("client new $path");
    $host->send_raw("client open\n");
    my $conn = $parent->accept;
    give($conn, 'initialize', {});
    is $host->answer, '= ok', "$kind: it is open";
    $host->event(qr/^connected/);
    # They have more than 64 MiB, and each is cancelled soon.
    my $text = 'x' x 60_000;
    $host->do(qq(client begin 100 call t {"text":"$text"})) for 1 .. 1130;
    like $host->event(qr/^answered \d+ BlockingIOError/),
        qr/ does not read its requests; the request was not executed/,
        'it is asked no more';
    like $host->event(qr/^answered \d+ Time/), qr/the request was cancelled/,
        'those before it were';
    $host->stop;
}

done_testing;
