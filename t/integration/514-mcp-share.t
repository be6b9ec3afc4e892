#!/usr/bin/perl
# Shared processes of an MCP server: one for all, per user, or per connection,
# maybe in the client's folder. A connection's process moves with its session,
# and ends with it.

use Toolgate::Test qw(Listed);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 2);
my %server =
    map { $_ => Toolgate::Listed->new($tg, $_) } qw(all user conn here);
$_->list(qw(pid count where)) for values %server;

sub body {
    my ($n) = @_;
    return <<"END";
listen unix:%%SOCKET%%;
listen unix:%%DIR%%/stays.sock proxy_protocol;
mcp_server all  { exec @{[ $server{all}->command ]}; cwd /tmp; }
mcp_server user { exec @{[ $server{user}->command ]}; share user; }
mcp_server conn { exec @{[ $server{conn}->command ]}; share connection; }
mcp_server here { exec @{[ $server{here}->command ]}; share connection;
                  cwd client; }
tool n { return $n; }
END
}
$tg->conf(body(1))->start;

sub word { return text_of($_[0]->call_tool($_[1])) // '' }

# Both workers know all lists.
my @clients;
wait_for {
    push @clients, $tg->connect if @clients < 40;
    my @know = grep {
        @{ $_->rpc('tools/list')->{result}{tools} } == 13
    } @clients;
    @know == @clients && @clients >= 8;
} 'the lists';
my ($one, $two, $three) = @clients;

is word($one, 'all_pid'), word($two, 'all_pid'), 'all share one';
is word($one, 'all_where'), '/tmp', 'in its folder';
is word($one, 'user_pid'), word($two, 'user_pid'), 'clients of a user share';
is word($one, 'conn_where'), '/', 'without one it is the root';
my %pid = map { $_ => word($_, 'conn_pid') } $one, $two;
isnt $pid{$one}, $pid{$two}, 'each connection has its own';
is word($one, 'conn_pid'), $pid{$one}, 'and keeps it';
is join(' ', map { word($_, 'conn_count') } $one, $one, $two), '1 2 1',
    'with the state that is in it';

# --- the other user ---------------------------------------------------------

SKIP: {
    skip 'only root has other users', 1 if $> != 0;
    my $other = Toolgate::Test->new(workers => 1);
    my $server = Toolgate::Listed->new($other, 'user');
    $server->list('pid');
    $other->conf('tool_socket_mode 0666; mcp_server user { share user; exec '
        . $server->command . '; }')->start;
    my $client = $other->connect;
    wait_for { word($client, 'user_pid') =~ /^\d+$/ } 'a call';
    my $mine = word($client, 'user_pid');
    my $path = $other->socket_path;
    my $theirs = fork_as_nobody(sub {
        my $client = Toolgate::Client->connect($path);
        return word($client, 'user_pid');
    });
    like $theirs, qr/^\d+$/, 'another user has one';
    isnt $theirs, $mine, 'of their own';
}

# Returns the results of a process of another user.
sub fork_as_nobody {
    my ($run) = @_;
    pipe my $read, my $write or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
        $) = "$gid $gid";
        $( = $gid;
        ($<, $>) = ($uid, $uid);
        print {$write} eval { $run->() } // $@;
        $write->flush;
        require POSIX;
        POSIX::_exit(0);
    }
    close $write;
    my $said = do { local $/; <$read> };
    waitpid $pid, 0;
    return $said;
}

# --- the client's folder ----------------------------------------------------

# Returns a bridge that was started there.
sub bridge_in {
    my ($dir) = @_;
    my $bridge = $tg->spawn({ cwd => $dir }, $tg->bridge_path,
        $tg->socket_path);
    $bridge->rpc('initialize', {
        protocolVersion => '2025-06-18',
        capabilities    => {},
        clientInfo      => { name => 't', version => 1 },
    });
    return $bridge;
}
mkdir $tg->dir . "/$_" or die "$_: $!\n" for qw(first second foreign);
my @bridges = map { bridge_in($tg->dir . "/$_") } qw(first second);
is word($bridges[0], 'here_where'), $tg->dir . '/first',
    'a server is where its client is';
is word($bridges[1], 'here_where'), $tg->dir . '/second', 'each of them';
if ($> == 0) {
    chown 65534, 65534, $tg->dir . '/foreign' or die "chown: $!\n";
    my $bridge = bridge_in($tg->dir . '/foreign');
    my $said = word($bridge, 'here_where');
    unlike $said, qr/foreign$/, 'a folder of another user is not entered';
    like $said, qr{directory \S+/foreign does not belong to the caller; call},
        'and the agent receives the reason';
}

# --- moves and ends ---------------------------------------------------------

for my $round (2 .. 4) {
    $tg->reload(body($round));
    for my $client ($one, $two) {
        wait_for { word($client, 'n') eq $round } 'the new worker';
        is word($client, 'conn_pid'), $pid{$client},
            "reload $round: a connection keeps its process";
    }
    is word($bridges[0], 'here_where'), $tg->dir . '/first', 'in its folder';
}
is word($one, 'conn_count'), 3, 'which remembers';
ok kill(0, $pid{$one}), 'it is there';
$one->close;
wait_for { !kill 0, $pid{$one} } 'it to end with its connection';
pass 'it ends with its connection';
ok kill(0, $pid{$two}), 'that of another one stays';
is word($two, 'conn_count'), 2, 'with its state';

# A session that cannot move ends with its worker.
my $stays = $tg->connect($tg->dir . '/stays.sock');
$stays->send_raw("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n");
my $last = word($stays, 'conn_pid');
ok kill(0, $last), 'one of a connection that stays where it is';
$tg->reload(body(5));
ok $stays->at_eof, 'a reload ends that connection';
wait_for { !kill 0, $last } 'it to end with its connection';
ok kill(0, $pid{$two}), 'that of another one stays';

done_testing;
