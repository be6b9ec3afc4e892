#!/usr/bin/perl
# A program whose memory ends at some allocation while a client connects, calls
# and closes: a client that cannot be served is closed or waits, and the next
# one is served.

use Toolgate::Test qw(Host Faults);

my $tg = Toolgate::Test->new;
my $faults = Toolgate::Faults->new($tg);

# Returns the response to a client: a text, or undef if it is closed.
sub talk {
    my ($path) = @_;
    my $client = Toolgate::Client->connect($path);
    my $text = eval {
        my $reply = $client->call_tool('echo', { text => 'hi' });
        $reply->{result} ? $reply->{result}{content}[0]{text}
            : $reply->{error}{message};
    };
    return $text;
}

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind, env => {
        %{ $tg->env },
        %{ $tg->san_env('detect_leaks=0', 'verify_asan_link_order=0') },
    });
    $host->do('start');
    my $path = $host->socket_path;
    is talk($path), 'hi', "$kind: it serves";
    wait_for { $host->do('clients') == 0 } 'its end';
    my ($n, $failed, $again, $lost) = (0, 1, 0, 0);
    while ($failed && $n < 500) {
        $faults->arm($host->pid, alloc => ++$n);
        my $text = talk($path) // '';
        $failed = $faults->failed;
        $faults->calm;
        $lost++ if $text ne 'hi';
        $again++ if talk($path) eq 'hi';
        wait_for { $host->do('clients') == 0 } 'the end of both';
    }
    is $failed, 0, "each of $n allocations was tried" or diag $n;
    cmp_ok $lost, '>', 0, 'some clients were not served, or told why';
    is $again, $n, 'but the next one always';
    ok scalar($host->events(qr/^report \w+ out of memory for a client/)),
        'one was waited for that there was no memory for at all';
    $host->stop;
    is_deeply [ $host->files ], [], 'nothing is left';
}

done_testing;
