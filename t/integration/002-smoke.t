#!/usr/bin/perl
# One tool, all three dialects on one socket, and a reload: the minimum that
# must work before any other test is of interest.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
$tg->conf(<<'END')->start;
tool greet {
    description  "Greets.";
    return       "hello $tool_arg_name";
}
END

is sprintf('%04o', (stat $tg->socket_path)[2] & 07777), '0600',
    'the socket is its owner\'s only';

my $mcp = $tg->connect;
my $tools = $mcp->rpc('tools/list')->{result}{tools};
is_deeply [ map { $_->{name} } @$tools ], ['greet'], 'jsonrpc: the list';
my $reply = $mcp->call_tool(greet => { name => 'Ann' });
is text_of($reply), 'hello Ann', 'jsonrpc: a call';

$reply = $tg->connect->ipc_call(greet => { name => 'Bob' });
is text_of($reply), 'hello Bob', 'ipc: a call';

my $relay = $tg->connect;
$relay->send_line({
    kind   => 'mcp_request',
    id     => 7,
    method => 'tools/call',
    params => { name => 'greet', arguments => { name => 'Eve' } },
});
$reply = $relay->recv_json;
is $reply->{id}, 7, 'relay: the id comes back';
is text_of($reply), 'hello Eve', 'relay: a call';

$tg->reload(<<'END');
tool greet { description "Greets."; return hello; }
tool leave { description "Says goodbye."; return goodbye; }
END
$reply = $tg->connect->call_tool('leave');
is text_of($reply), 'goodbye', 'after a reload the new tool is there';

is $tg->stop, 0, 'NGINX stops';
ok !-e $tg->socket_path, 'and its socket is gone';

done_testing;
