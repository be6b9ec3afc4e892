#!/usr/bin/perl
# MCP's official conformance suite, over stdio, with what conformance.conf
# declares: each scenario about tools, prompts, resources, templates,
# completion, caching and subscriptions, in both eras, and about skills.

use Toolgate::Test qw(Conformance);

use MIME::Base64 qw(decode_base64);
use POSIX ();

# Scenarios of the suite that need what Toolgate does not offer on stdio.
my $not_offered = qr/^(?:tasks-|input-required-result-|http-|dns-rebinding)
    |^(?:logging-set-level|tools-call-(?:with-logging|sampling|elicitation)
        |elicitation-.*|server-(?:session-lifecycle|sse-polling))$/x;

# Checks of requests that need a capability of the client, which no tool of a
# config can demand.
my $not_offered_check =
    qr/rejects-undeclared-capability|missing-capability-http/;

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my %data = (
    PNG => 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dw'
        . 'HwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
    WAV => 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=',
);
(my $body = slurp(Toolgate::Test::top() . '/t/clients/conformance.conf'))
    =~ s/%%(PNG|WAV)%%/$data{$1}/g;
$tg->file('red.png', decode_base64($data{PNG}));
$tg->file('watched.txt', "first\n");
mkdir "$dir/$_" or die $! for qw(skills skills/demo-skill
    skills/demo-skill/scripts);
$tg->file('skills/demo-skill/SKILL.md', <<'END');
---
name: demo-skill
description: Shows what a skill is.
metadata:
  version: "1"
---
# Demo

Run scripts/hi.sh.
END
$tg->file('skills/demo-skill/scripts/hi.sh', "echo hi\n");
$tg->file('progress', <<'END', 0755);
#!/bin/sh
for n in 0 50 100; do
    printf '{"progress":%d,"total":100}\n' $n >&"$TOOL_PROGRESS_FD"
    sleep 0.1
done
END

# Reads from a pipe what the tools say that change a list, declares one more
# tool or prompt, and reloads: programs of tools may not.
POSIX::mkfifo("$dir/changes", 0622) or die "mkfifo: $!\n";
chmod 0622, "$dir/changes";
my $changer = $tg->spawn({}, '/bin/sh', '-c', <<'END', $dir);
cd "$0"
n=0
exec 3<>changes
while read what body <&3; do
    n=$((n + 1))
    echo "$what extra$n { description 'Number $n.'; $body; }" >new
    mv new changed-$what.conf
    kill -HUP $(cat nginx.pid)
done
END
$tg->conf($body)->start;

# Checks whether a reload is over within 0.8 s, which no busy machine promises.
my $is_timed = qr/list-changed-on-subscription/;

sub failed {
    return grep { $_->{status} =~ /^(?:FAILURE|WARNING)$/ } @_;
}

for my $revision (qw(2025-11-25 2026-07-28)) {
    my @suite = ($tg, $revision, [ $tg->bridge_path, $tg->socket_path ]);
    my $checks = conformance_checks(@suite);
    for my $name (grep { !/$not_offered/ } sort keys %$checks) {
        my @checks = @{ $checks->{$name} };
        for (1 .. 10) {
            last if !grep { $_->{id} =~ $is_timed } failed(@checks);
            @checks = @{ conformance_checks(@suite, $name)->{$name} };
        }
        @checks = grep { $_->{id} !~ $not_offered_check } @checks;
        my @failed = failed(@checks);
        my $passed = grep { $_->{status} eq 'SUCCESS' } @checks;
        ok $passed && !@failed, "$revision: $name"
            or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"}
            @failed);
    }
}

for my $name (map {"sep-2640-skills-$_"} qw(enumeration manifest directory)) {
    my @checks = @{ conformance_checks($tg, '2026-07-28',
            [ $tg->bridge_path, $tg->socket_path ], $name)->{$name} };
    my @failed = failed(@checks);
    my @passed = grep { $_->{status} eq 'SUCCESS' } @checks;
    ok @passed > 5 && !@failed, "2026-07-28: $name"
        or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"} @failed);
}

done_testing;
