#!/usr/bin/perl
# The end of the bridge, and what it never does: read without bound, block on
# its log, start threads, stay behind.

use Toolgate::Test qw(Parent), plain_too => 'it measures memory';
use Time::HiRes qw(time sleep);

my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $parent = Toolgate::Parent->new($sock);
my $tool = \&Toolgate::Parent::tool;
my $text = \&Toolgate::Parent::text_result;
my ($bridge, $conn);

sub begin {
    my ($env) = @_;
    $bridge = $tg->bridge(undef, $env);
    $conn = $parent->serve($tool->('one'));
    $bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
}

sub cancelled {
    $conn->recv_where(
        sub { ($_[0]{method} // '') eq 'notifications/cancelled' },
        undef, 'notifications/cancelled');
    return;
}

sub memory {
    my ($kb) = slurp('/proc/' . $bridge->pid . '/status')
        =~ /^VmRSS:\s*(\d+)/m;
    return $kb / 1024;
}

sub ends {
    my ($name, $how) = @_;
    $how->();
    is $bridge->wait_exit, 0, "$name: exit status";
    ok Toolgate::Parent::is_left($conn), "$name: the parent is left";
}

# --- the end, with a running call ----------

for my $case (
    # The call has some time first, see 217-bridge-drain.t.
    [ 'the end of stdin', sub { $bridge->shutdown_write; cancelled() } ],
    [ 'SIGTERM', sub { $bridge->signal('TERM') } ],
    [ 'SIGINT', sub { $bridge->signal('INT') } ],
    [
        'a broken stdout',
        sub { close $bridge->{in}; $conn->notify('notifications/x') }
    ])
{
    my ($name, $how) = @$case;
    begin();
    my $id = $bridge->request('tools/call', { name => 'one' });
    Toolgate::Parent::request($conn, 'tools/call');
    ends($name, $how);
}

# A probe that is dropped at once: a client that only detects the era closes and
# kills, in any order.
my $probe = {
    jsonrpc => '2.0',
    id      => 1,
    method  => 'server/discover',
    params  => {
        _meta => modern_meta(),
    },
};
for my $n (1 .. 40) {
    $bridge = $tg->bridge;
    wait_for {
        my $program = readlink '/proc/' . $bridge->pid . '/exe';
        ($program // '') =~ /toolgate-bridge/;
    };
    # From hardly loaded to having read the probe.
    sleep 0.0003 * ($n - 1);
    $bridge->send_line($probe);
    if ($n % 2) {
        $bridge->shutdown_write;
        $bridge->signal('TERM');
    } else {
        $bridge->signal('TERM');
        $bridge->shutdown_write;
    }
    my $status = $bridge->wait_exit;
    1 while $bridge->fill(time + 60);
    ok $status == 0 || $status == 15, "probe $n: it ends";
    like $bridge->buffered, qr/\A(?:\{.*\}\n)?\z/,
        "probe $n: a whole answer or none";
}
$parent->close;
$parent->listen;

# --- an agent that does not read ---

begin();
my $line = $conn->encode({
    jsonrpc => '2.0',
    method  => 'notifications/x',
    params  => { x => 'y' x 65_000 },
}) . "\n";
my $sent = 0;
while ($sent < 1_000) {
    my $n = eval { $conn->send_raw($line, 0.5) };
    last if !$n;
    $sent++;
}
cmp_ok $sent, '<', 200, 'an agent that does not read: the parent is stopped';
cmp_ok memory(), '<', 40, 'the memory is bounded';
my $got = 0;
$got++ while $got < $sent && $bridge->recv_line;
is $got, $sent, 'all arrives when it reads';
$bridge->stop;

# It stops reading and closes.
begin();
eval { $conn->send_raw($line, 0.5) for 1 .. 1_000 };
ends('the end of an agent that does not read',
    sub { $bridge->shutdown_write });
begin();
eval { $conn->send_raw($line, 0.5) for 1 .. 1_000 };
ends('SIGTERM with an agent that does not read',
    sub { $bridge->signal('TERM') });

# --- a parent that does not read ---

begin();
my $call = $bridge->encode({
    jsonrpc => '2.0',
    id      => 'ID',
    method  => 'tools/call',
    params  => { name => 'one', arguments => { x => 'y' x 65_000 } },
});
$sent = 0;
while ($sent < 900) {
    (my $next = $call) =~ s/ID/c$sent/;
    last if !eval { $bridge->send_raw("$next\n", 0.5) };
    $sent++;
}
cmp_ok $sent, '<', 200, 'a parent that does not read: the agent is stopped';
cmp_ok memory(), '<', 60, 'the memory is bounded';
my %seen;
for (1 .. $sent) {
    my $request = Toolgate::Parent::request($conn, 'tools/call');
    Toolgate::Parent::answer($conn, $request, $text->('ok'));
}
$seen{ $bridge->recv_json->{id} }++ for 1 .. $sent;
is scalar(keys %seen), $sent, 'all calls are answered when it reads';
$bridge->stop;

begin();
eval { $bridge->send_raw("$call\n", 0.5) for 1 .. 900 };
$bridge->shutdown_write;
is $bridge->wait_exit, 0, 'its input ends meanwhile: exit status';
$conn->close;

# --- a log that nobody reads ---

pipe my $unread, my $log or die "pipe: $!";
$bridge = $tg->spawn({ stderr => $log, env => { TOOLGATE_DEBUG => 1 } },
    $tg->bridge_path, $sock);
close $log;
$conn = $parent->serve($tool->('one'));
$bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
for my $n (1 .. 200) {
    my $id = $bridge->request('tools/call',
        { name => 'one', arguments => { x => 'y' x 2_000 } });
    Toolgate::Parent::give($conn, 'tools/call', $text->('ok'));
    $bridge->reply($id)->{result} or last;
}
is_deeply $bridge->rpc('ping')->{result}, {}, 'a full log blocks nothing';
$bridge->{stderr} = undef;
$bridge->stop;
close $unread;

# --- small ---

begin();
my $about = slurp('/proc/' . $bridge->pid . '/status');
like $about, qr/^Threads:\s*1$/m, 'no threads';
memory_below memory(), 4, 'little memory';
$bridge->stop;

# --- strange descriptors ---

my ($status, $out);
my $script = $tg->file('in', $bridge->encode($probe) . "\n");
$parent->close;
($status, $out) = run_command({ env => $tg->san_env }, 'sh', '-c',
    'exec "$0" "$1" <"$2"', $tg->bridge_path, $sock, $script);
is $status, 0, 'files for stdin and stdout: exit status';
like $out, qr/^\{.*"supportedVersions".*\}\n\z/, 'and the answer';
for my $closed ('<&-', '>&-', '<&- >&- 2>&-') {
    ($status) = run_command({ env => $tg->san_env }, 'sh', '-c',
        'exec "$0" "$1" </dev/null ' . $closed, $tg->bridge_path, $sock);
    is $status, 0, "closed descriptors ($closed): an agent that is not there";
}
($status) = run_command({ env => $tg->san_env }, 'sh', '-c',
    'exec "$0" "$1" <"$2" >/dev/full', $tg->bridge_path, $sock, $script);
isnt $status, 0, 'a full disk is a failure';

done_testing;
