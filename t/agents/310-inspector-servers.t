#!/usr/bin/perl
# The Inspector's command line and MCP's reference servers behind Toolgate.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;
mkdir $tg->dir . '/notes' or die "$!\n";
$tg->file('notes/todo', "buy milk\n");
$tg->conf(Toolgate::Agents::reference_servers($tg->dir . '/notes'))->start;
my $inspector = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

sub result_of_inspector {
    my ($status, $result) = $inspector->inspect('--method', @_);
    is $status, 0, "@_" or diag $result;
    return $result;
}

sub listed {
    my ($method, $member, $key) = @_;
    return join ' ',
        map { $_->{$key} } @{ result_of_inspector($method)->{$member} };
}

# The first list waits until each server has started.
like listed('tools/list', 'tools', 'name'),
    qr/every_echo.*files_read_text_file.*know_read_graph/,
    'the tools of three servers';
like listed('prompts/list', 'prompts', 'name'), qr/every_args-prompt/,
    'their prompts';
like listed('resources/list', 'resources', 'uri'),
    qr{demo://\S+.*memory://knowledge-graph}, 'their resources';
like listed('resources/templates/list', 'resourceTemplates', 'uriTemplate'),
    qr{demo://resource/dynamic/text/\{resourceId\}}, 'their templates';

is result_of_inspector('prompts/get', '--prompt-name', 'every_args-prompt',
    '--prompt-args', 'city=Paris')->{messages}[0]{content}{text},
    "What's weather in Paris?", 'a prompt with an argument';
my $read = result_of_inspector('resources/read', '--uri',
    'demo://resource/dynamic/text/7')->{contents}[0];
is $read->{uri}, 'demo://resource/dynamic/text/7', 'a URI of a template';
like $read->{text}, qr/Resource 7\b/, 'its text';
like result_of_inspector('resources/read', '--uri',
    'memory://knowledge-graph')->{contents}[0]{text}, qr/"entities"/,
    'a resource of the second server';
is result_of_inspector('tools/call', '--tool-name', 'files_read_text_file',
    '--tool-arg', "path=${\ $tg->dir}/notes/todo")->{content}[0]{text},
    "buy milk\n", 'a tool of the third one';

done_testing;
