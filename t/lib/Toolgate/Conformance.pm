package Toolgate::Conformance;

# MCP's official conformance suite, run against a server on stdio or at a URL.

use strict;
use warnings;

use Carp qw(croak);
use Exporter qw(import);
use MIME::Base64 qw(decode_base64);
use POSIX ();

use Toolgate::Json;
use Toolgate::Node;
use Toolgate::Util;

our @EXPORT = qw(conformance_checks conformance_conf failed_checks
    timed_checks);

# Runs what a revision requires of servers against a server's command, or one
# scenario of it, which may also be of an extension. Returns
# { scenario => [ { id, status, errorMessage … }, … ] }.
sub conformance_checks {
    my ($tg, $revision, $command, $scenario) = @_;
    Toolgate::Node::install();
    my $clients = "$TOP/t/clients";
    my $front = ref $command
        ? $tg->spawn({}, 'node', "$clients/http_front.mjs", @$command)
        : undef;
    my $url = $front ? $front->recv_line : $command;
    my $dir = $tg->dir . '/suite-' . ++$tg->{suites};
    my ($status, $out, $err) = run_command({ timeout => 300 },
        'node', '--import', "$clients/glob_sync.mjs",
        "$clients/node_modules/.bin/conformance", 'server', '--url', $url,
        (
            defined $scenario
            ? ('--spec-version', $revision, '--scenario', $scenario, '--force')
            : ('--requirements', $revision)
        ),
        '-o', $dir);
    if ($front) {
        $front->shutdown_write;
        $front->wait_exit;
    }
    my %checks;
    for my $path (glob "$dir/*/checks.json") {
        my ($name) = $path =~ m{/server-([^/]+?)-\d{4}-\d\d-\d\dT[^/]*/[^/]+$}
            or croak "$path: an unknown name";
        $checks{$name} = Toolgate::Json::decode(slurp($path));
    }
    croak "the suite did not run: $out$err" if !%checks;
    return \%checks;
}

# Prepares a test's folder with what conformance.conf needs, and returns the
# configuration of its server.
sub conformance_conf {
    my ($tg) = @_;
    my $dir = $tg->dir;
    my %data = (
        PNG => 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8'
            . 'DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
        WAV => 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=',
    );
    (my $body = slurp("$TOP/t/clients/conformance.conf"))
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
    $tg->spawn({}, '/bin/sh', '-c', <<'END', $dir);
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
    return $body;
}

sub failed_checks {
    return grep { $_->{status} =~ /^(?:FAILURE|WARNING)$/ } @_;
}

# Repeats a scenario, run with the arguments of conformance_checks(), that
# failed only because a reload took more than 0.8 s, which no busy machine
# promises. Returns its checks.
sub timed_checks {
    my ($checks, $name, @suite) = @_;
    for (1 .. 10) {
        last if !grep { $_->{id} =~ /list-changed-on-subscription/ }
            failed_checks(@$checks);
        $checks = conformance_checks(@suite, $name)->{$name};
    }
    return @$checks;
}

1;
