#!/usr/bin/perl
# Requests of an MCP server to its only client during a call: there and back,
# over a reload and through the bridge, and none is left without a call.

use Toolgate::Test qw(McpServer);

my $tg = Toolgate::Test->new;
my $program = join ' ', @{ stand_in() };
my $conf = <<"END";
mcp_server own  { exec $program; share connection; }
mcp_server both { exec $program; }
END
$tg->conf($conf)->start;

my %can = (elicitation => {}, roots => {});
my $cancelled = 'notifications/cancelled';

sub greet {
    my ($client, $can) = @_;
    $client->rpc('initialize',
        { protocolVersion => '2025-06-18', capabilities => $can });
    wait_for {
        my $tools = $client->rpc('tools/list')->{result}{tools};
        2 == grep { $_->{name} =~ /^(?:own|both)_ask$/ } @$tools;
    } 'its tools';
    return $client;
}

# Calls a tool during which the server sends all these requests.
sub ask {
    my ($client, $server, @methods) = @_;
    return $client->request('tools/call', { name => "${server}_ask",
        arguments => { methods => \@methods } });
}

sub asked {
    my ($client, $method) = @_;
    return $client->recv_where(sub { ($_[0]{method} // '') eq $method },
        undef, $method);
}

sub say_so {
    my ($client, $asked, %with) = @_;
    $client->send_line({ jsonrpc => '2.0', id => $asked->{id}, %with });
}

sub answers {
    my ($client, $id) = @_;
    return $client->reply($id)->{result}{structuredContent}{answers};
}

# --- there and back ---

my %accept = (action => 'accept', content => { name => 'Ann' });
my $client = greet($tg->connect, \%can);
my $id = ask($client, 'own',
    qw(elicitation/create sampling/createMessage roots/list));
say_so($client, asked($client, 'elicitation/create'), result => \%accept);
say_so($client, asked($client, 'roots/list'),
    error => { code => -5, message => 'no' });
my $answers = answers($client, $id);
is_deeply $answers->[0], \%accept, 'the server has the client\'s answer';
is $answers->[1]{code}, -32601, 'what it cannot be asked is refused';
is_deeply $answers->[2], { code => -5, message => 'no' }, 'and its error';

$answers = answers($client, ask($client, 'both', 'elicitation/create'));
like $answers->[0]{message}, qr/shared by several clients/,
    'a shared server cannot ask a client';

my $mute = greet($tg->connect, {});
$answers = answers($mute, ask($mute, 'own', 'elicitation/create'));
is $answers->[0]{code}, -32601, 'nor who has not said that he can be';

# --- without a waiting call ---

$id = ask($client, 'own', 'elicitation/create');
my $asked = asked($client, 'elicitation/create');
$client->notify($cancelled, { requestId => $id });
is asked($client, $cancelled)->{params}{requestId}, $asked->{id},
    'with its call the question is taken back';
say_so($client, $asked, result => \%accept);

# --- a response that is too large ---

# Its id is also that of the client's own call, which must not end.
for my $who ('a client', 'an agent') {
    my $large = greet($who eq 'a client' ? $tg->connect : $tg->bridge, \%can);
    $large->send_line({ jsonrpc => '2.0', id => 0, method => 'tools/call',
        params => { name => 'own_ask',
            arguments => { methods => ['elicitation/create'] } } });
    $asked = asked($large, 'elicitation/create');
    is $asked->{id}, 0, "$who: the same number" if $who eq 'a client';
    say_so($large, { id => $_ },
        result => { action => 'accept', content => { a => 'x' x 11e6 } })
        for $asked->{id};
    is answers($large, 0)->[0]{code}, -32600,
        "$who: who asked learns that the answer is too large";
    $large->close;
}

# --- a reload ---

$id = ask($client, 'own', qw(elicitation/create roots/list));
$asked = asked($client, 'elicitation/create');
$tg->reload($conf . "tool more { return 1; }\n");
wait_for { $tg->worker_pids(all => 1) == 2 } 'the old workers to go';
say_so($client, $asked, result => \%accept);
say_so($client, asked($client, 'roots/list'), result => { roots => [] });
is_deeply answers($client, $id), [ \%accept, { roots => [] } ],
    'the answer of who has moved arrives, and he is asked on';

# --- the bridge ---

my $agent = greet($tg->bridge, \%can);
$id = ask($agent, 'own', 'elicitation/create');
say_so($agent, asked($agent, 'elicitation/create'), result => \%accept);
is_deeply answers($agent, $id), [ \%accept ], 'an agent is asked, too';
$agent->close;

# --- the runner is lost ---

$id = ask($client, 'own', 'elicitation/create');
$asked = asked($client, 'elicitation/create');
my $runner = $tg->runner_pid;
kill 'KILL', $runner;
is asked($client, $cancelled)->{params}{requestId}, $asked->{id},
    'the question of a server that is gone is taken back';
ok $client->reply($id)->{result}{isError}, 'its call has failed';
wait_for { $tg->runner_pid != $runner } 'the next runner';
say_so($client, $asked, result => \%accept);
$id = ask($client, 'own', 'elicitation/create');
say_so($client, asked($client, 'elicitation/create'), result => \%accept);
is_deeply answers($client, $id), [ \%accept ], 'the next one is answered';

done_testing;
