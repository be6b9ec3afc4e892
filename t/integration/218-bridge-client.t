#!/usr/bin/perl
# The calling agent is known in both eras, directly and through the bridge: in
# variables, maps, logs, traces, `clients` and the status; after a reload, with
# a new server, and after a probe.

use Toolgate::Test qw(Trace);

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my $key = 'io.modelcontextprotocol/';
my ($version) = slurp($tg->bridge_path) =~ m{toolgate-bridge/(\d[\w.]*)};
my $via = "toolgate-bridge/$version";

# As in docs/directives-logs.md under tool_log_format and tool_trace.
my $body = <<'END';
tool_log calls.json json;
tool_log who.log who;
tool who {
    description x;
    return "$tool_client_name|$tool_client_version|$tool_client_via|$is_agent";
}
tool hang { description x; exec sleep 3600; timeout 2h; }
method toolgate.clients { clients; }
END
$body .= "tool_trace frames.trace if=\$is_agent;\n" if has_msgpack();
my $stream = <<'END';
map $tool_client_name $is_agent { claude-code 1; }
tool_log_format who '$time_iso8601 $tool_client_uid $tool_client_name '
                    '$tool_name "$tool_arg_path" $tool_status';
END
$tg->conf($body, stream => $stream)->start;

sub agent {
    my ($client, $name, $v) = @_;
    $client->rpc('initialize', {
        protocolVersion => '2025-06-18',
        capabilities    => {},
        clientInfo      => { name => $name, version => $v // '2.1' },
    });
    return $client;
}

sub claim {
    my ($name, $v) = @_;
    return {
        "${key}protocolVersion"    => '2026-07-28',
        "${key}clientCapabilities" => {},
        "${key}clientInfo"         => { name => $name, version => $v // '2.1' },
    };
}

sub who {
    my ($client, $meta) = @_;
    my $params = { name => 'who', arguments => { path => '/p' } };
    $params->{_meta} = $meta if $meta;
    return $client->rpc('tools/call', $params)->{result}{content}[0]{text};
}

sub last_line {
    my ($file) = @_;
    my @lines = split /\n/, slurp("$dir/$file") // '';
    return $lines[-1] // '';
}

sub is_known {
    my ($client, $want, $name, $meta) = @_;
    is who($client, $meta), $want, $name;
    my ($agent, $v, $through) = split /\|/, $want;
    wait_for { last_line('who.log') =~ / \Q$agent\E who "\/p" ok$/ }
        "$name: a format of one's own";
    my $json = Toolgate::Json::decode(last_line('calls.json'));
    is_deeply [ @$json{qw(client client_version via)} ],
        [ $agent, $v || undef, $through || undef ], "$name: the log";
    return;
}

# --- directly ---

my $legacy = agent($tg->connect, 'claude-code');
is_known($legacy, 'claude-code|2.1||1', 'legacy');
my $modern = $tg->connect;
is_known($modern, 'claude-code|3||1', 'modern', claim('claude-code', '3'));
is_known($modern, 'other|4||', 'each request says it', claim('other', '4'));
is_known($modern, 'other|||', 'a version that is too long',
    claim('other', '4' x 65));

# --- through the bridge ---

my $bridge = agent($tg->bridge, 'claude-code');
is_known($bridge, "claude-code|2.1|$via|1", 'legacy, through the bridge');
my $other = $tg->bridge;
is_known($other, "codex|0.63|$via|", 'modern, through the bridge',
    claim('codex', '0.63'));
is_known($other, "claude-code|7|$via|1", 'and another one',
    claim('claude-code', '7'));
my $probed = $tg->bridge;
$probed->rpc('server/discover', { _meta => claim('probe') });
agent($probed, 'claude-code', '8');
is_known($probed, "claude-code|8|$via|1", 'after a probe');
my $nameless = $tg->bridge;
$nameless->rpc('initialize', { protocolVersion => '2025-06-18' });
is who($nameless), "toolgate-bridge|$version||", 'an agent without a name';

SKIP: {
    skip 'built without msgpack-c' if !has_msgpack();
    my @pids;
    wait_for {
        @pids = map { $_->{client} // 0 } frames("$dir/frames.trace");
        return grep { $_ == $probed->pid } @pids;
    }
    'the trace of the agent that its map names';
    ok scalar(grep { $_ == $bridge->pid } @pids), 'all that it names';
    ok !scalar(grep { $_ == $nameless->pid } @pids), 'and no other';
}

sub seen {
    my @clients =
        @{ $tg->connect->rpc('toolgate.clients')->{result}{clients} };
    return { map { ($_->{pid} => $_) } grep { $_->{name} } @clients };
}
my $seen = seen();
is_deeply [ @{ $seen->{ $bridge->pid } }{qw(name version via)} ],
    [ 'claude-code', '2.1', $via ], 'clients: an agent behind a bridge';
is_deeply [ @{ $seen->{ $other->pid } }{qw(name version via)} ],
    [ 'claude-code', '7', $via ], 'the last one of several';
is $seen->{ $nameless->pid }{name}, 'toolgate-bridge', 'the bridge itself';

my $id = $bridge->request('tools/call', { name => 'hang' });
my $call;
wait_for {
    my $status = $tg->connect->rpc('toolgate.status')->{result};
    ($call) = grep { $_->{name} eq 'hang' } @{ $status->{calls} };
    return $call;
}
'a call';
is_deeply $call->{client},
    {
        pid     => $bridge->pid,
        uid     => $>,
        name    => 'claude-code',
        version => '2.1',
        via     => $via
    },
    'the status';
like +($tg->cli('ps'))[1], qr/ \(uid $>\) claude-code 2\.1 via \Q$via\E /,
    'toolgate ps';
$bridge->send_line({ jsonrpc => '2.0', method => 'notifications/cancelled',
    params => { requestId => $id } });

# --- the identity stays known ---

$tg->conf("tool more { description x; return 1; }\n$body",
    stream => $stream);
$tg->reload;
for my $case ([ $legacy, 'claude-code|2.1||1', 'a session' ],
    [ $bridge, "claude-code|2.1|$via|1", 'a bridge' ])
{
    my ($client, $want, $name) = @$case;
    is_known($client, $want, "$name over a reload");
}
wait_for { (seen()->{ $bridge->pid } // {})->{via} } 'the list after a reload';
is seen()->{ $bridge->pid }{name}, 'claude-code', 'clients, after a reload';

$tg->stop;
$tg->start;
is_known($bridge, "claude-code|2.1|$via|1", 'a bridge over a new server');

done_testing;
