#!/usr/bin/perl
# A program as the backend of a `pass`: when it stops, each started call is
# answered, and others are sent to another backend.

use Toolgate::Test qw(Host);

my $tg = Toolgate::Test->new(workers => 1);
my $many = 100;

sub said { return $_[0]{result}{content}[0]{text} }

my $other = Toolgate::Host->start($tg, 'thread');
$other->do('start');
my ($conf, $upstreams, %host) = ('', '');
for my $kind (@Toolgate::Host::KINDS) {
    $host{$kind} = Toolgate::Host->start($tg, $kind);
    my @paths = map { $_->socket_path } $host{$kind}, $other;
    $upstreams .= "upstream $kind { server unix:$paths[0] max_fails=0; "
        . "server unix:$paths[1] backup; }\n";
    $conf .= <<"END";
tool hang_$kind { description x; timeout 600s; pass $kind name=hang; }
tool echo_$kind { description x; timeout 600s; pass $kind name=echo; }
method stop_$kind { timeout 600s; pass $kind name=host.stop; }
END
}
$tg->conf("tool_max_inflight 1000; $conf", stream => $upstreams)->start;

for my $kind (@Toolgate::Host::KINDS) {
    my $host = $host{$kind};
    $host->do('start');
    my $client = $tg->connect;
    my $hang = $client->request('tools/call', { name => "hang_$kind" });
    $host->event(qr/^hangs/);

    # More than one read takes, so that it has only some when it stops.
    my @texts = map { "$_ " . 'x' x 4000 } 1 .. $many;
    $client->send_raw(join '', map { Toolgate::Client->encode($_) . "\n" }
            { jsonrpc => '2.0', id => 'stop', method => "stop_$kind" },
            map +{
                jsonrpc => '2.0', id => "e$_", method => 'tools/call',
                params  => {
                    name      => "echo_$kind",
                    arguments => { text => $texts[$_] },
                },
            }, 0 .. $#texts);
    is_deeply $client->reply('stop')->{result},
        { stopping => JSON::PP::true },
        "$kind: it stops in the midst of calls";
    is $host->answer, '= ok', 'it has stopped';
    like said($client->reply($hang)), qr/^hang: the server was stopped/,
        'the call that ran is answered';
    my @wrong = grep {
        (said($client->reply("e$_")) // '') ne $texts[$_]
    } 0 .. $#texts;
    is "@wrong", '', 'all others, too, by it or the other one';
    ok $client->is_silent(0.05), 'once each';

    # The notice that it sends for that, and to whom.
    $host->do('start');
    my $pass = $host->connect_to;
    $pass->notify('notifications/toolgate/hello',
        { resends => JSON::PP::true });
    $hang = $pass->request('tools/call', { name => 'hang' });
    $host->event(qr/^hangs/);
    $host->do('stop');
    like said($pass->reply($hang)), qr/stopped/, 'its calls are answered first';
    is $pass->notification('notifications/toolgate/closing')->{params}{reason},
        'the server was stopped', 'then it promises that nothing else began';
    ok $pass->at_eof, 'and goes';

    # More than a socket takes: it waits for the reader.
    $host->do('start');
    $pass = $host->connect_to;
    $pass->notify('notifications/toolgate/hello');
    my @ids = map {
        $pass->request('tools/call',
            { name => 'echo', arguments => { text => $_ } })
    } @texts;
    $hang = $pass->request('tools/call', { name => 'hang' });
    $host->event(qr/^hangs/);
    $host->send_raw("stop\n");
    @wrong = grep {
        (said($pass->reply($ids[$_])) // '') ne $texts[$_]
    } 0 .. $#texts;
    is "@wrong", '', 'who has not read his answers yet gets them';
    like said($pass->reply($hang)), qr/stopped/, 'the last one, too';
    ok $pass->notification('notifications/toolgate/closing'),
        'and the farewell';
    is $host->answer, '= ok', 'then it has stopped';
    $host->stop;
}
$other->stop;

done_testing;
