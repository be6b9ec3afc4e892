#!/usr/bin/perl
# toolgate finds the server, prints an error if there is none, and reconnects
# during a reload.

use IO::Socket::UNIX;
use Socket qw(SOCK_DGRAM SOCK_STREAM);
use Toolgate::Test qw(Command);
use Toolgate::Parent qw(answer give request text_result);

my $tg = Toolgate::Test->new;
my $path = $tg->socket_path;

# --- the command line -----------------------------------------------------

my ($status, $out, $err) = $tg->cli('--version');
is $status, 0, '--version: status';
like $out, qr/^toolgate \d+\.\d+\.\d+\n\z/, '--version';
for my $args ([ '--help' ], ['help']) {
    ($status, $out) = $tg->cli(@$args);
    is $status, 0, "@$args: status";
    like $out, qr/^usage: toolgate COMMAND.*^  call /ms, "@$args";
}
for my $command (qw(list call ping config)) {
    ($status, $out) = $tg->cli('help', $command);
    like $out, qr/^usage: toolgate $command /, "help $command";
    is +($tg->cli($command, '-h'))[1], $out, "$command -h: the same";
}

for my $case (
    [ qr/^usage: toolgate COMMAND/ ],
    [ qr/unknown command "lsit"; did you mean list\? \(see /, 'lsit' ],
    [ qr/unknown command "lsit"/, 'help', 'lsit' ],
    [ qr/unknown command "word_count" .*; to call a tool, use toolgate call/,
        'word_count' ],
    [ qr/unknown option --jsn/, 'list', '--jsn' ],
    [ qr/unknown option -x/, 'list', '-x' ],
    [ qr/ping does not take --watch \(-w\) \(see/, 'ping', '-w' ],
    [ qr/does not take --limit; an argument of the tool is written limit=5/,
        'call', 'x', '--limit', 5 ],
    [ qr/does not take --state; an argument [^;]* written state=a=b \(see/,
        'call', 'x', '--state=a=b' ],
    [ qr/unknown option --text; .*\? An argument .* is written text=hi /,
        'call', 'x', '--text', 'hi' ],
    [ qr/option --text=hi; .*\? An argument [^;]* written text=hi \(see/,
        'call', 'x', '--text=hi' ],
    [ qr/unknown option --q; an argument of the tool is written q=VALUE \(see/,
        'call', 'x', '--q' ],
    [ qr/task needs a subcommand/, 'task', '--limit', 5 ],
    [ qr/config does not take --watch/, 'config', 'claude', '--watch' ],
    [ qr/--json takes no value/, 'list', '--json=1' ],
    [ qr/--socket needs a value$/, 'list', '--socket' ],
    [ qr/--socket needs a value that is not empty/, 'list', '--socket=' ],
    [ qr/list does not take --write \(see toolgate help list\)/,
        'list', '--write' ],
    [ qr/list takes no arguments.*toolgate help NAME/, 'list', 'x' ],
    [ qr/ping takes no arguments/, 'ping', 'x' ],
    (map { [ qr/--timeout must be in seconds/, 'ping', '--timeout', $_ ] }
        qw(0 -1 nan inf 1x x)),
    [ qr/no socket given\..*TOOLGATE_SOCKET/,
        { env => { TOOLGATE_SOCKET => undef } }, 'ping' ],
    [ qr/no socket given\./, { env => { TOOLGATE_SOCKET => '' } }, 'ping' ])
{
    my ($pattern, @args) = @$case;
    ($status, $out, $err) = $tg->cli(@args);
    my $name = join ' ', map { ref ? 'no socket' : $_ } @args;
    is $status, 2, "'$name': status";
    like $err, $pattern, "'$name': why";
    is $out, '', "'$name': nothing on stdout";
}

# --- no server ------------------------------------------------------------

sub unreachable {
    my ($pattern, $name, @args) = @_;
    ($status, $out, $err) = $tg->cli(@args ? @args : 'ping');
    is $status, 2, "$name: status";
    like $err, $pattern, "$name: why";
}

my $nobody = qr/nothing listens on \Q$path\E: is Toolgate running\?/;
unreachable($nobody, 'no file');
my $parent = Toolgate::Parent->new($path);
$parent->close(stale => 1);
ok -S $path, 'a socket is left behind';
unreachable($nobody, 'a stale socket');
unlink $path;

my $file = $tg->file('plain', '');
unreachable(qr/\Q$file\E is not a socket/, 'a file', 'ping', '--socket', $file);
unreachable(qr/is not a socket/, 'a folder', 'ping', '--socket', $tg->dir);
unreachable(qr/nothing listens on \S+\xff\.sock:/, 'a path that is not UTF-8',
    'ping', '--socket', $tg->dir . "/\xff.sock");
unreachable(qr/at most 107 bytes/, 'a long path',
    'ping', '--socket', '/' . 'x' x 108);
my $datagram = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path);
unreachable(qr/is not a stream socket/, 'a datagram socket');
close $datagram;
unlink $path;

SKIP: {
    skip 'root may connect to everything', 2 if $> == 0;
    $parent->listen;
    chmod 0, $path;
    unreachable(qr/you may not connect to .*tool_socket_mode/s, 'mode 0');
    $parent->close;
}

# A queue of connections that nobody accepts.
{
    my $full = IO::Socket::UNIX->new(
        Type => SOCK_STREAM, Local => $path, Listen => 1)
        or die $!;
    my @waiting;
    while (1) {
        my $one = IO::Socket::UNIX->new(Type => SOCK_STREAM) or die $!;
        $one->blocking(0);
        last if !connect $one, Socket::pack_sockaddr_un($path);
        push @waiting, $one;
    }
    my $cli = Toolgate::Command::start($tg, 'ping');
    # Accepted after the others have closed.
    for (@waiting) {
        my $one = $full->accept;
        close $one;
    }
    my $socket = $full->accept;
    my $conn = Toolgate::Client->over($socket, $socket, 'server');
    give($conn, 'ping', {});
    give($conn, 'initialize', {});
    give($conn, 'ping', {});
    is +(finish($cli))[0], 0, 'a full queue: waited for';
    close $full;
    unlink $path;
}

# --- another kind of server -----------------------------------------------

$parent->listen;
my $cli = Toolgate::Command::start($tg, 'ping');
$parent->accept->close for 1 .. 5;
ends($cli, 'every connection ended', 2, undef,
    qr/closes every connection: is it a Toolgate socket\?/);
ok !$parent->is_called(0), 'and not tried for ever';

# --- other ways to name the socket ----------------------------------------

for my $socket ("unix:$path", './t.sock') {
    $cli = Toolgate::Command::start(
        $tg, { cwd => $tg->dir, env => { TOOLGATE_SOCKET => '/nowhere' } },
        "--socket=$socket", 'call', '--method', 'm');
    my $conn = greet($parent);
    give($conn, 'm', 1);
    is +(finish($cli))[1], "1\n", "--socket=$socket before the command";
}

# --- reloads --------------------------------------------------------------

# Plays the exit of an old worker: a client that sent hello is notified that its
# request was not started.
sub leave {
    my ($conn) = @_;
    $conn->notify('notifications/toolgate/closing', { reason => 'reload' });
    $conn->close;
}

$cli = Toolgate::Command::start($tg, 'call', 'any');
for (1 .. 3) {
    my $conn = greet($parent);
    request($conn, 'tools/call');
    leave($conn);
}
my $conn = greet($parent);
give($conn, 'tools/call', text_result('at last'));
($status, $out, $err) = finish($cli);
is $status, 0, 'a reload: status';
is $out . $err, 'at last', 'a reload: sent again, and answered once';

# A worker exits before it has read hello.
$cli = Toolgate::Command::start($tg, 'call', 'any');
$parent->accept->close;
$conn = greet($parent);
give($conn, 'tools/call', text_result('x'));
is +(finish($cli))[1], 'x', 'a connection that ends at once is made again';

# The server is down for a moment.
$cli = Toolgate::Command::start($tg, 'call', 'any');
$conn = greet($parent);
request($conn, 'tools/call');
$parent->close;
leave($conn);
$parent->listen;
$conn = greet($parent);
give($conn, 'tools/call', text_result('back'));
is +(finish($cli))[1], 'back', 'a restart is waited for';

# A crash: the call may have been executed, so it is not sent again.
$cli = Toolgate::Command::start($tg, 'call', 'any');
$conn = greet($parent);
request($conn, 'tools/call');
$conn->close;
ends($cli, 'a crash', 2, undef,
    qr/was lost before the response; the request may have been executed/);
ok !$parent->is_called(0), 'a crash: not asked again';

# A server that answers the greeting and closes: connected to again.
$cli = Toolgate::Command::start($tg, 'task', 'stats', '--json');
greet($parent)->close;
$conn = greet($parent);
give($conn, 'task.stats', {});
ends($cli, 'a connection that ends after the greeting', 0, "{}\n");

# The session goes on after a request that is not answered.
$cli = Toolgate::Command::start($tg, 'automation', 'enable', 'a', 'b',
    '--timeout', '2');
$conn = greet($parent);
give($conn, 'automation.enable', { success => \0 });
my $status_request = request($conn, 'automation.status');
my $next = $conn->recv_json;
is $next->{method}, 'notifications/cancelled', 'a request without an answer';
is $next->{params}{requestId}, $status_request->{id}, 'is cancelled first';
is request($conn, 'automation.enable')->{params}{ruleId}, 'b',
    'then comes the next one';
is +(finish($cli))[0], 2, 'without an answer: status';

# A server's name stays on one line.
$cli = Toolgate::Command::start($tg, 'ping');
$conn = greet($parent);
give($conn, 'initialize', { serverInfo => { name => "a\nb" } });
give($conn, 'ping', {});
ends($cli, 'a name with a line feed', 0, qr/\Aa\\u000ab answered on .* ms\n\z/);

$cli = Toolgate::Command::start($tg, 'task', 'get', "\xff");
greet($parent);
ends($cli, 'an ID that is not UTF-8', 2, undef, qr/is not valid UTF-8/);

# Progress of a call that this client did not make.
$cli = Toolgate::Command::start($tg, 'watch', '--json');
$conn = greet($parent);
give($conn, 'initialize', {});
$conn->send_line('{"jsonrpc":"2.0","method":"notifications/progress",'
        . '"params":{"progressToken":"x","progress":1}}');
is $cli->recv_line, '{"method":"notifications/progress",'
    . '"params":{"progressToken":"x","progress":1}}', 'watch shows progress';
$cli->signal('TERM');
is +(finish($cli))[0], 143, 'watch: status';

# --- large messages -------------------------------------------------------

my $large = 'x' x 9_000_000;
$cli = Toolgate::Command::start($tg, { stdin => qq({"t":"$large"}) },
    'call', 'any', '-');
$conn = greet($parent);
my $call = request($conn, 'tools/call', 30);
is length $call->{params}{arguments}{t}, 9_000_000, 'large arguments';
answer($conn, $call, text_result($large));
($status, $out) = finish($cli, 30);
is $status, 0, 'a large answer: status';
ok $out eq $large, 'a large answer';

# Invalid responses are ignored.
$cli = Toolgate::Command::start($tg, 'call', '--method', 'm');
$conn = greet($parent);
$call = request($conn, 'm');
$conn->send_line('no JSON');
$conn->send_line({ jsonrpc => '2.0', id => 999, result => 1 });
$conn->notify('some/thing', {});
$conn->send_line({ jsonrpc => '2.0', id => 'x', method => 'roots/list' });
answer($conn, $call, 'mine');
is +(finish($cli))[1], 'mine', 'what is no answer is passed over';

done_testing;
