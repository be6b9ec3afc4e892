#!/usr/bin/perl
# An MCP server that the runner starts: its list, calls, and messages.

use Toolgate::Test qw(Runner McpServer);

my $tg = Toolgate::Test->new;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;

sub status { return $c->rpc('status')->{result} }

# A server that is watched for the first time is started for its list only.
my $pids = $tg->dir . '/pids';
my ($key, $result) = watch($c, exec => stand_in('hello', "once=$pids"),
    env => ['SECRET=42'], cwd => '/usr');
is $result->{state}, 'stopped', 'nothing runs when it is first watched';
ok !exists $result->{tools}, 'nor is its list known';
my $tools = list_of($c, $key);
like names_of($tools), qr/^echo hang slow die/, 'then it is listed';
is_deeply $tools->[0], { name => 'echo', description => 'The tool echo.',
    inputSchema => { type => 'object' } }, 'a tool is as the server has it';
my $state = state_of($c, $key, 'ready');
is_deeply $state,
    { key => $key, state => 'ready', restarts => 0, running => 1 },
    'and it is ready';
is status()->{servers}, 1, 'one server is known';
is status()->{instances}, 1, 'and runs';
my $file = $tg->state_dir . "/mcp/$key.json";
wait_for { -e $file } 'the list to be kept';
is_deeply $c->decode(slurp($file))->{tools}, $tools, 'as it came';
is sprintf('%o', (stat $file)[2] & 07777), '600', 'for its owner alone';

# Messages to the server.
my $reply = $c->reply(call($c, $key, 'echo', arguments => { a => [ 1, "\n" ] },
    meta => { progressToken => 'mine', 'x/trace' => 7,
        'io.modelcontextprotocol/protocolVersion' => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => { roots => {} } }));
my $heard = $reply->{result}{result}{structuredContent};
is $heard->{name}, 'echo', 'a call has its name';
is_deeply $heard->{arguments}, { a => [ 1, "\n" ] }, 'its arguments';
is join(' ', sort keys %{ $heard->{_meta} }), 'progressToken x/trace',
    'and of its _meta what concerns an older server';
like $heard->{_meta}{progressToken}, qr/^\d+$/, 'the token is the runner\'s';
is $reply->{result}{result}{_meta}{'x/y'}, 1, 'the result\'s own comes back';
like $reply->{result}{ran_ms}, qr/^\d+$/, 'with its times';

# Messages from the server.
$reply = $c->reply(call($c, $key, 'kinds'));
is_deeply [ map { $_->{type} } @{ $reply->{result}{result}{content} } ],
    [qw(text image audio resource_link resource)], 'all kinds of content';
ok $reply->{result}{result}{isError}, 'that it is an error';
is_deeply $reply->{result}{result}{structuredContent},
    { a => [ 1, 2.5, undef ] }, 'what is structured';
$reply = $c->reply(call($c, $key, 'error'));
is $reply->{result}{failure}, 'program', 'an error of the protocol';
is $reply->{result}{message}, "it \"failed\"\n", 'keeps its words';
is $reply->{result}{code}, -32603, 'and its code';
$reply = $c->reply(call($c, $key, 'bad'));
is $reply->{result}{failure}, 'output', 'what is no result';
like $reply->{result}{message}, qr/not an object with an array "content"/,
    'is said to be none';
$reply = $c->reply(call($c, $key, 'deep'));
is $reply->{result}{failure}, 'output', 'what nests too deep';
is text_of_call($c->reply(call($c, $key, 'where'))), '/usr', 'its folder';
my $env = text_of_call($c->reply(call($c, $key, 'env')));
like $env, qr/^SECRET=42$/m, 'its environment';
is join(' ', $env =~ /^(\w+)=/mg), 'HOME LANG PATH SECRET',
    'which is clean but for that';

is text_of_call($c->reply(call($c, $key, 'fds'))), '0 1 2 3',
    'three descriptors, and the one that it looks with';

# Many calls at once, one of which is cancelled.
my @hang = map { call($c, $key, 'hang') } 1 .. 3;
is text_of_call($c->reply(call($c, $key, 'cancelled'))), 0, 'none is cancelled';
$c->notify('$/cancelRequest', { id => $hang[1] });
$reply = wait_for {
    my $r = $c->reply(call($c, $key, 'cancelled'))->{result}{result};
    $r->{content}[0]{text} && $r->{structuredContent};
} 'the server to receive the cancellation';
is scalar @{ $reply->{ids} }, 1, 'one cancellation is sent';
is scalar @{ $reply->{held} }, 2, 'the others go on';
ok !grep({ $_ == $reply->{ids}[0] } @{ $reply->{held} }), 'it was that one';

# A deadline ends a call, not the server.
$reply = $c->reply(call($c, $key, 'hang', timeout_ms => 100));
is $reply->{result}{failure}, 'timeout', 'a deadline is kept';
like $reply->{result}{message}, qr/files_hang did not finish within 100 ms/,
    'and said';
wait_for {
    text_of_call($c->reply(call($c, $key, 'cancelled'))) == 2
} 'the server to receive the cancellation';

# Progress goes to its call, increases, and comes before the result.
my $slow = call($c, $key, 'slow');
my (@progress, $answer);
until ($answer) {
    my $m = $c->recv_json;
    push @progress, $m->{params}
        if ($m->{method} // '') eq 'progress' && $m->{params}{id} == $slow;
    $answer = $m if ($m->{id} // '') eq $slow;
}
is text_of_call($answer), 'slow', 'a slow one is answered';
is $progress[-1]{progress}, 3, 'after its progress';
is $progress[-1]{message}, 'step 3', 'which says how far it is';

# Its list changes.
$c->reply(call($c, $key, 'grow', arguments => { name => 'new_tool' }));
like names_of(list_of($c, $key)), qr/new_tool$/, 'another list is told';
$c->reply(call($c, $key, 'grow', arguments => { name => 'echo' }));
$c->reply(call($c, $key, 'grow', arguments => { name => 'newer' }));
my $newest = names_of(list_of($c, $key, 'newer'));
is scalar(() = $newest =~ /\becho\b/g), 1, 'a name comes once';
wait_for { $c->decode(slurp($file))->{tools}[-1]{name} eq 'newer' }
    'the newest to be kept';

# Another worker gets the current state at once.
my $d = $runner->connect;
my (undef, $known) = watch($d, key => $key, exec => ['/bin/true']);
is $known->{state}, 'ready', 'another worker that watches it finds it ready';
is names_of($known->{tools}), $newest, 'with its list';
is text_of_call($d->reply(call($d, $key, 'pid'))), slurp($pids) + 0,
    'it is the same process for both';

# Another worker takes over a call.
my $go = $tg->dir . '/go';
my $moved = call($c, $key, 'slow', arguments => { until => $go });
$c->rpc('status');
ok $c->rpc('release', { id => $moved, key => 'k' x 32 })->{result}, 'released';
$c->close;
my $adopted = $d->request('adopt', { key => 'k' x 32 });
$tg->file('go', '');
is text_of_call($d->reply($adopted)), 'slow', 'and answered to who adopts it';

# Invalid requests.
for my $case (
    [ 'no spec', {}, qr/spec must be an object/ ],
    [ 'no way', { spec => {} }, qr/one of exec, pass and url/ ],
    [ 'two ways', { spec => { exec => ['/x'], pass => 'unix:/x' } },
        qr/one of exec, pass and url/ ],
    [ 'no program', { spec => { exec => [] } }, qr/exec must be/ ],
    [ 'no path', { spec => { exec => ['x'] } }, qr/absolute path/ ],
    [ 'no address', { spec => { pass => 'host:1' } }, qr/numeric address/ ],
    [ 'no port', { spec => { pass => '127.0.0.1:0' } }, qr/numeric address/ ],
    [ 'no URL', { spec => { url => 'x' } }, qr/url must be an http/ ],
    [ 'no header', { spec => { url => 'http://a/', secrets => ["A: b\nC"] } },
        qr/"Name: value"/ ],
    [ 'two servers', { spec => { url => 'http://a/', exec => ['/x'] } },
        qr/one of exec, pass and url/ ],
    [ 'no share', { spec => { exec => ['/x'], share => 'x' } },
        qr/share \(all/ ],
    [ 'no root', { spec => { exec => ['/x'], roots => [1] } },
        qr/roots must be/ ],
    [ 'a path as key', { key => '../../../../x', spec => {} }, qr/key must/ ],
) {
    my ($name, $params, $why) = @$case;
    my $error = $d->rpc('mcp_watch',
        { key => 'k' x 16, server => 's', %$params })->{error};
    is $error->{code}, -32602, "$name: refused";
    like $error->{message}, $why, "$name: says why";
}
$reply = $d->reply(call($d, 'x' x 20, 'echo'));
is $reply->{result}{failure}, 'lost', 'a call of a server that is not there';
like $reply->{result}{message}, qr/call again/, 'says what to do';
is $d->rpc('mcp_call', { tool => 't', key => 'x' x 20 })->{error}{code},
    -32602, 'a call without a name';

# It ends with the runner.
my $pid = slurp($pids) + 0;
ok is_alive($pid), 'it runs';
kill TERM => $runner->supervisor;
$runner->wait_gone;
ok !is_alive($pid), 'the runner takes it along';
like $runner->log, qr/mcp_server files: stderr: ready$/m,
    'what it wrote to stderr is in the log'
    if $runner->log =~ /\[info\]/;
unlink $pids, $go, $file;
rmdir $tg->state_dir . '/mcp';
done_testing;
