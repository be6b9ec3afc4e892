#!/usr/bin/perl
# Codex without a terminal: what it finds, and what reaches its model.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;
# Codex asks nobody before it calls a tool that only reads.
$tg->conf(<<'END')->start;
tool say {
    description "Says it.";
    annotations '{"readOnlyHint":true}';
    return      "this is said";
}
END
my $codex = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

$codex->will_call('Call it', say => {}, 'mcp__tg');
my @events = $codex->run_codex('Call it, please.');
my ($call) = grep { ($_->{type} // '') eq 'mcp_tool_call' && $_->{result} }
    map { $_->{item} // {} } @events;
is_deeply [ @$call{qw(server tool status)} ], [qw(tg say completed)],
    'a tool is called';
ok $codex->asked(qr/"function_call_output".*this is said/),
    'and its result reaches the model';

done_testing;
