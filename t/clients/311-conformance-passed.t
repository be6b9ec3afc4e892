#!/usr/bin/perl
# MCP's official conformance suite against a server with MCP's own SDK, behind
# an mcp_server block: each scenario passes as it does without Toolgate between.

use Toolgate::Test qw(Conformance);

# What Toolgate passes on; conformance.conf has what it declares itself.
my @scenarios = qw(
    tools-list tools-call-simple-text tools-call-image tools-call-audio
    tools-call-embedded-resource tools-call-mixed-content tools-call-error
    prompts-list prompts-get-simple prompts-get-with-args
    prompts-get-embedded-resource prompts-get-with-image
    resources-list resources-read-text resources-read-binary
    resources-templates-read completion-complete);
my %only = (
    '2025-11-25' => [qw(resources-subscribe resources-unsubscribe)],
    '2026-07-28' => [qw(caching sep-2164-resource-not-found)],
);

my $tg = Toolgate::Test->new(workers => 2);
my @server = ('node', Toolgate::Test::top() . '/t/clients/everything.mjs');
$tg->conf("mcp_server sdk { exec @server test_; prefix test_; "
        . 'prompts *; resources *; }')->start;
wait_for {
    my $client = $tg->connect;
    my $tools = $client->rpc('tools/list')->{result}{tools};
    return @$tools > 1;
} 'the tools of the server';

# The same suite without Toolgate takes minutes.
my %commands = (
    passed => [ $tg->bridge_path, $tg->socket_path ],
    $ENV{TOOLGATE_SUITE_DIRECT} ? (direct => \@server) : (),
);

for my $revision (sort keys %only) {
    for my $way (sort keys %commands) {
        my $checks = conformance_checks($tg, $revision, $commands{$way});
        for my $name (@scenarios, @{ $only{$revision} }) {
            my @failed = grep { $_->{status} !~ /^(?:SUCCESS|INFO)$/ }
                @{ $checks->{$name} };
            ok $checks->{$name} && !@failed, "$revision, $way: $name"
                or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"}
                @failed);
        }
    }
}

done_testing;
