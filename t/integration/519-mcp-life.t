#!/usr/bin/perl
# When an MCP server runs: from NGINX's start, from its first call until it is
# idle for a while; and one that runs by itself.

use Toolgate::Test qw(Listed);

my $tg = Toolgate::Test->new(workers => 2);
my %server = map { $_ => Toolgate::Listed->new($tg, $_) } qw(boot use);
$_->list('pid') for values %server;
my $socket = $tg->dir . '/there.sock';

sub body {
    my ($idle) = @_;
    return <<"END";
mcp_server boot { exec @{[ $server{boot}->command ]}; start at=boot; idle off; }
mcp_server use { exec @{[ $server{use}->command ]}; idle $idle; }
mcp_server there { pass unix:$socket; }
tool idle { return $idle; }
END
}

sub word { return text_of($_[0]->call_tool(@_[1 .. $#_])) // '' }

sub names { return $_[0]->tool_names }

my $there = $tg->spawn({}, $^X,
    Toolgate::Test::top() . '/t/servers/mcp.pl', 'listen', $socket);
wait_for { -S $socket } 'the server that is there';
$tg->conf(body('10m'))->start;
my $client = $tg->connect;
wait_for { names($client) =~ /^boot_pid use_pid there_.* idle$/ } 'all lists';
is word($client, 'there_echo', { text => 'x' }), 'x',
    'one that is there is called';

# Each was started once, for its list; with a stored list only one is.
$tg->stop;
kill TERM => $tg->runner_pids;
wait_for { !$tg->runner_pids } 'the runner to leave';
my %before = map { $_ => scalar $server{$_}->pids } keys %server;
$tg->start;
$client = $tg->connect;
like names($client), qr/^boot_pid use_pid there_.* idle$/, 'the kept lists';
wait_for { $server{boot}->pids > $before{boot} } 'the one of the boot';
pass 'one is started with NGINX';
is scalar($server{use}->pids), $before{use}, 'the other not before its call';
my $pid = word($client, 'use_pid');
is(($server{use}->pids)[-1], $pid, 'which starts it');
is word($client, 'use_pid'), $pid, 'once';

# Nobody uses it.
$tg->reload(body('300ms'));
wait_for { word($client, 'idle') eq '300ms' } 'the new worker';
$pid = word($client, 'use_pid');
wait_for { !kill 0, $pid } 'it to end';
pass 'it ends when unused';
isnt word($client, 'use_pid'), $pid, 'and comes again with the next call';
my ($booted) = reverse $server{boot}->pids;
ok kill(0, $booted), 'another one stays';

done_testing;
