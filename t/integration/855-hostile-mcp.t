#!/usr/bin/perl
# MCP servers that flood the runner, by URL and on stdio: while a flood goes
# on, another client's program is answered, the flooded call ends at its
# timeout, and the runner's memory stays within its bound.

use Toolgate::Test;
use Toolgate::Flood;

# Bytes that one flood may make the runner keep, in KiB.
my $most = 98_304;

my $tg = Toolgate::Test->new(workers => 1);
my $flood = Toolgate::Flood->new($tg);
my @kinds = qw(blank brackets pings roots asks notes changes progress answers
    long endless);
my @conf;
for my $kind (@kinds) {
    push @conf, "mcp_server u_$kind { url @{[ $flood->url($kind) ]};"
        . ' roots /tmp; timeout 2s; }';
    push @conf, "mcp_server s_$kind { exec @{[ $flood->stdio($kind) ]};"
        . ' roots /tmp; timeout 2s; }';
}
my $stderr = $flood->stdio('numbers', 'stderr');
push @conf, "mcp_server stderr { exec $stderr; timeout 2s; }";
# Floods where nobody has called: on the channel, and in the handshake.
my %hello = (
    channel => $flood->url('pings', 'GET'),
    hello   => $flood->url('notes', 'initialize'),
    list    => $flood->url('blank', 'tools/list'),
);
$tg->conf(join "\n", 'tool run { exec echo hello; }', @conf)->start;

my $caller = $tg->connect;
my $other = $tg->connect;
my @names = ((map { ("u_$_", "s_$_") } @kinds), 'stderr');
wait_for {
    my $tools = $caller->rpc('tools/list')->{result}{tools};
    @names == grep { $_->{name} =~ /_go$/ } @$tools;
} 'the tools of all';
$other->call_tool('run');
my $runner = $tg->runner_pid;

sub run_ok {
    my ($what) = @_;
    my $reply = $other->call_tool('run');
    return ($reply->{result}{content}[0]{text} // '') eq "hello\n";
}

for my $name (@names) {
    my $before = rss_kb($runner);
    my $id = $caller->request('tools/call', { name => "${name}_go" });
    my ($n, $peak) = (0, $before);
    while (!$caller->buffered) {
        run_ok() or last;
        $n++;
        my $rss = rss_kb($runner);
        $peak = $rss if $rss > $peak;
        select undef, undef, undef, 0.02;
        $caller->is_silent(0) or last;
    }
    ok run_ok(), "$name: another client is served";
    my $reply = $caller->reply($id);
    ok $reply->{error} || $reply->{result}{isError},
        "$name: the call ends without a result";
    my $text = $reply->{error} ? $reply->{error}{message}
        : $reply->{result}{content}[0]{text};
    diag sprintf '%s: %d other calls, %d KiB more; %s', $name, $n,
        $peak - $before, substr $text, 0, 60;
    SKIP: {
        skip 'memory is not comparable', 1 if Toolgate::Test::is_san();
        cmp_ok $peak - $before, '<', $most, "$name: memory";
    }
}
is $tg->runner_pid, $runner, 'the runner is the same';

# One after the other, as each of them floods for good.
for my $where (sort keys %hello) {
    $tg->conf("tool run { exec echo hello; }\n"
        . "mcp_server $where { url $hello{$where}; }")->reload;
    $other = $tg->connect;
    my $before = rss_kb($runner);
    my $peak = $before;
    for (1 .. 100) {
        run_ok() or last;
        my $rss = rss_kb($runner);
        $peak = $rss if $rss > $peak;
        select undef, undef, undef, 0.02;
    }
    ok run_ok(), "$where: another client is served";
    SKIP: {
        skip 'memory is not comparable', 1 if Toolgate::Test::is_san();
        cmp_ok $peak - $before, '<', $most, "$where: memory";
    }
    diag "$where: @{[ $peak - $before ]} KiB more";
}
is $tg->runner_pid, $runner, 'the runner is still the same';

done_testing;
