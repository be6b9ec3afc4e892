#!/usr/bin/perl
# Codex and MCP's reference servers behind Toolgate.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;
mkdir $tg->dir . '/notes' or die "$!\n";
$tg->file('notes/todo', "buy milk\n");
$tg->conf(Toolgate::Agents::reference_servers($tg->dir . '/notes'))->start;
my $codex = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

like $codex->result_of_codex(files_read_text_file =>
    { path => $tg->dir . '/notes/todo' }, 'mcp__tg'), qr/buy milk/,
    'a tool of filesystem';
like $codex->result_of_codex(know_read_graph => {}, 'mcp__tg'), qr/entities/,
    'a tool of memory';
my $resources =
    $codex->result_of_codex(list_mcp_resources => { server => 'tg' });
like $resources, qr{demo://resource/static/}, 'the resources of everything';
like $resources, qr{memory://knowledge-graph}, 'and of memory';
like $codex->result_of_codex(list_mcp_resource_templates => { server => 'tg' }),
    qr{demo://resource/dynamic/text/\{resourceId\}}, 'the templates';
like $codex->result_of_codex(read_mcp_resource =>
    { server => 'tg', uri => 'demo://resource/dynamic/text/7' }),
    qr/Resource 7\b/, 'the text of a URI of a template';
like $codex->result_of_codex(read_mcp_resource =>
    { server => 'tg', uri => 'memory://knowledge-graph' }), qr/entities/,
    'the text of a resource';

done_testing;
