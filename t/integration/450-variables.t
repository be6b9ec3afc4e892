#!/usr/bin/perl
# The variables: their values in a tool, in each dialect, in maps, and in
# NGINX's own log.

use utf8;

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END', stream => <<'STREAM')->start;
access_log calls.log calls;
tool of_call { return '$tool_name|$tool_protocol|$tool_request_id'; }
tool arguments { return '$tool_arguments'; }
tool arg { return '[$tool_arg_x]'; }
tool json { output json; return '{"is":$tool_json_x}'; }
tool client { return '$tool_client_pid $tool_client_uid $tool_client_gid'; }
tool time { return '$tool_call_time'; }
tool bytes { return '$tool_bytes_in $tool_bytes_out'; }
tool status { return '$tool_status'; }
tool fails { exec false; }
tool named {
    input_schema '{"type":"object","properties":{
                   "filePath":{}, "max-lines":{}, "a.b":{}, "UP":{},
                   "caf\\u00e9":{}}}';
    return '$tool_arg_filePath|$tool_arg_max_lines|$tool_arg_a_b|$tool_arg_UP';
}
tool unnamed { return '$tool_arg_filePath|$tool_arg_plain'; }
tool base { return '$base|$kind|$base'; }
tool twice { return '$tool_arg_a/$tool_arg_b/$tool_arg_a'; }
tool core { return '$remote_addr|$protocol|$time_iso8601'; }
method has_x { output text; return '[$tool_arg_x]'; }
method arguments { return '$tool_arguments'; }
method of_call {
    output text;
    return '$tool_name|$tool_protocol|$tool_request_id';
}
END
log_format calls '$tool_protocol|$tool_name|$tool_status|$tool_call_time|'
                 '$tool_bytes_in|$tool_bytes_out|$tool_client_uid|'
                 '$tool_arg_x|$tool_request_id|$status';
map $tool_arg_path $base {
    default            none;
    ~^.*/(?<file>[^/]+)$  "file $file, $1";
}
map $tool_arg_kind $kind {
    volatile;
    default  '<$tool_arg_kind>';
    a        first;
}
STREAM

my $client = $tg->connect;
my $gid = $) + 0;

sub value {
    my ($name, $arguments) = @_;
    return text_of($client->call_tool($name, $arguments));
}

# --- of the call ----------------------------------------------------------

like value('of_call'), qr/^of_call\|jsonrpc\|\d+$/, 'name, protocol, id';
for my $id ('7', '"a\"b\u00e9"', '"x"') {
    $client->send_line(qq({"jsonrpc":"2.0","id":$id,"method":"of_call"}));
    my $decoded = $client->decode($id);
    is $client->recv_json->{result}, "of_call|jsonrpc|$decoded", "id $id";
}
is text_of($tg->connect->ipc_call('of_call')), 'of_call|ipc|', 'ipc has no id';
my $relay = $tg->connect;
$relay->send_line({ kind => 'mcp_request', id => 'r1', method => 'tools/call',
    params => { name => 'of_call' } });
is text_of($relay->recv_json), 'of_call|relay|r1', 'relay';

# --- of its arguments -----------------------------------------------------

for my $json ('{"a":1,  "b":[ ]}', '{}', '{"x":"\u00e9\n"}') {
    $client->send_line(qq({"jsonrpc":"2.0","id":1,"method":"tools/call",)
        . qq("params":{"name":"arguments","arguments":$json}}));
    is text_of($client->recv_json), $json, "arguments as sent: $json";
}
is value('arguments', undef), '{}', 'no arguments';
# MCP has no arrays: a plain client.
my $plain = $tg->connect;
for my $json ('[1,  2]', '{"x": 1}') {
    $plain->send_line(
        qq({"jsonrpc":"2.0","id":1,"method":"arguments","params":$json}));
    is_deeply $plain->recv_json->{result}, $plain->decode($json),
        "params of a method: $json";
}
$plain->send_line('{"jsonrpc":"2.0","id":1,"method":"has_x","params":["x"]}');
is $plain->recv_json->{result}, '[]', 'an array has no names';

is_deeply $client->rpc('arguments')->{result}, {}, 'no params';

sub encoded {
    my ($text) = @_;
    utf8::encode($text);
    return $text;
}

my %worth = (
    '"text"'            => 'text',
    '""'                => '',
    '"a\\nb\\t\\"\\\\"' => "a\nb\t\"\\",
    '"\\u00e9\\ud83d\\ude00"' => 'é😀',
    '"é😀"'             => 'é😀',
    '"a\\u0000b"'       => "a\0b",
    '"\\/"'             => '/',
    '7'                 => '7',
    '-1.5e3'            => '-1.5e3',
    'true'              => 'true',
    'null'              => 'null',
    '[1, "a"]'          => '[1, "a"]',
    '{"y":{"z": 1}}'    => '{"y":{"z": 1}}',
    '"$tool_name"'      => '$tool_name',
    '"%s%n"'            => '%s%n',
);
for my $json (sort keys %worth) {
    my $line = qq({"jsonrpc":"2.0","id":1,"method":"tools/call",)
        . qq("params":{"name":"NAME","arguments":{"w":0,"x":$json}}});
    utf8::encode($line);
    my $name = encoded($json);
    $client->send_line($line =~ s/NAME/arg/r);
    is text_of($client->recv_json), "[$worth{$json}]", "\$tool_arg_x: $name";
    $client->send_line($line =~ s/NAME/json/r);
    is_deeply $client->recv_json->{result}{structuredContent},
        { is => $client->decode($name) },
        "\$tool_json_x: $name";
}

is value('arg'), '[]', 'an argument that is missing';
is_deeply $client->call_tool('json')->{result}{structuredContent},
    { is => undef }, 'as JSON it is null';
is value(twice => { a => 'é', b => 2 }), 'é/2/é', 'several in one value';

# Names that NGINX's variables cannot have are found by the schema.
is value(named => { filePath => 'f', 'max-lines' => 3, 'a.b' => 'c',
    UP => 'u', filepath => 'no', up => 'no' }),
    'f|3|c|u', 'names of the schema';
is value(named => { filepath => 'no', max_lines => 'no' }), '|||',
    'only they are';
is value(unnamed => { filePath => 'x', filepath => 'y', plain => 'z' }),
    'y|z', 'without a schema only plain names';

# --- of the connection ----------------------------------------------------

is value('client'), "$$ $> $gid", 'whose process, user and group';
like value('time'), qr/^0\.\d{3}$/, 'how long the call takes';
my ($in, $out) = split / /, value('bytes');
my ($in2, $out2) = split / /, value('bytes');
cmp_ok $in2 - $in, '>', 50, 'bytes in';
cmp_ok $out2 - $out, '>', 50, 'bytes out';
is text_of($tg->connect->call_tool('status')), '', 'no status before a call';
is value('fails') =~ /status 1/, 1, 'a call that fails';
is value('status'), 'program', 'the status of the call before';
is value('status'), 'ok', 'and of that one';

# --- in maps --------------------------------------------------------------

is value(base => { path => '/a/b/c.txt' }),
    'file c.txt, c.txt|<>|file c.txt, c.txt', 'a map with captures';
is value(base => { path => 'plain', kind => 'a' }), 'none|first|none',
    'the next call has its own';
is value(base => { kind => 'b' }), 'none|<b>|none', 'and the one after';
like value('core'), qr/^unix:\|TCP\|\d{4}-/, "NGINX's own";

# --- in the log -----------------------------------------------------------

my $log = $tg->dir . '/calls.log';
my $lines = () = (slurp($log) // '') =~ /\n/g;
my $logged = $tg->connect;
$logged->call_tool(arg => { x => 'secret' });
text_of($logged->call_tool('fails'));
$logged->close;
wait_for { (() = slurp($log) =~ /\n/g) > $lines } 'the log';
my ($last) = slurp($log) =~ /(.*)\n\z/;
like $last,
    qr/^jsonrpc\|fails\|program\|0\.\d{3}\|\d+\|\d+\|$>\|-?\|-?\|200$/,
    'the last call, and nothing of its arguments';
$tg->connect->close;
wait_for { slurp($log) =~ /^auto\|/m } 'the log';
like slurp($log), qr/^auto\|-?\|-?\|-?\|0\|0\|$>\|/m,
    'a connection without a call';

done_testing;
