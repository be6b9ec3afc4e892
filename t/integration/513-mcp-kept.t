#!/usr/bin/perl
# The stored list of an MCP server: after a cold start the first client sees it
# at once, even if the server never starts again. Name conflicts are errors in a
# test or reload of a config, but no start fails.

use Toolgate::Test qw(Listed Way);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 2);
my $far = Toolgate::Listed->new($tg, 'far');
$far->list($far->tool('read', description => 'Reads.'), 'write');

# A server that the test can remove.
my $start = $tg->file('start', <<"END", 0755);
#!/bin/sh
test ! -e %%DIR%%/gone && exec @{[ $far->command ]}
echo "no more" >&2
exit 1
END
my $text = slurp($start);
$text =~ s/%%DIR%%/$tg->dir/ge;
$tg->file('start', $text, 0755);

sub body {
    my ($more) = @_;
    return "mcp_server far { exec $start; }\n" . ($more // '');
}

sub names { return $_[0]->tool_names }

sub stop_all {
    $tg->stop;
    my @runners = $tg->runner_pids;
    kill TERM => @runners;
    wait_for { !$tg->runner_pids } 'the runner to leave';
}

$tg->conf(body())->start;
my $client = $tg->connect;
wait_for { names($client) eq 'far_read far_write' } 'the list';
my $kept = wait_for { (glob $tg->state_dir . '/mcp/*.json')[0] }
    'it to be kept';
like mode_of($kept), qr/^0600 /, 'for nobody else';
like $kept, qr{/[0-9a-f]{40}\.json$}, 'under the digest of what it is of';
stop_all();

# --- a cold start -----------------------------------------------------------

$tg->file('gone', '');
for my $round (1 .. 3) {
    $tg->start;
    my @ways = map { Toolgate::Way->new($_, $tg->connect) }
        qw(legacy modern relay);
    is join(' ', $_->list), 'far_read far_write',
        $_->name . ": the first list of start $round"
        for @ways;
    stop_all();
}
$tg->start;
$client = $tg->connect;
like text_of($client->call_tool('far_read')), qr/no more/,
    'a call says why there is none';
is names($client), 'far_read far_write', 'the list stays';

# --- clashes ----------------------------------------------------------------

my ($status, $out) = $tg->test_conf(body('tool far_read { return x; }'));
isnt $status, 0, 'a name that the kept list has is refused';
like $out, qr/tool "read" of mcp_server "far" would be named "far_read", which/,
    'with both names';
like $tg->reload_fails(body('tool far_write { return x; }')),
    qr/tool "write" of mcp_server "far" would be named "far_write"/,
    'so is a reload';
my $twin = 'mcp_server twin { exec cat; prefix ""; }';
($status, $out) = $tg->test_conf(body($twin));
is $status, 0, 'what is not known is no mistake' or diag $out;
($status, $out) = $tg->test_conf(
    "mcp_server far { exec $start; hide read; }\ntool far_read { return x; }");
is $status, 0, 'nor is a tool that is hidden' or diag $out;
stop_all();
$tg->conf(body('tool far_read { return ours; }'))->start;
like $tg->log, qr/"far_read", which the config already uses: it is omitted/,
    'a start continues without it, and logs it';
$client = $tg->connect;
is names($client), 'far_write far_read', 'the other one is there';
is text_of($client->call_tool('far_read')), 'ours', 'and is the config\'s';
stop_all();

# --- another config of the same server --------------------------------------

sub other {
    my ($n, $more, $argument) = @_;
    return "mcp_server far { exec $start $argument; $more }\n"
        . "tool n { return $n; }";
}
$tg->conf(other(1, '', ''))->start;
$client = $tg->connect;
$client->rpc('initialize',
    { protocolVersion => '2025-11-25', capabilities => {} });
my $n = 1;
for my $more ('idle 5m;', 'env A b; hide read;', 'share user;') {
    $tg->reload(other(++$n, $more, ''));
    wait_for { text_of($client->call_tool('n')) eq $n } 'the new config';
    is names($client), $more =~ /hide/ ? 'far_write n' : 'far_read far_write n',
        "$more: the tools stay, though it does not start";
}
my @told = grep { ($_->{method} // '') =~ /list_changed/ }
    @{ $client->{aside} };
is scalar @told, 2, 'and only changes are notified';
$tg->reload(other(++$n, '', 'x'));
wait_for { text_of($client->call_tool('n')) eq $n } 'the new config';
is names($client), 'far_read far_write n',
    'another program in the block: the tools stay as well';
$tg->reload(other(++$n, 'idle 6m;', ''));
$far->list('read', 'third');
unlink $tg->dir . '/gone';
wait_for { names($client) eq 'far_read far_third n' } 'the right list';
pass 'the right list follows when there is one';
$far->list($far->tool('read', description => 'Reads.'), 'write');
$tg->file('gone', '');
stop_all();

# --- invalid lists ----------------------------------------------------------

unlink glob($tg->state_dir . '/mcp/*.{last,name}');
my $good = slurp($kept);
for my $case (
    [ 'garbage', '{"tools":[{"name":' ],
    [ 'another value', '{"tools":5}' ],
    [ 'no tools', "[]\n" ],
    [ 'nothing', '' ],
    [ 'a link', undef ],
) {
    my ($what, $content) = @$case;
    unlink $kept or die "$kept: $!\n";
    if (defined $content) {
        $tg->file(substr($kept, length $tg->dir), $content, 0600);
    } else {
        symlink $tg->file('elsewhere', $good), $kept or die "$kept: $!\n";
    }
    $tg->conf(body('tool mine { return 1; }'))->start;
    is names($tg->connect), 'mine', "$what is as none";
    stop_all();
    $tg->file('elsewhere', '') if !defined $content;
}
unlink $kept, $tg->dir . '/gone';
$tg->start;
$client = $tg->connect;
wait_for { names($client) eq 'far_read far_write mine' } 'the list again';
$tg->allow_log(qr/\[emerg\]/);

done_testing;
