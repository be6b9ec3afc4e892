#!/usr/bin/perl
# `params` of a plain client that are an empty array, as PHP writes an empty
# object: absent if the method's schema requires an object, else positional.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
method object { input_schema '{"type":"object"}'; return $tool_arguments; }
method array  { input_schema '{"type":"array"}';  return $tool_arguments; }
method any    { return $tool_arguments; }
tool hi       { description x; return hi; }
END

my $client = $tg->connect;
for my $case (
    [ object => '[]',   '{}' ],
    [ object => '[ ]',  '{}' ],
    [ object => 'null', '{}' ],
    [ array  => '[]',   '[]' ],
    [ array  => '[1]',  '[1]' ],
    [ any    => '[]',   '[]' ],
    [ any    => '{}',   '{}' ])
{
    my ($method, $params, $want) = @$case;
    $client->send_line(
        qq({"jsonrpc":"2.0","id":1.0,"method":"$method","params":$params}));
    is $client->recv_line =~ s/\n//r,
        qq({"jsonrpc":"2.0","id":1.0,"result":$want}), "$method $params";
}
$client->send_line('{"jsonrpc":"2.0","id":2,"method":"object","params":[1]}');
is $client->recv_json->{error}{code}, -32602, 'an array that is not empty';

done_testing;
