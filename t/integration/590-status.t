#!/usr/bin/perl
# `toolgate.status`: calls of each tool and their ends, bytes, times,
# connections by dialect; and who may read it.

use IO::Socket::INET;
use Toolgate::Test qw(Status User Way);

my $tg = Toolgate::Test->new;
my $other = 'server { listen unix:%%DIR%%/other.sock; tool_socket_mode 0666; '
    . 'tool_server_name other; tool only { return 1; } RULES }';
my $conf = <<'END';
server {
    listen unix:%%SOCKET%%;
    tool_runner %%RUNNER%%;
    tool_state_dir %%STATE%%;
    tool_socket_mode 0666;
    tool hi { return hi; }
    tool picky { return ok; input_schema
        '{"type":"object","required":["a"]}'; }
    tool fails { exec false; }
    tool slow { exec sleep 0.1; }
    tool late { exec sleep 3600; timeout 50ms; }
    tool once { rate 1r/m; return ok; }
    tool hang { exec sleep 3600; timeout 2h; }
    tool silent { return never; }
    method m { return 1; }
}
END
$conf =~ s/%%RUNNER%%/$tg->runner_path/e;
$tg->conf($conf . $other =~ s/RULES//r, server => 0)->start;

# --- numbers ----------------------------------------------------------------

my @ways = Toolgate::Way->all($tg);
my $json = $tg->connect;
my $status = Toolgate::Status->new($json);
for my $way (@ways) {
    $way->call($_) for qw(hi hi picky fails slow late once none);
}
$json->rpc('m');
$json->notify('m');
$status->look;

my %ends = (
    hi    => { ok => 8 },
    picky => { arguments => 4 },
    fails => { program => 4 },
    slow  => { ok => 4 },
    late  => { timeout => 4 },
    once  => { ok => 1, busy => 3 },
    silent => {},
    'm()' => { ok => 2 },
);
is_deeply $status->ends($_), $ends{$_}, "how $_ ended" for sort keys %ends;
is $status->of('hi')->{calls}, 8, 'how many there were';
is $status->of('hi')->{in_flight}, 0, 'none is in flight';
cmp_ok $status->of('hi')->{bytes_in}, '>=', 8 * 40, 'bytes of requests';
cmp_ok $status->of('hi')->{bytes_out}, '>=', 8 * 20, 'and of answers';
is $status->server->{unknown}, 4, 'what was asked for and is not there';
cmp_ok $status->of('slow')->{ms}, '>=', 4 * 100 - 10, 'what they took';
my $times = $status->of('slow')->{times};
is eval { join '+', @$times[ 0 .. 3 ] }, '0+0+0+0', 'as no other was so short';
is eval { my $n = 0; $n += $_ for @$times; $n }, 4, 'each is one of them';
is $status->server->{name}, 'toolgate', 'whose they are';
cmp_ok $status->server->{connections}{accepted}, '>=', 5, 'connections so far';
is_deeply $status->server->{connections}{open},
    { auto => 0, ipc => 1, jsonrpc => 3, relay => 1 }, 'and those now';
ok !(grep { $_->{name} =~ /^toolgate\./ } @{ $status->server->{tools} }),
    'who looks is not counted';

# Both are of one user.
is_deeply [ map { $_->{name} } @{ $status->{result}{servers} } ],
    [qw(toolgate other)], 'all servers that one may know of';
is $status->{result}{workers}, 2, 'workers';

# --- in flight --------------------------------------------------------------

my $id = $json->request('tools/call', { name => 'hang' });
my $mute = $tg->connect;
wait_for {
    $status->look->of('hang')->{in_flight} == 1
        && $status->server->{connections}{open}{auto} == 1
} 'one in flight, and one that said nothing';
my $runner = $status->{result}{runners}[0];
is $runner->{state}, 'up', 'the runner';
is $runner->{pid}, $tg->runner_pid, 'its process';
cmp_ok $runner->{kinds}{exec}, '>=', 1, 'its jobs, by kind';
$json->notify('notifications/cancelled', { requestId => $id });
wait_for { $status->look->of('hang')->{in_flight} == 0 } 'none any more';
is_deeply $status->ends('hang'), { cancelled => 1 }, 'it was cancelled';
my $gone = $tg->connect;
$gone->request('tools/call', { name => 'hang' });
wait_for { $status->look->of('hang')->{in_flight} == 1 } 'another one';
$gone->close;
wait_for { $status->look->of('hang')->{in_flight} == 0 } 'its client to go';
is_deeply $status->ends('hang'), { cancelled => 1, gone => 1 }, 'so it ended';

# --- access -----------------------------------------------------------------

SKIP: {
    skip 'only root can connect as another user', 12
        if !Toolgate::User::is_possible();
    my ($uid, $gid) = (getpwnam 'nobody')[ 2, 3 ];
    my $as = sub {
        my @where = @_;
        return Toolgate::User::as($uid, [$gid], sub { $tg->connect(@where) });
    };
    my $client = $as->();
    is $client->rpc($_, { id => 1 })->{error}{code}, -32601,
        "$_ is not for everybody"
        for qw(toolgate.status toolgate.cancel);
    is text_of($client->call_tool('hi')), 'hi', 'while tools are';

    # A server without tool_status_allow: only its own status.
    $tg->reload($conf . $other =~ s/RULES/tool_status_allow uid=nobody;/r,
        server => 0);
    $client = $as->($tg->dir . '/other.sock');
    my $seen = $client->rpc('toolgate.status')->{result}{servers};
    is_deeply [ map { $_->{name} } @$seen ], ['other'], 'what one may know of';
    is $as->()->rpc('toolgate.status')->{error}{code}, -32601, 'where one asks';
    is $tg->connect($tg->dir . '/other.sock')->rpc('toolgate.status')
        ->{error}{code}, -32601, 'who is not named does not know, root or not';

    # Groups; and everybody, which also allows TCP clients.
    my $group = getgrgid $gid;
    $tg->reload($conf . $other =~ s/RULES/tool_status_allow gid=$group;/r,
        server => 0);
    ok $as->($tg->dir . '/other.sock')->rpc('toolgate.status')->{result},
        'a group';
    is $tg->connect($tg->dir . '/other.sock')->rpc('toolgate.status')
        ->{error}{code}, -32601, 'and no other user';
    my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
    my $port = $listen->sockport;
    close $listen;
    for my $case ([ '', 'error' ], [ 'tool_status_allow uid=0;', 'error' ],
        [ 'tool_status_allow all;', 'result' ]) {
        my ($rule, $member) = @$case;
        my $tcp = $other =~ s/unix:%%DIR%%\/other.sock/127.0.0.1:$port/r;
        $tg->reload($conf . $tcp =~ s/RULES/$rule/r, server => 0);
        my $socket = IO::Socket::INET->new("127.0.0.1:$port") or die "TCP: $!";
        ok(Toolgate::Client->over($socket, $socket, 'tcp')
                ->rpc('toolgate.status')->{$member}, "over TCP: $rule $member");
    }

    # The owner of the socket, whoever that is.
    $tg->reload($conf =~ s/0666/0666; tool_socket_owner nobody/r, server => 0);
    ok $as->()->rpc('toolgate.status')->{result}, 'the owner of the socket';
}

# --- mistakes ---------------------------------------------------------------

for my $case (
    [ 'tool_status_allow nobody; tool t { return 1; }', qr/invalid rule/ ],
    [ 'tool_status_allow; tool t { return 1; }', qr/number of arguments/ ],
    [ 'method toolgate.status { return 1; }', qr/Toolgate answers this/ ],
    [ 'method toolgate.cancel { return 1; }', qr/Toolgate answers this/ ],
) {
    my ($rc, $text) = $tg->test_conf($case->[0]);
    isnt $rc, 0, "refused: $case->[0]";
    like $text, $case->[1], 'and why';
}

done_testing;
