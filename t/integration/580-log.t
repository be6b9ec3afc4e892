#!/usr/bin/perl
# Lines about calls: in the built-in formats and JSON, in configured formats;
# what they never contain; and which log they go to.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $schema = '{"type":"object","properties":{"userName":{},"x":{}}}';

$tg->conf(<<"END", stream => <<'STREAM')->start;
tool_log calls.log;
tool_log calls.json json;
tool_log own.log own;
tool_log bad.log default if=\$is_bad;
tool hi { input_schema '$schema'; return hi; }
tool no { exec sh -c "exit 3"; }
tool dies { exec sh -c 'kill -9 \$\$\$\$'; }
tool run { exec echo run; }
method m { return 1; }
tool apart { return 1; tool_log apart.log json; }
tool quiet { return 1; tool_log off; }
END
tool_log_format own '$tool_name|$tool_arg_x|$tool_arg_userName|'
    '$tool_arguments|$tool_status|$tool_rule|$tool_exit_status|'
    '$tool_queue_time|$tool_run_time|$tool_call_time|$tool_bytes_in|'
    '$tool_bytes_out|$tool_client_pid|$tool_client_uid|$tool_client_gid|'
    '$tool_client_name|$tool_request_id|$tool_protocol|$kind|$remote_addr';
tool_log_format as_json escape=json '{"x":"$tool_arg_x"}';
tool_log_format as_it_is escape=none '$tool_arg_x$$';
map $tool_status $is_bad { ok 0; default 1; }
map $tool_arg_x $kind { ~^a 'an a: $tool_status'; default other; }
server {
    listen unix:%%DIR%%/inherits.sock;
    tool hi { return hi; }
}
server {
    listen   unix:%%DIR%%/escapes.sock;
    tool_log escaped.json as_json;
    tool_log plain.log    as_it_is;
    tool hi { return hi; }
}
tool_log outer.log own;
STREAM

my $gid = $) + 0;
my %seen;

# Returns the next line of a log.
sub line {
    my ($name) = @_;
    my $from = $seen{$name} // 0;
    wait_for { substr(slurp("$dir/$name") // '', $from) =~ /\n/ } $name;
    my ($line) = substr(slurp("$dir/$name"), $from) =~ /\A([^\n]*)\n/;
    $seen{$name} = $from + length($line) + 1;
    return $line;
}

# Returns the next line of a JSON log.
sub object {
    my ($name) = @_;
    return Toolgate::Json::decode(line($name));
}

sub is_read {
    my ($name) = @_;
    return (-s "$dir/$name") == ($seen{$name} // 0);
}

my $c = $tg->connect;
my $hello = $c->rpc('initialize', {
    protocolVersion => '2025-06-18',
    capabilities    => {},
    clientInfo      => { name => "an \"agent\"\n", version => '1' },
});
ok $hello->{result}, 'a client with a name';

# --- the default, and JSON ------------------------------------------------

my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d/;
my $s = qr/\d+\.\d{3}/;
my $who = qr/client="an\ \\"agent\\"\\n"\ pid=$$\ uid=$>\ gid=$gid\ trace=-
    \ client_version="1"\ via=-\ user=-/x;
my $message = '{"jsonrpc":"2.0","id":"a\\n","method":"tools/call",'
    . '"params":{"name":"hi","arguments":{"x":"secret"}}}';
$c->send_line($message);
my $answer = $c->recv_line;
my ($in, $out) = (length $message, length($answer) + ($answer !~ /\n\z/));
like line('calls.log'),
    qr/^$time\ tool="hi"\ status=ok\ rule=-\ exit=-\ signal=-
       \ queue=0\.000\ run=$s\ total=$s\ in=$in\ out=$out
       \ protocol=jsonrpc\ id="a\\n"\ $who$/x,
    'who called what, and how it ended';
my $json = object('calls.json');
like delete $json->{time}, qr/^$time$/, 'in JSON: when';
like delete $json->{$_}, qr/^$s$|^0$/, $_ for qw(run total);
is_deeply $json, {
    tool     => 'hi',
    status   => 'ok',
    rule     => undef,
    exit     => undef,
    signal   => undef,
    queue    => 0,
    in       => $in,
    out      => $out,
    protocol => 'jsonrpc',
    id       => "a\n",
    client   => "an \"agent\"\n",
    pid      => $$,
    uid      => $>,
    gid      => $gid,
    trace    => undef,

    client_version => '1',
    via            => undef,
    user           => undef,
}, 'and the rest';
line('own.log');

my %end = (
    no   => [ 'exit=3 signal=-', 3,     undef, 3 ],
    dies => [ 'exit=- signal=9', undef, 9,     'signal 9' ],
    run  => [ 'exit=0 signal=-', 0,     undef, 0 ],
);
for my $name (sort keys %end) {
    my ($text, $exit, $signal, $word) = @{ $end{$name} };
    $c->call_tool($name);
    like line('calls.log'), qr/ tool="$name" .* $text queue=$s run=$s /,
        "how a program ended: $name";
    $json = object('calls.json');
    is_deeply [ @$json{qw(exit signal)} ], [ $exit, $signal ], 'in JSON';
    is scalar((split /\|/, line('own.log'))[6]), $word // '-',
        '$tool_exit_status';
}
like line('bad.log'), qr/ tool="dies" status=program /, 'if=: what failed';
like line('bad.log'), qr/ tool="no" status=program /, 'and also failed';
ok is_read('bad.log'), 'and nothing else';

$c->rpc('m');
like line('calls.log'), qr/^$time method="m" status=ok /, 'a method';
is object('calls.json')->{method}, 'm', 'in JSON';
line('own.log');
$tg->connect->ipc_call('hi');
like line('calls.log'), qr/ protocol=ipc id=- client=- pid=$$ /,
    'without an id, nor a name';
is object('calls.json')->{id}, undef, 'in JSON';
line('own.log');

# --- configured formats ---------------------------------------------------

for my $name ('hi', 'run') {
    $c->call_tool($name => { x => "a\n\"\\\x{7f}", userName => 'u' });
    my @value = split /\|/, line('own.log');
    my $user = $name eq 'hi' ? 'u' : '-';
    is_deeply [ @value[ 0 .. 2 ] ],
        [ $name, 'a\\x0A\\x22\\x5C\\x7F', $user ], "its arguments: $name";
    like $value[3], qr/^\{\\x22.*userName.*\}$/, 'all of them';
    is join(' ', @value[ 4, 5 ]), 'ok -', 'status and rule';
    like join(' ', @value[ 7 .. 9 ]), qr/^0\.\d{3} $s $s$/, 'times';
    like join(' ', @value[ 10, 11 ]), qr/^\d{3} \d{2,3}$/, 'bytes';
    is join(' ', @value[ 12 .. 14 ]), "$$ $> $gid", 'who';
    is $value[15], 'an \\x22agent\\x22\\x0A', 'its name';
    like $value[16], qr/^\d+$/, 'its id';
    is join(' ', @value[ 17 .. 19 ]), 'jsonrpc an a: ok unix:',
        'maps of arguments and status, and what is NGINX\'s own';
}
$c->call_tool("no\nsuch\"one" => { x => 1 });
is scalar((split /\|/, line('own.log'))[0]), 'no\\x0Asuch\\x22one',
    'a name that there is not';
line('calls.log') for 1, 2;
like line('calls.log'), qr/ tool="no\\nsuch\\"one" status=unknown rule=- /,
    'a client forges no line';
$c->call_tool('x' x 5000);
is scalar((split /\|/, line('own.log'))[0]), '-',
    'one that is too long for a name';
like line('calls.log'), qr/^$time tool=- status=unknown /, 'is none';

# --- the choice of the log ------------------------------------------------

my $before = -s "$dir/calls.log";
$c->call_tool('quiet');
$c->call_tool('apart', { x => 'secret' });
is object('apart.log')->{tool}, 'apart',
    "a tool's own";
is -s "$dir/calls.log", $before, 'is not in that of the server, nor is off';
ok !-s "$dir/outer.log", 'what stands further out is not written';
$tg->connect("$dir/inherits.sock")->call_tool('hi');
like line('outer.log'), qr/^hi\|/, 'but where nothing else is said';

$tg->connect("$dir/escapes.sock")
    ->call_tool(hi => { x => "a\"\n\\" });
is object('escaped.json')->{x}, "a\"\n\\",
    'escape=json';
is line('plain.log') . '+' . line('plain.log'), "a\"+\\\$",
    'escape=none, and a dollar';
my $control = "\x{7f}\x{85}\x{9b}\x{200e}\x{2028}\x{2029}\x{202e}\x{2066}";
$tg->connect("$dir/escapes.sock")->call_tool(hi => { x => "\x{e9}$control." });
my $line = line('escaped.json');
like $line, qr/"\xc3\xa9\\u007f\\u0085\\u009b\\u200e\\u2028\\u2029
    \\u202e\\u2066\."/x, 'what a terminal acts on is escaped';
my $read = Toolgate::Json::decode($line);
is $read->{x}, "\x{e9}$control.", "which is JSON";

# Configured formats: names of a client and of its calls, its id.
my $odd = $tg->connect;
$odd->rpc('initialize', {
    protocolVersion => '2025-06-18',
    capabilities    => {},
    clientInfo      => { name => "n$control", version => "v$control" },
});
$seen{$_} = -s "$dir/$_" for qw(calls.log calls.json);
$odd->send_line($odd->encode({
    jsonrpc => '2.0',
    id      => "i$control",
    method  => 'tools/call',
    params  => { name => "t$control", arguments => {} },
}));
ok $odd->recv_line, 'an answer to an odd client';
for my $name (qw(calls.log calls.json)) {
    $line = line($name);
    my $shown = '\\u007f\\u0085\\u009b\\u200e\\u2028\\u2029\\u202e\\u2066';
    like $line, qr/[=:]"\Q$_$shown\E"/, "$name: $_" for qw(t i n v);
    unlike $line, qr/[^ -~]/, "$name: nothing else than ASCII";
}

# --- calls without a line -------------------------------------------------

unlike slurp("$dir/$_"), qr/secret/, "no arguments in $_"
    for qw(calls.log calls.json apart.log error.log);
like slurp("$dir/own.log"), qr/secret/, 'but where a format asks for them';
my @broken = grep { !eval { Toolgate::Json::decode($_) } } split /\n/,
    slurp("$dir/calls.json");
is "@broken", '', 'each line of JSON is JSON';

done_testing;
