#!/usr/bin/perl
# Reloads and lost runners during calls of MCP tools: each call ends once, a
# server continues over reloads, and starts again after the runner was killed.

use Toolgate::Test qw(Listed Way);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 2);
my $far = Toolgate::Listed->new($tg, 'far');
$far->list(qw(echo sleep pid set_tools));

sub body {
    my ($n, $prefix) = @_;
    $prefix //= 'far_';
    return <<"END";
mcp_server far { exec @{[ $far->command ]}; prefix $prefix; timeout 60s; }
tool n { return $n; }
END
}

sub word { return text_of($_[0]->call_tool(@_[1 .. $#_])) // '' }

$tg->conf(body(1))->start;
my $client = $tg->connect;
wait_for { word($client, 'far_pid') =~ /^\d+$/ } 'a call';
my $pid = word($client, 'far_pid');

# --- running calls ----------------------------------------------------------

my $n = 1;
for my $way (map { Toolgate::Way->new($_, $tg->connect) }
    qw(legacy modern relay))
{
    my $name = $way->name;
    wait_for { $way->list =~ /far_sleep/ } 'the list';
    $way->client->{aside} = [];
    my $id = $way->start('far_sleep', { s => 2, text => $name },
        $name eq 'relay' ? () : (_meta => { progressToken => $name }));
    my $never = $way->start('far_sleep', { s => 600, text => "$name-never" });
    wait_for {
        grep { ($_->[1]{params}{arguments}{text} // '') eq "$name-never" }
            $far->told('tools/call')
    } 'both to be asked';
    $tg->reload(body(++$n));
    wait_for { $way->finish($way->start('n'))->{text} eq $n }
        'the session to be with a new worker';
    if ($name ne 'relay') {
        my $cancelled = $far->told('notifications/cancelled');
        $way->client->send_line({
            jsonrpc => '2.0',
            method  => 'notifications/cancelled',
            params  => $way->params({ requestId => $never }),
        });
        wait_for { $far->told('notifications/cancelled') > $cancelled }
            'the cancellation to arrive';
        pass "$name: a cancellation reaches the server after a reload";
    }
    is $way->finish($id)->{text}, $name, "$name: a call ends after a reload";
    ok !(grep { ($_->{method} // '') =~ /list_changed/ }
        @{ $way->client->{aside} }), "$name: nothing has changed for it";
}
is word($client, 'far_pid'), $pid, 'the process is the same after all of them';
is scalar($far->pids), 1, 'and the only one';

# A changed override is a change.
my $way = Toolgate::Way->new('relay', $tg->connect);
$way->list;
$tg->reload(body(++$n, 'other_'));
is $way->client->recv_where(sub { ($_[0]{method} // '') =~ /list_changed/ },
    undef, 'a word')->{method}, 'notifications/tools/list_changed',
    'another prefix is notified';
like $way->list, qr/^other_echo /, 'and is there';
is word($tg->connect, 'other_pid'), $pid, 'of the same process';
$tg->reload(body(++$n));

# --- a list that changes while sessions move --------------------------------

my @base = qw(echo sleep pid set_tools);
for my $round (1 .. 4) {
    my $asker = $tg->connect;
    wait_for { word($asker, 'far_echo', { text => 'x' }) eq 'x' } 'a call';
    $asker->request('tools/call', { name => 'far_set_tools', arguments => {
        tools => [ map { $far->tool($_) } @base, "more_$round" ] } });
    $tg->reload(body(++$n));
    wait_for {
        grep { $_->{name} eq "far_more_$round" }
            @{ $asker->rpc('tools/list')->{result}{tools} }
    } 'the new list';
    pass "a list that came with reload $round is there";
}

# --- the runner is killed ---------------------------------------------------

$tg->allow_log(qr/\[error\]/);
for my $round (1 .. 3) {
    $pid = word($client, 'far_pid');
    my $lost = $client->request('tools/call',
        { name => 'far_sleep', arguments => { s => 600, text => "l$round" } });
    wait_for {
        grep { ($_->[1]{params}{arguments}{text} // '') eq "l$round" }
            $far->told('tools/call')
    } 'it to be asked';
    kill KILL => $tg->runner_pids;
    like text_of($client->reply($lost)), qr/ended|lost/, 'its call is lost';
    wait_for { word($client, 'far_pid') =~ /^\d+$/ } 'a call';
    isnt word($client, 'far_pid'), $pid, "kill $round: another process";
    wait_for { !kill 0, $pid } 'the old one to be gone';
    my $asked = $far->told('tools/list');
    wait_for {
        word($client, 'far_set_tools', { tools => [
            map { $far->tool($_) } @base, "killed_$round" ] });
        my $names = $client->tool_names;
        return $names =~ /killed_$round/;
    } 'a list from the new runner';
    pass 'lists are received again';
}
$tg->stop;

# --- many ---------------------------------------------------------------------

# Each response comes once, to its caller.
my $many = Toolgate::Test->new(workers => 2);
my $server = Toolgate::Listed->new($many, 'far');
$server->list(qw(echo sleep));
my $config = 'mcp_server far { exec ' . $server->command . '; timeout 10m; }';
$many->conf($config)->start;
my @clients = map { $many->connect } 1 .. 12;
for my $one (@clients) {
    wait_for { word($one, 'far_echo', { text => 'x' }) eq 'x' } 'a call';
}
my ($right, $all) = (0, 0);
for my $round (1 .. 12) {
    my @asked;
    for my $k (0 .. $#clients) {
        for my $i (1 .. 5) {
            my $text = "$round-$k-$i";
            my $name = $i % 2 ? 'far_sleep' : 'far_echo';
            push @asked, [ $clients[$k], $text, $clients[$k]->request(
                'tools/call', { name => $name, arguments => {
                    text => $text, s => rand 0.5 } }) ];
        }
    }
    $many->reload("$config tool n$round { return 1; }");
    $right += (text_of($_->[0]->reply($_->[2])) // '') eq $_->[1] for @asked;
    $all += @asked;
}
is $right, $all, 'all calls over many reloads are answered with their own';
my $left = 0;
for my $one (@clients) {
    $one->rpc('ping');
    $left += grep { exists $_->{id} } @{ $one->{aside} };
}
is $left, 0, 'once';
is scalar($server->pids), 1, 'by one process';

done_testing;
