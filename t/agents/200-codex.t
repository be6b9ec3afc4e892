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
resource note:///todo {
    description "What to do.";
    mime        text/plain;
    return      "Buy milk.";
}
resource_template "day:///{day}" {
    name        day;
    description "The note of a day.";
    return      "The note of $tool_arg_day.";
}
END
my $codex = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

like $codex->result_of_codex(say => {}, 'mcp__tg'), qr/this is said/,
    'the result of a tool';
like $codex->result_of_codex(list_mcp_resources => { server => 'tg' }),
    qr{note:///todo.*What to do\.|What to do\..*note:///todo},
    'the resources';
like $codex->result_of_codex(list_mcp_resource_templates => { server => 'tg' }),
    qr{day:///\{day\}}, 'the templates';
like $codex->result_of_codex(read_mcp_resource =>
    { server => 'tg', uri => 'note:///todo' }), qr/Buy milk\./,
    'the text of a resource';
like $codex->result_of_codex(read_mcp_resource =>
    { server => 'tg', uri => 'day:///monday' }), qr/The note of monday\./,
    'the text of a URI of a template';

done_testing;
