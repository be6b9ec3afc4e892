#!/usr/bin/perl
# Calls whose programs run during a reload: the session moves at once, the
# programs continue, and each response comes once, from the started program.
# Progress and cancellation work, and other calls of the client are served
# meanwhile.

use Toolgate::Test qw(Hang Move Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;

# Reports progress in steps, one for each file.
$tg->file('steps', <<"END", 0755);
#!/bin/sh
i=0
while [ \$i -lt 4 ]; do
    i=\$((i + 1))
    echo '{"progress":'\$i',"total":4}' >&3
    until [ -e "$dir/step.\$1.\$i" ]; do sleep 0.02; done
done
echo "steps \$1"
END

sub body {
    my ($n) = @_;
    return <<"END";
tool hang { description "Hangs."; $handler }
method hang { $handler output text; }
tool steps { description "Steps."; exec $dir/steps \$tool_arg_key; }
tool n { description "Which."; return $n; }
tool run { description "Runs."; exec echo $n; }
END
}

$tg->conf(body(0))->start;

# --- one call of each dialect, over three reloads -------------------------

my @ways = Toolgate::Way->all($tg);
my $rpc = $tg->connect;
for my $way (@ways) {
    $way->{call} = $way->start('hang', { key => $way->name });
}
my $method = $rpc->request('hang', { key => 'rpc' });
$hang->started($_) for 'rpc', map { $_->name } @ways;
my $runner = $tg->runner_pid;

for my $n (1 .. 3) {
    # The old workers exit without waiting for the programs.
    move($tg, body($n));
    for my $way (grep { $_->name ne 'ipc' } @ways) {
        is $way->call('n')->{text}, $n, $way->name . ': another call';
        is $way->call('run')->{text}, "$n\n", $way->name . ': and a program';
    }
    ok $rpc->rpc('ping')->{result}, 'rpc: another request';
}
ok $hang->is_whole($_), "$_: its program runs on"
    for 'rpc', map { $_->name } @ways;
# One after the other, to see that each gets its own.
for my $way (@ways) {
    my $name = $way->name;
    $hang->finish($name);
    is $way->finish($way->{call})->{text}, "done $name\n", "$name: its answer";
    is $way->call('n')->{text}, 3, "$name: the next call";
    ok $way->client->is_silent(0), "$name: nothing else";
}
$hang->finish('rpc');
is $rpc->reply($method)->{result}, "done rpc\n", 'rpc: its answer';
ok $rpc->rpc('ping')->{result}, 'rpc: the next request';
ok $rpc->is_silent(0), 'rpc: nothing else';
is $tg->runner_pid, $runner, 'the same runner';

# --- many calls of one client ---------------------------------------------

my $many = $tg->connect;
my %id = map {
    my $key = "many$_";
    $key => $many->request('tools/call',
        { name => 'hang', arguments => { key => $key } });
} 1 .. 20;
$hang->started($_) for keys %id;
move($tg, body(4));
# Some end now, some are cancelled, some end after another reload.
my @keys = map {"many$_"} 1 .. 20;
for my $key (@keys[ 0 .. 6 ]) {
    $hang->finish($key);
    is text_of($many->reply($id{$key})), "done $key\n", "$key: answered";
}
for my $key (@keys[ 7 .. 13 ]) {
    $many->notify('notifications/cancelled', { requestId => $id{$key} });
    $hang->wait_gone($key);
}
pass 'cancelled: the programs have gone';
ok $hang->is_whole($_), "$_: runs on" for @keys[ 14 .. 19 ];
move($tg, body(5));
is text_of($many->call_tool('n')), 5, 'moved again';
# A cancelled id is free, one of a running call is not.
$many->send_line({ jsonrpc => '2.0', id => $id{many8}, method => 'ping' });
ok exists $many->reply($id{many8})->{result}, 'a free id';
$many->send_line({ jsonrpc => '2.0', id => $id{many20}, method => 'ping' });
is $many->reply($id{many20})->{error}{code}, -32600, 'an id in use';
for my $key (@keys[ 14 .. 19 ]) {
    $hang->finish($key);
    is text_of($many->reply($id{$key})), "done $key\n", "$key: answered";
}
ok $many->rpc('ping')->{result}, 'the last one';
ok $many->is_silent(0), 'no answer came twice, none to a cancelled call';

# --- progress -------------------------------------------------------------

my @steps = map { Toolgate::Way->new($_, $tg->connect) }
    qw(legacy modern relay);
for my $way (@steps) {
    my $name = $way->name;
    $way->{call} = $way->start('steps', { key => $name },
        _meta => { progressToken => "t-$name" });
}

sub progress {
    my ($way) = @_;
    my $message = $way->client->recv_where(
        sub { ($_[0]{method} // '') eq 'notifications/progress' },
        20, 'progress');
    my $params = $message->{params};
    return "$params->{progressToken} $params->{progress}";
}

for my $step (1 .. 4) {
    for my $way (@steps) {
        my $name = $way->name;
        is progress($way), "t-$name $step", "$name: progress";
        is $way->call('n')->{text}, 4 + $step, "$name: with another worker";
        $tg->file("step.$name.$step", '') if $step == 4;
    }
    last if $step == 4;
    # Progress before, during or after the move arrives.
    my $go = sub { $tg->file('step.' . $_->name . ".$step", '') for @steps };
    $go->() if $step == 2;
    move($tg, body(5 + $step));
    $go->() if $step != 2;
}
for my $way (@steps) {
    my $name = $way->name;
    is $way->finish($way->{call})->{text}, "steps $name\n",
        "$name: the answer";
    ok $way->list, "$name: continues";
    is scalar(@{ $way->client->{aside} }), 0,
        "$name: no progress after the answer";
}

# --- clients that close ---------------------------------------------------

my @gone = map { Toolgate::Way->new($_, $tg->connect) } @Toolgate::Way::ALL;
$_->start('hang', { key => 'gone-' . $_->name }) for @gone;
$hang->started('gone-' . $_->name) for @gone;
move($tg, body(9));
ok $hang->is_whole('gone-' . $_->name), $_->name . ': runs' for @gone;
$_->client->close for @gone;
$hang->wait_gone('gone-' . $_->name) for @gone;
pass 'the programs of a moved client that goes away are ended';

done_testing;
