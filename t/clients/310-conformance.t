#!/usr/bin/perl
# MCP's official conformance suite, over stdio, with what conformance.conf
# declares: each scenario about tools, prompts, resources, templates,
# completion, caching and subscriptions, in both eras, and about skills.

use Toolgate::Test qw(Conformance);

# Scenarios of the suite that need what Toolgate does not offer on stdio.
my $not_offered = qr/^(?:tasks-|http-|dns-rebinding)
    |^(?:logging-set-level|tools-call-with-logging
    |server-(?:session-lifecycle|sse-polling))$/x;

# Checks of statuses of HTTP, which the test's own front sends.
my $not_offered_check = qr/missing-capability-http/;

my $tg = Toolgate::Test->new(workers => 2);
my $body = conformance_conf($tg);
$tg->conf($body)->start;

for my $revision (qw(2025-11-25 2026-07-28)) {
    my @suite = ($tg, $revision, [ $tg->bridge_path, $tg->socket_path ]);
    my $checks = conformance_checks(@suite);
    for my $name (grep { !/$not_offered/ } sort keys %$checks) {
        my @checks = timed_checks($checks->{$name}, $name, @suite);
        @checks = grep { $_->{id} !~ $not_offered_check } @checks;
        my @failed = failed_checks(@checks);
        my $passed = grep { $_->{status} eq 'SUCCESS' } @checks;
        ok $passed && !@failed, "$revision: $name"
            or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"}
            @failed);
    }
}

for my $name (map {"sep-2640-skills-$_"} qw(enumeration manifest directory)) {
    my @checks = @{ conformance_checks($tg, '2026-07-28',
            [ $tg->bridge_path, $tg->socket_path ], $name)->{$name} };
    my @failed = failed_checks(@checks);
    my @passed = grep { $_->{status} eq 'SUCCESS' } @checks;
    ok @passed > 5 && !@failed, "2026-07-28: $name"
        or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"} @failed);
}

done_testing;
