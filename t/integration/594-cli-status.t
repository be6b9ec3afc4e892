#!/usr/bin/perl
# toolgate status, ps and cancel; and Prometheus' own tool reads the output.

use Toolgate::Test qw(Status);

my $tg = Toolgate::Test->new;
my $body = <<'END';
tool hi { return hi; }
tool hang { exec sleep 3600; timeout 2h; }
tool idle { return idle; }
mcp_server broken {
    exec  sh -c "echo the disk is full >&2; echo at 3 >&2; exit 1";
    start at=boot;
}
task_agent say { exec echo $task_prompt; }
task_methods on;
END
$tg->allow_log(qr/mcp_server broken/);
$tg->conf($body)->start;

my $client = $tg->connect;
$client->call_tool('hi') for 1 .. 3;
my $id = $client->request('tools/call', { name => 'hang' });
my $status = Toolgate::Status->new($tg->connect);
wait_for { $status->look->of('hang')->{in_flight} == 1 } 'a call';
wait_for {
    my ($mcp) = @{ $status->look->server->{mcp_servers} };
    return $mcp->{state} eq 'failed' && $mcp->{error} && $mcp->{restarts};
} 'an MCP server to fail, and again';

# --- status -----------------------------------------------------------------

# While it is tried again, it is "starting"; and another worker may answer,
# which has not read of the second start.
my ($rc, $out, $err);
wait_for {
    ($rc, $out, $err) = $tg->cli('status');
    return $out =~ /^broken +failed +0 +[1-9]/m;
} 'it to have failed';
is $rc, 0, 'status';
is $err, '', 'no error';
like $out, qr/^toolgate \S+, 2 workers$/m, 'workers';
like $out, qr/^unix:\S+ \(toolgate\): \d+ connections so far, \d+ open/m,
    'the server, and who is connected';
like $out, qr/^TOOL +CALLS +NOW +WAIT +MEAN +95% +IN +OUT +FAILED$/m, 'a table';
like $out, qr/^hi +3 +0 +0 +\d\S* ms +\d+ ms +\d+ +\d+$/m, 'a tool';
like $out, qr/^broken +failed +0 +[1-9]\d* +.*exited with status 1/m,
    'an MCP server, and why';
like $out, qr/^\S*\/state +up +\d+ +1 +0 +/m, 'the runner';
unlike $out, qr/\\u000a|at 3/, 'of an error no second line';
unlike $out, qr/^(?:idle|task\.)/m, 'no rows without calls, and no internal';
like $out, qr/^not shown: 1 without calls, \d\d internal methods; --all /m,
    'as it says';

($rc, $out) = $tg->cli('status', '--all');
is $rc, 0, 'all';
like $out, qr/^idle +0 +0 +0 +- +- +0 +0$/m, 'what nobody has called';
like $out, qr/^task\.list \(method\) +0 /m, 'a method of Toolgate';
unlike $out, qr/^not shown/m, 'nothing is left out';

# --- one name ---------------------------------------------------------------

wait_for { ($rc, $out) = $tg->cli('status', 'broken'); $out =~ /^last error/m }
    'it to have failed';
is $rc, 0, 'status of an MCP server';
like $out, qr/^mcp_server broken$/m, 'its name';
like $out, qr/^last error:\n\n.* status 1: the disk is full\nat 3\n\z/m,
    'its whole error';
($rc, $out) = $tg->cli('status', 'hi');
is $rc, 0, 'status of a tool';
like $out, qr/^tool       hi\n.*^calls      3\n.*^95%        \d+ ms\n/ms,
    'its numbers';
($rc, $out, $err) = $tg->cli('status', 'hy');
is "$rc $out", '1 ', 'status of nothing';
like $err, qr/unknown tool, method or MCP server "hy".*\bhi\b/,
    'and what is there';
for my $args (['--all'], ['--json'], ['--prometheus'], ['more']) {
    is +($tg->cli('status', 'hi', @$args))[0], 2, "status hi @$args";
}

($rc, $out) = $tg->cli('status', '--json');
is $rc, 0, 'as JSON';
is_deeply [ map { $_->{name} }
        grep { !$_->{internal} } @{ Toolgate::Client->decode($out)
        ->{servers}[0]{tools} } ], [qw(hi hang idle)],
    'all that was answered';

# --- Prometheus -------------------------------------------------------------

($rc, $out) = $tg->cli('status', '--prometheus');
is $rc, 0, 'for Prometheus';
like $out, qr/^toolgate_calls_total\{server="unix:[^"]+",type="tool",
    tool="hi",status="ok"\}\ 3$/mx, 'a counter';
like $out, qr/^toolgate_mcp_server_ready\{server="[^"]+",
    mcp_server="broken"\}\ 0$/mx, 'a server that is down';
SKIP: {
    my ($promtool) = grep { -x } map {"$_/promtool"} split /:/, $ENV{PATH};
    skip 'no promtool (Debian: prometheus)', 2 if !$promtool;
    my ($status, $said, $wrong) =
        run_command({ stdin => $out }, $promtool, 'check', 'metrics');
    is $status, 0, 'promtool takes it';
    is $said . $wrong, '', 'and has nothing to say';
}

# --- repeated output --------------------------------------------------------

for my $case ([ 'ps', qr/^ID +AGE/m ], [ 'status', qr/^hi +3 +0 /m ]) {
    my ($what, $seen) = @$case;
    my $watch =
        $tg->spawn({ env => { TOOLGATE_SOCKET => $tg->socket_path } },
            "$BUILD/toolgate", $what, '--watch');
    wait_for {
        $watch->fill(time + 1);
        my @times = $watch->buffered =~ /$seen/g;
        return @times >= 2;
    } "$what to be shown twice";
    kill INT => $watch->pid;
    is $watch->wait_exit >> 8, 130, "$what --watch, until Ctrl-C";
}

# --- ps and cancel ----------------------------------------------------------

($rc, $out) = $tg->cli('ps');
is $rc, 0, 'ps';
like $out, qr/^ID\ +AGE\ +STATE\ +KIND\ +PID\ +CLIENT\ +TOOL\ +SERVER\n
    \ *\d+\ +\S+\ \w+\ +running\ +exec\ +\d+\ +$$\ \(uid\ $>\)\ +hang\ /x,
    'the call that runs';
my ($call) = $out =~ /^ *(\d+) /m;
is_deeply [ ($tg->cli('cancel', $call))[ 0, 1 ] ],
    [ 0, "call $call was ended\n" ], 'cancel';
like text_of($client->reply($id)), qr/^The operator cancelled/, 'its caller '
    . 'knows';
($rc, $out) = $tg->cli('ps');
is $out =~ tr/\n//, 1, 'no call runs';

($rc, $out, $err) = $tg->cli('cancel', $call);
is $rc, 1, 'it is no more';
like $err, qr/no call $call is running \(toolgate ps /, 'and why';
for my $args ([], ['x'], [0], [ '1', '2' ], ['9' x 30]) {
    ($rc, $out, $err) = $tg->cli('cancel', @$args);
    is $rc, 2, "cancel @$args";
}
($rc, $out, $err) = $tg->cli('status', '--json', '--prometheus');
is $rc, 2, 'one of the two';

# Not for everybody.
$tg->reload("tool_status_allow uid=12345; $body");
($rc, $out, $err) = $tg->cli('status');
is $rc, 1, 'not for us';
like $err, qr/tool_status_allow/, 'and where that is said';

done_testing;
