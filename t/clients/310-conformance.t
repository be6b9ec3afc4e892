#!/usr/bin/perl
# MCP's official conformance suite, over stdio, with what conformance.conf
# declares: each scenario about tools, in both eras.

use Toolgate::Test qw(Conformance);

use MIME::Base64 qw(decode_base64);
use POSIX ();

# Scenarios of the suite that need what Toolgate does not offer on stdio.
my $not_offered = qr/^(?:tasks-|input-required-result-|http-|dns-rebinding)
    |^(?:prompts-|resources-|completion-|caching|sep-2164-)
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
$tg->file('progress', <<'END', 0755);
#!/bin/sh
for n in 0 50 100; do
    printf '{"progress":%d,"total":100}\n' $n >&"$TOOL_PROGRESS_FD"
    sleep 0.1
done
END

# Declares one more tool and reloads when a tool's program asks for it through a
# pipe; the program itself may not.
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

for my $revision (qw(2025-11-25 2026-07-28)) {
    my $checks = conformance_checks($tg, $revision, $tg->bridge_path,
        $tg->socket_path);
    my @names = grep { !/$not_offered/ } sort keys %$checks;
    for my $name (@names) {
        my @checks =
            grep { $_->{id} !~ $not_offered_check } @{ $checks->{$name} };
        my @failed = grep { $_->{status} =~ /^(?:FAILURE|WARNING)$/ } @checks;
        my $passed = grep { $_->{status} eq 'SUCCESS' } @checks;
        ok $passed && !@failed, "$revision: $name"
            or diag(map {"$_->{status} $_->{id}: $_->{errorMessage}\n"}
            @failed);
    }
}

done_testing;
