#!/usr/bin/perl
# A server is started and stopped for each request of an agent, a thousand
# times, while agents are killed at random: nothing is left of descriptors,
# threads, memory, files or processes.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $seed = $ENV{TOOLGATE_STORM_SEED} // int rand 2**31;
my $requests = $ENV{TOOLGATE_TEST_CALLS} // 1000;
srand $seed;
diag "TOOLGATE_STORM_SEED=$seed";

# One request: agents do anything, and may be killed during it.
sub request {
    my ($host) = @_;
    $host->do(rand() < 0.2 ? 'filter echo hang later' : 'filter');
    $host->do('start');
    my @agents = map { $host->connect_to } 1 .. 1 + rand 3;
    for my $agent (@agents) {
        for (1 .. rand 4) {
            my $name = (qw(echo hang later fail big))[ rand 5 ];
            my $call = {
                name => $name, arguments => { text => 'x' x rand 2000 },
            };
            my $text = Toolgate::Client->encode(rand() < 0.3
                ? { method => 'call_tool', params => $call }
                : { jsonrpc => '2.0', id => int rand 9, params => $call,
                    method => 'tools/call' });
            $text = rand() < 0.3 ? pack 'N/a*', $text : "$text\n";
            # Its last message may be incomplete.
            $text = substr $text, 0, rand length $text if rand() < 0.1;
            $agent->send_some($text);
        }
        $agent->shutdown_write if rand() < 0.2;
        $agent->close if rand() < 0.5;
    }
    $host->do('stop');
    $_->close for @agents;
    $host->{events} = [];
}

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind);
    $host->do('tool later');
    # What stays after the first ones, and a first thread.
    request($host) for 1 .. 10;
    $host->do('filter');
    $host->do('start');
    $host->connect_to->call_tool('later');
    $host->do('stop');
    my $before = $host->holds;
    request($host) for 1 .. $requests / @Toolgate::Host::KINDS;
    is_deeply [ $host->files ], [], "$kind: no file is left";
    # Threads of the program's own may still be ending.
    wait_for {
        $host->do('state');
        return $host->holds->{threads} <= $before->{threads};
    } 'the threads';
    is $host->holds->{fds}, $before->{fds}, "$kind: no descriptor is left";
    is $host->do("cycles $requests"), 'ok',
        "$kind: as many times without clients";
    $host->do('state');
    is $host->holds->{fds}, $before->{fds}, "$kind: no descriptor is left";
    $host->do('start');
    is $host->connect_to->call_tool('echo', { text => 'on' })
        ->{result}{content}[0]{text}, 'on', "$kind: it serves as ever";
    $host->stop;
    is_deeply [ $host->files ], [], "$kind: nothing is left";
}

done_testing;
