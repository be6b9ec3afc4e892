#!/usr/bin/perl
# kill -9 of the runner while servers over HTTP have calls: each call is
# answered once, and the next runner ends the remaining sessions, also if NGINX
# was down meanwhile.

use Toolgate::Test qw(McpWeb Way);

my $tg = Toolgate::Test->new(workers => 2);
my %web = (
    all    => Toolgate::McpWeb->new($tg),
    own    => Toolgate::McpWeb->new($tg, 'json'),
    modern => Toolgate::McpWeb->new($tg, 'modern'),
);
my @names = sort keys %web;
my $body = join "\n", map {
    my $share = $_ eq 'own' ? 'share connection;' : '';
    "mcp_server $_ { url @{[ $web{$_}->url ]}; timeout 600s; $share }";
} @names;
$tg->conf($body)->start;
$tg->allow_log(qr/toolgate-runner exited with \d+ calls? in flight/);

# Returns the stored sessions, by the servers' names.
sub noted {
    my @files = glob $tg->state_dir . '/mcp/*.sessions';
    return join ' ', sort map { (split / /)[0] } map { split /\n/ }
        map { slurp($_) // '' } @files;
}

sub ids {
    my ($name, $of) = @_;
    my %ids = map { ($_->{headers}{'mcp-session-id'} // '') => 1 }
        $web{$name}->requests($of);
    delete $ids{''};
    return sort keys %ids;
}

# Waits until the servers' sessions are the stored ones.
sub sessions_are {
    my ($all, $own, $what) = @_;
    wait_for {
        $web{all}->control('sessions') == $all
            && $web{own}->control('sessions') == $own
            && (() = noted() =~ /\S+/g) == $all + $own
    } $what;
    pass $what;
}

my $client = $tg->connect;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    @names == grep { $_->{name} =~ /_echo$/ } @$tools;
} 'the tools of all';

for my $round (1 .. 3) {
    my @ways = Toolgate::Way->all($tg);
    for my $way (@ways) {
        is $way->call("${_}_echo")->{text}, 'echo',
            "$round: $_ in the way of " . $way->name for @names;
    }
    sessions_are(1, scalar @ways, "$round: the sessions are written down");
    my @files = glob $tg->state_dir . '/mcp/*.sessions';
    is join(' ', map { sprintf '%o', (stat)[2] & 07777 } @files), '600 600',
        "$round: for their owner";
    my @before = map { [ ids($_, 'tools/call') ] } qw(all own);

    # In ipc there is one call at a time.
    my %hung = map { $_ => scalar(() = $web{$_}->requests('tools/call')) }
        @names;
    my @calls;
    for my $way (@ways) {
        my @all = $way->name eq 'ipc' ? ($names[ $round - 1 ])
            : (@names) x 3;
        $hung{$_}++ for @all;
        push @calls, map { [ $way, $_, $way->start("${_}_hang") ] } @all;
    }
    for my $name (@names) {
        wait_for {
            $hung{$name} == (() = $web{$name}->requests('tools/call'))
        } "$round: $name has its calls";
    }
    my $runner = $tg->runner_pid;
    kill KILL => $runner;
    for my $call (@calls) {
        my ($way, $name, $id) = @$call;
        my $answer = $way->finish($id);
        like $answer->{text}, qr/toolgate-runner exited while/,
            "$round: $name: a call in the way of " . $way->name;
    }
    for my $way (grep { $_->name ne 'ipc' } @ways) {
        my $id = $way->start('all_pid');
        like $way->finish($id)->{text}, qr/^\d+$/, "$round: the next one";
        ok !(grep { defined $_->{id} } @{ $way->client->{aside} }),
            "$round: and nothing else, " . $way->name;
    }
    isnt $tg->runner_pid, $runner, "$round: by another runner";
    sessions_are(1, 0, "$round: what was left is ended");
    my %ended = map { $_ => 1 } ids('all', 'DELETE'), ids('own', 'DELETE');
    ok !(grep { !$ended{$_} } map {@$_} @before), "$round: by a DELETE of each";
    $_->client->close for @ways;
}

# NGINX is down when it happens, and the server for a while.
my $way = Toolgate::Way->new('modern', $tg->connect);
is $way->call('own_echo')->{text}, 'echo', 'one more session';
sessions_are(1, 1, 'which is written down');
my $runner = $tg->runner_pid;
my $supervisor = parent_of($runner);
kill KILL => $tg->worker_pids, $tg->master_pid, $runner, $supervisor;
$tg->allow_log(qr/./);
wait_for { !$tg->runner_pids } 'all to be gone';
$tg->kill_master;
is $web{own}->control('sessions'), 1, 'the session is still there';
$tg->start;
sessions_are(0, 0, 'until it has a client again');
is $tg->connect->call_tool('all_echo')->{result}{content}[0]{text}, 'echo',
    'of which there is another one';
$tg->stop;
wait_for { !$tg->runner_pids } 'the runner to leave';
is $web{all}->control('sessions'), 0, 'a runner that leaves ends its own';
is noted(), '', 'and has nothing to write down';

done_testing;
