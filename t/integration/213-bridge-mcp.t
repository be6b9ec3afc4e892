#!/usr/bin/perl
# The bridge's stdin is MCP from its first byte: MCP's parsers reject a null id,
# and only one version has batches.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $bridge = $tg->bridge;

$bridge->send_line('no JSON');
my $answer = $bridge->recv_json;
is $answer->{error}{code}, -32700, 'invalid JSON';
ok !exists $answer->{id}, 'is answered without an id';

$bridge->send_line('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
$answer = $bridge->recv_json;
is $answer->{error}{code}, -32600, 'a batch';
ok !exists $answer->{id}, 'is answered without an id';

is_deeply $bridge->rpc('ping')->{result}, {}, 'ping is that of MCP';

$bridge->close;
is $bridge->wait_exit, 0, 'it ends with its agent';

done_testing;
