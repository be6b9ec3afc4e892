#!/usr/bin/perl
# The first list of a server waits for starting MCP servers, as do calls of
# their tools; everything else is answered meanwhile. Nothing waits for a failed
# one, and calls get the reason.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $go = $tg->dir . '/go';
my $json = 'Toolgate::Client';
my $when = "while ! test -e $go; do sleep 0.05; done; exec $^X "
    . "$top/t/servers/mcp.pl";
$tg->conf(<<"END")->start;
tool mine { return ours; }
mcp_server slow { exec sh -c "$when"; }
END

my %way = map { $_ => Toolgate::Way->new($_, $tg->connect) }
    qw(legacy modern relay ipc);
my %list = map { $_ => $way{$_}->ask('tools/list', $way{$_}->params({})) }
    qw(legacy modern relay);
my $cancelled = $way{legacy}->ask('tools/list', {});
my %call;
$call{$_} = $way{$_}->start('slow_echo', { text => $_ })
    for qw(legacy modern relay ipc);
is text_of($way{legacy}->client->call_tool('mine')), 'ours',
    'another call is answered meanwhile';
is_deeply $way{legacy}->client->rpc('ping')->{result}, {}, 'and a ping';
like $way{legacy}->client->call_tool('other_tool')->{error}{message},
    qr/^Unknown tool: other_tool/, 'what no server can have is unknown at once';
$way{legacy}->client->notify('notifications/cancelled',
    { requestId => $cancelled });
is_deeply $way{legacy}->client->rpc('ping')->{result}, {}, 'one is cancelled';

$tg->file('go', '');
for my $way (qw(legacy modern relay)) {
    my $reply = $way{$way}->client->reply($list{$way});
    ok scalar(grep { $_->{name} eq 'slow_echo' } @{ $reply->{result}{tools} }),
        "$way: the list has the server's tools";
}
is $way{$_}->finish($call{$_})->{text}, $_, "$_: the call is answered"
    for qw(legacy modern relay ipc);
is_deeply $way{legacy}->client->rpc('ping')->{result}, {}, 'still there';
my $aside = $way{legacy}->client->{aside} // [];
ok !(grep { ($_->{id} // '') eq $cancelled } @$aside),
    'what was cancelled is not answered';
$tg->stop;

# --- a server that fails, and a reload --------------------------------------

my $bad = Toolgate::Test->new;
$bad->conf(<<'END')->start;
tool mine { return ours; }
mcp_server bad { exec sh -c "echo no token >&2; exit 3"; }
END
my $client = $bad->connect;
is $client->tool_names, 'mine',
    'the list does not wait for what has failed';
my $error = $client->call_tool('bad_thing')->{error};
is $error->{code}, -32602, 'a call of it is refused';
like $error->{message}, qr/^Unknown tool: bad_thing\. .*"bad" has failed: /,
    'and says that the server has failed';
like $error->{message}, qr/exited with status 3: no token/, 'and why';

# Further texts of the list, for people.
for my $kind (qw(legacy modern relay)) {
    my $way = Toolgate::Way->new($kind, $bad->connect);
    my $told = wait_for {
        my $result = $way->client->reply(
            $way->ask('tools/list', $way->params({})))->{result};
        my $servers = $result->{_meta}{'toolgate/servers'};
        return ($servers->[0]{state} // '') eq 'failed' ? $servers : 0;
    } "$kind: the failed server";
    is scalar @$told, 1, "$kind: the failed server alone";
    is $told->[0]{name}, 'bad', "$kind: its name";
    like $told->[0]{error}, qr/exited with status 3: no token/, "$kind: why";
}
my ($status, $out, $err) = $bad->cli('list');
is $status, 0, 'toolgate list';
is $out, "mine\n", 'shows the tools';
like $err, qr/\Atoolgate: mcp_server "bad" .*failed: .*3: no token\)?\n\z/,
    'and on standard error what has failed';
my $nobody = 'exec sh -c "echo no token >&2; exit 3"; deny all;';
$bad->reload(<<"END");
tool mine { return ours; }
mcp_server bad { $nobody }
mcp_server good { exec cat; deny all; }
END
$client = $bad->connect;
my $result = wait_for {
    my $list = $client->rpc('tools/list')->{result};
    return $list->{_meta} ? 0 : $list;
} 'no word of it';
is_deeply [ map { $_->{name} } @{ $result->{tools} } ], ['mine'],
    'a client without access to its tools does not see a server';
$bad->stop;

my $never = Toolgate::Test->new;
$never->conf(<<'END')->start;
tool mine { return 1; }
mcp_server never { exec sleep 300; }
END
$client = $never->connect;
my $id = $client->request('tools/list', {});
$never->reload('tool mine { return 2; }');
is join(' ', map { $_->{name} } @{ $client->reply($id)->{result}{tools} }),
    'mine', 'a list that waits is answered when a reload ends its worker';

done_testing;
