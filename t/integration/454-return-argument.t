# `return` of one argument passes it on unchanged; the result equals that of a
# composed value.

use utf8;
use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool plain  { description "Fast.";   return $tool_arg_text; }
tool braces { description "Fast.";   return ${tool_arg_text}; }
tool mixed  { description "Slow.";   return "$tool_arg_text$tool_arg_none"; }
tool upper  { description "As NGINX has it."; return $tool_arg_Text; }
tool named  {
    description  "By another name.";
    input_schema '{"type":"object","properties":{"My-Text":{}}}';
    return       $tool_arg_my_text;
}
tool parsed { description "As JSON."; return $tool_arg_text; output json; }
method text { return $tool_arg_text; output text; }
END

my $n = 0;

# Returns the text of the response to raw arguments, in the dialect.
sub raw_text {
    my ($client, $dialect, $tool, $arguments) = @_;
    my $params = qq("params":{"name":"$tool","arguments":$arguments});
    my $reply;
    if ($dialect eq 'ipc') {
        $client->send_raw(pack 'N/a*', qq({"method":"call_tool",$params}));
        $reply = $client->recv_ipc;
    } else {
        my $kind =
            $dialect eq 'relay' ? '"kind":"mcp_request"' : '"jsonrpc":"2.0"';
        $n++;
        $client->send_raw(
            qq({$kind,"id":$n,"method":"tools/call",$params}\n));
        $reply = $client->recv_json;
    }
    return text_of($reply);
}

my @same = (
    [ '{"text":"hi"}'                            => 'hi' ],
    [ '{"text":""}'                              => '' ],
    [ '{"text":"a\n\t\r\b\f\"\\\\\/z"}'          => "a\n\t\r\b\f\"\\/z" ],
    [ '{"text":"\u0041\u00e9\u20ac\u0001\u0000"}' => "A\x{e9}\x{20ac}\1\0" ],
    [ '{"text":"\ud83d\ude00"}'                  => "\x{1f600}" ],
    [ qq({"text":"\x{c3}\x{a9}"})                => "\x{e9}" ],
    [ '{"text":17.50}'                           => '17.50' ],
    [ '{"text":{"a":[1,null]}}'                  => '{"a":[1,null]}' ],
    [ '{"text":null}'                            => 'null' ],
    [ '{}'                                       => '' ],
    [ '{"text":"one","text":"two"}'              => 'two' ],
    [ '{"te\u0078t":"escaped"}'                  => 'escaped' ],
    [ '{' . join(',', map({qq("k$_":$_)} 1 .. 40), '"text":"far"') . '}' =>
            'far' ],
);

for my $dialect (qw(jsonrpc relay ipc)) {
    my $client = $tg->connect;
    my $ask = sub { raw_text($client, $dialect, @_) };
    for my $case (@same) {
        my ($arguments, $text) = @$case;
        my $name = substr $arguments, 0, 40;
        utf8::decode($name);
        is $ask->($_, $arguments), $text, "$dialect: $_ $name"
            for qw(plain braces mixed);
    }
    # Half a surrogate pair is no character.
    is $ask->('plain', '{"text":"\ud800 x"}'),
        $ask->('mixed', '{"text":"\ud800 x"}'), "$dialect: half a pair";
    is $ask->('upper', '{"text":"low","Text":"high"}'), 'low',
        "$dialect: names are lowered";
    is $ask->('named', '{"My-Text":"found","my_text":"wrong"}'), 'found',
        "$dialect: the property of the schema";
    is $ask->('parsed', '{"text":" {\"a\": [1, 2]} "}'), '{"a":[1,2]}',
        "$dialect: output json is read";
}

my $client = $tg->connect;
$client->send_raw(
    qq({"jsonrpc":"2.0","id":1,"method":"text","params":{"text":"a\\nb"}}\n));
is $client->recv_json->{result}, "a\nb", 'a method as well';

done_testing;
