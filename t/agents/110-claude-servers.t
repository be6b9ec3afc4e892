#!/usr/bin/perl
# Claude Code in a terminal and MCP's reference servers behind Toolgate.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;
mkdir $tg->dir . '/notes' or die "$!\n";
$tg->file('notes/todo', "buy milk\n");
$tg->conf(Toolgate::Agents::reference_servers($tg->dir . '/notes'))->start;
my $claude = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });
$claude->start_claude('--allowedTools', 'mcp__tg');
ok $claude->sees(qr/❯/), 'it starts';

# The commands come when the server has started.
wait_for {
    $claude->press('C-u');
    $claude->type('/args-prompt');
    wait_for { $claude->screen =~ m{/args-prompt} } 'what was typed';
    return $claude->screen =~ /A prompt with two arguments/;
} 'the prompt among the commands';
pass 'a prompt of everything is a command';
$claude->press('C-u');
$claude->submit('/mcp__tg__every_args-prompt Paris Texas');
ok $claude->asked(qr/What's weather in Paris, Texas\?/),
    'it reaches the model with its arguments';

$claude->rest;
$claude->type('@tg:demo');
ok $claude->sees(qr/Static document file/), 'its resources are offered';
$claude->press('C-u');
$claude->submit('Read @tg:memory://knowledge-graph please.');
ok $claude->asked(qr/\\"entities\\"/), 'a resource of memory reaches the model';

$claude->rest;
$claude->will_call('Fetch it', 'ReadMcpResourceTool',
    { server => 'tg', uri => 'demo://resource/dynamic/text/7' });
$claude->submit('Fetch it, please.');
ok $claude->asked(qr/"tool_result".*Resource 7\b/),
    'a URI of a template is read by the model';

for my $case (
    [ files_read_text_file => { path => $tg->dir . '/notes/todo' },
        qr/buy milk/ ],
    [ know_read_graph => {}, qr/entities/ ],
    [ every_echo => { message => 'hello' }, qr/Echo: hello/ ],
) {
    my ($name, $arguments, $result) = @$case;
    $claude->rest;
    $claude->will_call("Call $name", "mcp__tg__$name", $arguments);
    $claude->submit("Call $name, please.");
    ok $claude->asked(qr/"tool_result".*$result/), "$name: its result";
}
$claude->stop_claude;

done_testing;
