package Toolgate::Conformance;

# MCP's official conformance suite, run against a server on stdio.

use strict;
use warnings;

use Carp qw(croak);
use Exporter qw(import);
use Toolgate::Json;
use Toolgate::Node;
use Toolgate::Util;

our @EXPORT = qw(conformance_checks);

# Runs what a revision requires of servers against a server's command, or one
# scenario of it, which may also be of an extension. Returns
# { scenario => [ { id, status, errorMessage … }, … ] }.
sub conformance_checks {
    my ($tg, $revision, $command, $scenario) = @_;
    Toolgate::Node::install();
    my $clients = "$TOP/t/clients";
    my $front = $tg->spawn({}, 'node', "$clients/http_front.mjs", @$command);
    my $url = $front->recv_line;
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
    $front->shutdown_write;
    $front->wait_exit;
    my %checks;
    for my $path (glob "$dir/*/checks.json") {
        my ($name) = $path =~ m{/server-([^/]+?)-\d{4}-\d\d-\d\dT[^/]*/[^/]+$}
            or croak "$path: an unknown name";
        $checks{$name} = Toolgate::Json::decode(slurp($path));
    }
    croak "the suite did not run: $out$err" if !%checks;
    return \%checks;
}

1;
