#!/usr/bin/perl
# MCP's official conformance suite straight at a location with mcp_pass, with
# what conformance.conf declares, in both eras.

use Toolgate::Test qw(Conformance Tls);
use Toolgate::HttpClient;

# Scenarios of what is not offered: tasks, and what needs sessions.
my $not_offered = qr/\ tasks-
    |\ (?:tools-call-(?:sampling|elicitation)
        |elicitation-.*|server-(?:session-lifecycle|sse-polling)
        |resources-(?:un)?subscribe
        |logging-set-level|tools-call-with-logging)$
    |^2025-11-25\ server-sse-multiple-streams$/x;

my $tg = Toolgate::Test->new(workers => 2);
my $body = conformance_conf($tg);
my $port;
$tg->allow_log(qr/request rejected|message rejected/);
start_on_ports($tg, sub {
    $port = free_port();
    return ($body, main => http_block($tg,
            'location = /mcp { mcp_pass unix:' . $tg->socket_path . '; }'
            . 'location = /modern { mcp_legacy off; mcp_pass unix:'
            . $tg->socket_path . '; }', listen => "listen 127.0.0.1:$port;"));
});

for (
    [ '2025-11-25', 'mcp' ],
    [ '2026-07-28', 'mcp' ],
    [ '2026-07-28', 'modern' ],
    )
{
    my ($revision, $path) = @$_;
    my @suite = ($tg, $revision, "http://localhost:$port/$path");
    my $checks = conformance_checks(@suite);
    for my $name (grep {"$revision $_" !~ $not_offered} sort keys %$checks) {
        my @checks = timed_checks($checks->{$name}, $name, @suite);
        my @failed = failed_checks(@checks);
        my $passed = grep { $_->{status} eq 'SUCCESS' } @checks;
        ok $passed && !@failed, "$revision, $path: $name"
            or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"}
            @failed);
    }
}

done_testing;
