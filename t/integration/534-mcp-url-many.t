#!/usr/bin/perl
# Many calls at once over HTTP: those above the limit wait, cancelled ones are
# never sent, and nothing is left.

use Toolgate::Test qw(McpWeb);

my $tg = Toolgate::Test->new(workers => 2);
my %web = (
    events => Toolgate::McpWeb->new($tg),
    json   => Toolgate::McpWeb->new($tg, 'modern', 'json'),
);
$tg->conf(join "\n", map {
    "mcp_server $_ { url @{[ $web{$_}->url ]}; timeout 60s; }"
} sort keys %web)->start;
my $client = $tg->connect;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    2 == grep { $_->{name} =~ /_echo$/ } @$tools;
} 'the tools of both';

sub sent {
    my ($name, $tool) = @_;
    return scalar grep { $_->{message}{params}{name} eq $tool }
        $web{$name}->requests('tools/call');
}

for my $name (sort keys %web) {
    my @held = map {
        $client->request('tools/call', { name => "${name}_hang" })
    } 1 .. 128;
    wait_for { sent($name, 'hang') == 128 } "$name: as many as there may be";
    my @waiting = map {
        $client->request('tools/call', { name => "${name}_echo",
            arguments => { n => $_ } })
    } 1 .. 20;
    my $never = $client->request('tools/call', { name => "${name}_pid" });
    $client->notify('notifications/cancelled', { requestId => $never });
    $client->rpc('ping');
    is sent($name, 'echo'), 0, "$name: others wait";
    $client->notify('notifications/cancelled', { requestId => $_ }) for @held;
    is join(' ', map {
        $client->reply($_)->{result}{structuredContent}{arguments}{n}
    } @waiting), join(' ', 1 .. 20), "$name: until there is room";
    is sent($name, 'pid'), 0, "$name: what was cancelled is not sent";
    wait_for { 128 == grep { $_->{of} eq 'tools/call' }
        $web{$name}->requests('GONE') } "$name: all streams are closed";
}

# Neither descriptors nor memory.
my $runner = $tg->runner_pid;
sub round {
    my ($n) = @_;
    for my $name (sort keys %web) {
        my @ids = map {
            $client->request('tools/call', { name => "${name}_echo",
                arguments => { fill => 'x' x 1000 } })
        } 1 .. $n;
        my $right = grep {
            length $client->reply($_)->{result}{structuredContent}
                {arguments}{fill} == 1000
        } @ids;
        is $right, $n, "$name: $n calls at once";
    }
}
round(100);
# Allocators keep the memory of a peak; a leak grows each time.
my $most = $ENV{ASAN_OPTIONS} ? 80_000 : 4_000;
my $grown;
for (1 .. 3) {
    my $before = rss_kb($runner);
    round(100) for 1 .. 5;
    $grown = rss_kb($runner) - $before;
    last if $grown < $most;
}
cmp_ok $grown, '<', $most, 'the runner does not grow';
cmp_ok fd_count($runner), '<', 160, 'nor do its descriptors';
done_testing;
