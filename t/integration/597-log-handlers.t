#!/usr/bin/perl
# Log line and counters of a call with each handler: a backend, an MCP server,
# an HTTP API, a library, the worker itself, the tasks; also in a batch, without
# a reader, or ended by the operator.

use Toolgate::Test qw(Backend Hang Native Status Web);
use Toolgate::McpServer ();

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $backend = Toolgate::Backend->new('jsonrpc', "$dir/backend.sock");
my $pass = $backend->pass;
my $web = Toolgate::Web->new($tg);
my $url = $web->url;
my $far = join ' ', @{ Toolgate::McpServer::stand_in() };
Toolgate::Native->probe("$dir/probe.so", 'one');
# Calls that read the counters do not count.
my %option = (stream => <<'END');
map $tool_name $is_theirs { ~^toolgate\.(?:status|cancel)$ 0; default 1; }
END
$tg->conf(<<"END", %option)->start;
tool_log calls.json json if=\$is_theirs;
tool hang { $handler }
tool away { $pass timeout 200ms; }
tool far { $pass timeout 60s; }
method away { $pass }
mcp_server their { exec $far; prefix their_; timeout 60s; }
mcp_server own {
    exec $far;
    tool_log own.json json;
    tool ask { tool_log off; }
    tool echo { timeout 60s; }
    tool error { tool_log ask.json json; }
}
tool web { http GET $url/status/\$tool_arg_n; }
tool late { http GET $url/hang/late; timeout 200ms; }
tool closed { http GET $url/close; }
tool nobody { http GET http://127.0.0.1:1/; }
tool echo { library probe.so probe_echo; }
tool fails { library probe.so probe_fail; }
tool later { library probe.so probe_later 60 key; timeout 200ms; }
tool checked { return 1; input_schema '{"type":"object","required":["a"]}'; }
tool rated { return 1; rate 1r/m; }
tool hidden { return 1; deny all; }
tool spills { exec seq 100000; max_output 4k spill; }
tool full { exec sleep 60; concurrency 1 queue=1; }
method news { broadcast app/news; }
method who { clients; }
method m { return 1; }
task_agent sh { exec sh -c \$task_prompt; default; }
automation off { trigger event type=none; notify off; }
task_methods on;
task_tools on;
END

my $c = $tg->connect;
my $status = Toolgate::Status->new($tg->connect);
my $log = "$dir/calls.json";
my $read = 0;
my %ends;

# Returns the next line as soon as it exists.
sub line {
    my ($what) = @_;
    wait_for { substr(slurp($log) // '', $read) =~ /\n/ } "a line: $what";
    my ($line) = substr(slurp($log), $read) =~ /\A([^\n]*)\n/;
    $read += length($line) + 1;
    return Toolgate::Json::decode($line);
}

# Compares its end: "NAME STATUS RULE", a method as NAME().
sub is_line {
    my ($name, $end, $what) = @_;
    my $line = line($what);
    my $of = $line->{tool} // ($line->{method} // '-') . '()';
    is "$of $line->{status} " . ($line->{rule} // '-'), "$name $end", $what;
    $ends{$of}{ $line->{status} }++ if $line->{status} ne 'unknown';
    return $line;
}

# --- a backend ------------------------------------------------------------

my $id = $c->request('tools/call', { name => 'far' });
$backend->text($backend->heard, 'ok');
$c->reply($id);
is_line('far', 'ok -', 'a backend answers');
$id = $c->request('tools/call', { name => 'far' });
$backend->answer($backend->heard,
    result => { isError => JSON::PP::true, content => [] });
$c->reply($id);
is_line('far', 'program -', 'with an error');
$id = $c->request('away');
$backend->answer($backend->heard('away'),
    error => { code => -32001, message => 'no' });
$c->reply($id);
is_line('away()', 'program -', 'a method, too');
$id = $c->request('tools/call', { name => 'away' });
$backend->heard;
$c->reply($id);
is_line('away', 'timeout timeout', 'it takes too long');
$id = $c->request('tools/call', { name => 'far' });
$backend->accept;
$backend->heard;
$c->notify('notifications/cancelled', { requestId => $id });
is_line('far', 'cancelled -', 'its caller does not want it any more');
$id = $c->request('tools/call', { name => 'far' });
$backend->heard;
$backend->conn->close;
$c->reply($id);
is_line('far', 'lost -', 'it goes away');
$tg->allow_log(qr/backend "\S+" closed its connection/);

# --- an MCP server --------------------------------------------------------

wait_for { $c->call_tool('their_echo')->{result} } 'an MCP server';
$read = -s $log;
wait_for { $status->look->of('their_echo')->{in_flight} == 0 } 'all counted';
$ends{their_echo} = $status->ends('their_echo');
$c->call_tool('their_echo');
is_line('their_echo', 'ok -', 'an MCP server answers');
$c->call_tool('their_error');
is_line('their_error', 'program -', 'with an error');
$c->call_tool('their_die');
is_line('their_die', 'lost -', 'it dies');
$tg->allow_log(qr/mcp_server their/);
$id = $c->request('tools/call', { name => 'their_hang' });
wait_for { $status->look->calls('their_hang') } 'a call';
$c->notify('notifications/cancelled', { requestId => $id });
is_line('their_hang', 'cancelled -', 'nobody waits for it');

# The nearest log: of the block, or of the tool in it.
wait_for { $c->call_tool('own_echo')->{result} } 'another one';
$c->call_tool("own_$_") for qw(ask error echo);
sub ends_in {
    my ($name) = @_;
    return join ' ', map { "$_->{tool} $_->{status}" }
        grep { $_->{status} ne 'unknown' }
        map { Toolgate::Json::decode($_) } lines_of("$dir/$name");
}
like ends_in('own.json'), qr/^(?:own_echo ok ?){2}$/, 'the log of a block';
is ends_in('ask.json'), 'own_error program', 'that of a tool in it';
while ((-s $log) > $read) { is line('early')->{status}, 'unknown', 'too early' }

# --- HTTP -----------------------------------------------------------------

$c->call_tool(web => { n => 200 });
is_line('web', 'ok -', 'an HTTP API answers');
$c->call_tool(web => { n => 404 });
is_line('web', 'program -', 'with an error');
$c->call_tool('late');
is_line('late', 'timeout timeout', 'it takes too long');
$c->call_tool('closed');
is_line('closed', 'lost -', 'it hangs up');
$c->call_tool('nobody');
is_line('nobody', 'lost -', 'nobody is there');

# --- a library, and the worker itself -------------------------------------

$c->call_tool('echo');
is_line('echo', 'ok -', 'a library answers');
$c->call_tool('fails');
is_line('fails', 'program -', 'with an error');
$c->call_tool('later');
is_line('later', 'timeout timeout', 'later, and too late');
$c->rpc('news', { n => 1 });
is_line('news()', 'ok -', 'a broadcast');
$c->rpc('who');
is_line('who()', 'ok -', 'who is connected');
$c->call_tool('spills');
is_line('spills', 'ok -', 'an output that is too large');
$c->call_tool(toolgate_output => { id => 'x' });
is_line('toolgate_output', 'arguments input_schema', 'a page of none');

# --- tasks ----------------------------------------------------------------

my $task = $c->rpc('task.submit', { prompt => 'exit 1' })->{result}{taskId};
is_line('task.submit()', 'ok -', 'a task');
$c->rpc('task.get', { taskId => 'task-9999' });
is_line('task.get()', 'arguments -', 'none');
$c->rpc('daemon.status');
is_line('daemon.status()', 'ok -', 'the daemon');
$c->rpc('automation.status');
is_line('automation.status()', 'ok -', 'its rules');
$c->call_tool(task_list => {});
is_line('task_list', 'ok -', 'the same as a tool');

# --- a batch --------------------------------------------------------------

my @batch = (
    [ 'm()', 'ok -',      { id => 'a', method => 'm' } ],
    [ 'none()', 'unknown -', { id => 'b', method => 'none' } ],
    [ 'm()', 'ok -',      { method => 'm' } ],
);
push @batch, map { [
    $_->[0], $_->[1],
    {
        id     => $_->[0],
        method => 'tools/call',
        params => { name => $_->[0], arguments => {} },
    } ] }
    [ 'checked', 'arguments input_schema' ],
    [ 'rated', 'ok -' ], [ 'rated', 'busy rate' ],
    [ 'hidden', 'unknown deny' ];
my $batcher = $tg->connect;
$batcher->send_line([ map { { jsonrpc => '2.0', %{ $_->[2] } } } @batch ]);
$batcher->recv_json;
is_line($_->[0], $_->[1], "in a batch: $_->[0], $_->[1]") for @batch;

# --- the operator ---------------------------------------------------------

$id = $c->request('tools/call',
    { name => 'hang', arguments => { key => 'one' } });
$hang->started('one');
my ($call) = $status->look->calls('hang');
$tg->cli('cancel', $call->{id});
$c->reply($id);
is_line('hang', 'ended -', 'the operator ends it');

# --- counters of all calls ------------------------------------------------

wait_for { $status->look->sum('in_flight') == 0 } 'the end of all';
is_deeply $status->ends($_), $ends{$_}, "counted: $_" for sort keys %ends;
is -s $log, $read, 'nothing else has a line';

done_testing;
