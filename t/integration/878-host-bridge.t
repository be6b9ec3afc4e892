#!/usr/bin/perl
# The bridge in front of a program: as the agent starts it, and its error if the
# program does not start.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;

sub text { return $_[0]{result}{content}[0]{text} }

sub script {
    my ($name, $text) = @_;
    $tg->file($name, "#!/bin/sh\n$text\n", 0755);
    return "$dir/$name";
}

my $host = Toolgate::Host->start($tg, 'thread');
like $host->fails('check 1000'), qr/^RuntimeError .*not started/,
    'no bridge without a server';
$host->do('start');
is $host->do('check 60000'), 'ok', 'the bridge comes up';

# --- as the agent starts it ---

my ($entry) = values %{ decode_json($host->do('config'))->{mcpServers} };
my $agent = $tg->spawn({}, $entry->{command}, @{ $entry->{args} });
my $tools = $agent->rpc('initialize', {
    protocolVersion => '2025-11-25', capabilities => {},
    clientInfo      => { name => 'agent', version => '1' },
})->{result}{capabilities}{tools};
ok $tools->{listChanged}, 'the agent will be notified of changed tools';
$agent->notify('notifications/initialized');
my @tools = map { $_->{name} } @{ $agent->rpc('tools/list')->{result}{tools} };
is "@tools[0 .. 2]", 'echo fail slow', 'the agent sees the tools';
is text($agent->call_tool('echo', { text => "na\x{ef}ve" })), "na\x{ef}ve",
    'and calls them';
my $reply = $agent->call_tool('fail');
ok $reply->{result}{isError}, 'a tool that says no';
like text($reply), qr/no luck/, 'says why';

my ($socket, $schema, @dialect) = @{ $entry->{args} };
is "@dialect", '--dialect jsonrpc', 'by the dialect that has words for it';
my $other = $tg->spawn({}, $entry->{command}, $socket, $schema);
is text($other->call_tool('echo', { text => 'ipc' })), 'ipc',
    'a bridge that knows ipc alone';
$other->stop;

# The agent's next request: the server was down in between.
$host->do('stop');
$host->do('start');
is text($agent->call_tool('echo', { text => 'again' })), 'again',
    'the bridge finds the server of the next request';

# --- programs that do not start ---

sub fails_with {
    my ($bridge, $time, $pattern, $name) = @_;
    $host->do('stop');
    $host->do("set bridge $bridge");
    $host->do('start');
    like $host->fails("check $time"), qr/^BridgeStartupError .*$pattern/, $name;
}

fails_with("$dir/none", 5000,
    qr/cannot start the bridge ".*none": No such file/,
    'a bridge that is not there');
fails_with(script('dies', 'echo one >&2; echo "no config" >&2; exit 1'), 60000,
    qr/it has ended; it wrote: one no config$/,
    'one that dies, with the end of its stderr');
fails_with(script('hangs', 'echo waiting >&2; exec sleep 600'), 300,
    qr/did not answer within 300 ms; it wrote: waiting/,
    'one that hangs');
fails_with(script('refuses', 'read x; echo \'{"jsonrpc":"2.0","id":1,'
    . '"error":{"code":-32000,"message":"no socket"}}\'; read x'), 60000,
    qr/it answered .*no socket/, 'one that says no');
fails_with(script('chats', 'i=0; while [ $i -lt 3000 ]; do '
    . 'echo "line $i" >&2; i=$((i+1)); done; exit 3'), 60000,
    qr/it wrote: .*line 2999$/, 'one that says much: the end counts');

fails_with(script('closes', 'exec 0<&- 1>&- 2>&-; exec sleep 600'), 60000,
    qr/it has ended$/, 'one that closes all, and stays');

$host->do('stop');
is_deeply [ $host->files ], [], 'nothing is left';

# Returns the entry of a program.
sub entry {
    my ($entry) = values %{ decode_json($host->do('config'))->{mcpServers} };
    return $entry;
}
$host = Toolgate::Host->start($tg, 'thread', bridge => "$dir/hangs");
is entry()->{command}, "$dir/hangs", 'the bridge that was asked for';
is_deeply entry()->{args}, [ map { $host->do($_) } qw(socket schema) ],
    'of somebody else\'s: without options that it does not know';
symlink $entry->{command}, "$dir/ours" or die "$dir/ours: $!\n";
$host->do("set bridge $dir/ours");
is join(' ', @{ entry()->{args} }[ 2, 3 ]), '--dialect jsonrpc',
    'a link to ours is ours';
mkdir "$dir/bin" or die "$dir/bin: $!\n";
$host->do("set bridge $dir/bin/toolgate-bridge");
is join(' ', @{ entry()->{args} }[ 2, 3 ]), '--dialect jsonrpc',
    'and what has its name';

$host = Toolgate::Host->start($tg, 'thread', protocol => 'ipc');
is entry()->{args}[3], 'ipc', 'a dialect that was asked for';

done_testing;
