#!/usr/bin/perl
# Requests before the end of the agent's input are answered, within a bound.

use Toolgate::Test qw(Parent);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $sock = $tg->socket_path;
my $tool = \&Toolgate::Parent::tool;
my $text = \&Toolgate::Parent::text_result;
my $handshake = $json->encode({
    jsonrpc => '2.0',
    id      => 1,
    method  => 'initialize',
    params  => { protocolVersion => '2025-11-25' },
});
my $list = '{"jsonrpc":"2.0","id":2,"method":"tools/list"}';
my $call = '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":'
    . '{"name":"one"}}';

# Returns the ids of the responses, in order.
sub ids {
    my ($out) = @_;
    return [ map { $json->decode($_)->{id} } split /\n/, $out ];
}

sub sorted {
    my ($out) = @_;
    return $json->encode(
        [ sort { ($a // 0) <=> ($b // 0) } @{ ids($out) } ]);
}

# --- against Toolgate ---

$tg->conf(<<'END')->start;
tool one  { description x; return hello; }
tool slow { description x; exec sh -c "sleep 0.4; echo done"; }
END
(my $slow = $call) =~ s/3,(.*)"one"/4,$1"slow"/;

for my $case (
    [ "$handshake\n$list\n$call\n" => [ 1 .. 3 ], 'lines' ],
    [ "$handshake\n$list\n$call" => [ 1 .. 3 ], 'no newline at the end' ],
    [ $call => [3], 'one line without a newline' ],
    [ "$handshake\n$slow\n$call" => [ 1, 3, 4 ], 'a program' ],
    [ "\n$slow" => [4], 'a program, without a newline' ],
    [ "$call\n{" => [ undef, 3 ], 'half a line' ],
    [ '' => [], 'nothing' ],
    [ "\n \n" => [], 'blank lines' ])
{
    my ($in, $want, $name) = @$case;
    my $want_ids = $json->encode($want);
    my ($status, $out) = run_command({ env => $tg->san_env, stdin => $in },
        $tg->bridge_path, $sock);
    is $status, 0, "$name: exit status";
    is sorted($out), $want_ids, "$name: the answers";
    for my $n (1 .. 5) {
        ($status, $out) = run_command({ env => $tg->san_env, stdin => $in },
            'sh', '-c', 'cat | "$0" "$1" | cat', $tg->bridge_path, $sock);
        is sorted($out), $want_ids, "$name: the answers through pipes";
    }
}
$tg->stop;

# --- a running call -----

my $parent = Toolgate::Parent->new($sock);
my ($bridge, $conn);

sub begin {
    $bridge = $tg->bridge;
    $conn = $parent->serve($tool->('one'));
    $bridge->rpc('initialize', { protocolVersion => '2025-11-25' });
    my $id = $bridge->request('tools/call', { name => 'one' });
    my $request = Toolgate::Parent::request($conn, 'tools/call');
    $bridge->shutdown_write;
    return ($id, $request);
}

# Returns the methods that the parent received until the bridge closed.
sub heard {
    my ($conn) = @_;
    my @methods;
    while (!$conn->at_eof) {
        push @methods, $conn->recv_json->{method} // '';
    }
    return @methods;
}

my ($id, $request) = begin();
Toolgate::Parent::answer($conn, $request, $text->('late'));
is $bridge->reply($id)->{result}{content}[0]{text}, 'late',
    'a call that runs is waited for';
is $bridge->wait_exit, 0, 'then it ends';

($id, $request) = begin();
like $bridge->reply($id)->{error}{message}, qr/cancelled/,
    'a call that does not end is answered';
is $bridge->wait_exit, 0, 'and the bridge ends';
ok scalar(grep { $_ eq 'notifications/cancelled' } heard($conn)),
    'the parent was notified of the cancellation';

# --- what does not wait for a call ---

for my $case (
    [ 'SIGTERM', sub { $bridge->signal('TERM') } ],
    [ 'stdout that nobody reads', sub { $bridge->close } ])
{
    my ($name, $how) = @$case;
    begin();
    $how->();
    is $bridge->wait_exit, 0, "$name: exit status";
    ok !scalar(grep { $_ eq 'notifications/cancelled' } heard($conn)),
        "$name: the call is not waited for";
}
$parent->close;

# --- no parent ---

my ($status, $out) = run_command(
    { env => $tg->san_env, stdin => "$handshake\n$list\n$call" },
    $tg->bridge_path, '--grace', '1', $sock);
is $status, 0, 'without a parent: exit status';
is_deeply ids($out), [ 1 .. 3 ], 'each is answered';
like $json->decode((split /\n/, $out)[1])->{error}{message},
    qr/not running/, 'with what is missing';

done_testing;
