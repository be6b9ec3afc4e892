#!/usr/bin/perl
# Identities of programs that are no agents: the command line, programs with
# libtoolgate, and clients of dialects without a handshake, by the _meta of
# their calls.

use Toolgate::Test qw(Host);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $key = 'io.modelcontextprotocol/';
my ($version) = slurp($tg->bridge_path) =~ m{toolgate-bridge/(\d[\w.]*)};
$tg->conf(<<'END')->start;
tool_log calls.json json;
tool who {
    description x;
    return "$tool_client_name|$tool_client_version|$tool_client_via";
}
method toolgate.clients { clients; }
END

sub log_names {
    my ($n) = @_;
    my @lines;
    wait_for {
        @lines = split /\n/, slurp("$dir/calls.json") // '';
        return @lines >= $n;
    } 'the log';
    my $line = Toolgate::Json::decode($lines[-1]);
    return [ @$line{qw(client client_version via)} ];
}

# Returns the entry of a process in the list of clients.
sub entry {
    my ($pid) = @_;
    my $list = $tg->connect->rpc('toolgate.clients')->{result}{clients};
    my ($entry) = grep { $_->{pid} == $pid } @$list;
    return { map { $_ => $entry->{$_} } grep { exists $entry->{$_} }
            qw(name version via) };
}

# --- the command line -------------------------------------------------------

is_deeply [ $tg->cli('call', 'who') ], [ 0, "toolgate|$version|", '' ],
    'the command line';
is_deeply log_names(1), [ 'toolgate', $version, undef ], 'in the log';
my $watch = $tg->spawn({ env => { TOOLGATE_SOCKET => $tg->socket_path } },
    "$BUILD/toolgate", 'watch');
wait_for { %{ entry($watch->pid) } } 'one that stays';
is_deeply entry($watch->pid), { name => 'toolgate', version => $version },
    'in the list of clients';
kill TERM => $watch->pid;
$watch->wait_exit;

# --- libtoolgate ------------------------------------------------------------

# A client with a callback for notifications begins with `initialize`.
sub lib_client {
    my ($host, @options) = @_;
    $host->do('client new ' . $tg->socket_path);
    $host->do("client set $_") for @options;
    $host->do('client open');
    my ($text) = $host->do('client call who') =~ /"text":"([^"]*)"/;
    my $entry = entry($host->pid);
    $host->do('client free');
    return ($text, $entry);
}

my $host = Toolgate::Host->start($tg, 'thread');
my ($text, $entry) = lib_client($host);
is $text, "libtoolgate|$version|", 'a program with libtoolgate';
is_deeply $entry, { name => 'libtoolgate', version => $version },
    'in the list of clients';
($text, $entry) = lib_client($host, 'name my"app', 'version 1.2');

is_deeply $entry, { name => 'my"app', version => '1.2' },
    'which may be anything';
($text) = lib_client($host, 'name ' . 'x' x 128);
is $text, 'x' x 128 . '||', 'without a version, as long as may be';
$host->do('client new ' . $tg->socket_path);
like $host->fails('client set name ' . 'x' x 129),
    qr/"name" must be 1 to 128 bytes of UTF-8/, 'and not longer';
like $host->fails('client set version ' . 'x' x 65),
    qr/"version" must be 1 to 64 bytes/, 'nor a version';
like $host->fails("client set name \xff"), qr/bytes of UTF-8/, 'nor bytes';

# --- relay and ipc ----------------------------------------------------------

sub meta {
    my ($name, $v) = @_;
    return { _meta => {
            "${key}protocolVersion"    => '2026-07-28',
            "${key}clientCapabilities" => {},
            "${key}clientInfo"         => { name => $name, version => $v },
        } };
}

my $relay = $tg->connect;
my $id = 0;

sub relay_call {
    my ($more) = @_;
    $relay->send_line({ kind => 'mcp_request', id => ++$id,
            method => 'tools/call', params => { name => 'who', %$more } });
    return $relay->recv_json->{result}{content}[0]{text};
}
is relay_call({}), '||', 'relay: no name';
is relay_call(meta('a', '1')), 'a|1|', 'relay: in _meta';
is relay_call({}), 'a|1|', 'it stays';
is relay_call(meta('b', '2')), 'b|2|', 'until there is another one';

my $ipc = $tg->connect;
for my $case ([ {}, '||' ], [ meta('c', '3'), 'c|3|' ]) {
    my ($more, $want) = @$case;
    $ipc->send_ipc({ method => 'call_tool',
            params => { name => 'who', arguments => {}, %$more } });
    is $ipc->recv_ipc->{result}{content}[0]{text}, $want, "ipc: $want";
}

# A bridge passes on the identity in the agent's call.
my $bridge = $tg->bridge([ '--dialect', 'relay', $tg->socket_path ]);
is $bridge->rpc('tools/call', { name => 'who', %{ meta('codex', '4') } })
    ->{result}{content}[0]{text}, 'codex|4|', 'relay, through the bridge';

done_testing;
