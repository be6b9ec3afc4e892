#!/usr/bin/perl
# Calls of HTTP keep the contract of all calls: schema, access, rate,
# concurrency, deadline, progress, cancellation; at a reload they move with
# their session; each is answered once, and nothing is left.

use Toolgate::Test qw(Move Way Web);

my $tg = Toolgate::Test->new(workers => 2);
my $web = Toolgate::Web->new($tg);
my $url = $web->url;

sub body {
    my ($n) = @_;
    return <<"END";
tool n { return $n; }
tool wait { http GET $url/wait/\$tool_arg_key; timeout 60s; }
method wait { http GET $url/wait/\$tool_arg_key; output text; }
tool short { http GET $url/hang/\$tool_arg_key; timeout 200ms; }
tool hang { http GET $url/hang/\$tool_arg_key; }
tool one { http GET $url/wait/\$tool_arg_key; concurrency 1; }
tool queue {
    http        GET $url/wait/\$tool_arg_key;
    concurrency 1 queue=1;
    timeout     60s;
}
tool seldom { http GET $url/echo; rate 1r/m; }
tool checked {
    input_schema '{"type":"object","properties":{"a":{"type":"integer"}},
                   "required":["a"]}';
    output_schema '{"type":"object","required":["nothing"]}';
    output json;
    http GET $url/echo/\$tool_arg_a;
}
tool denied { http GET $url/echo; deny all; }
tool large { http GET $url/bytes/3000000; max_output 4m; }
tool packed { http GET $url/packed/3000000; max_output 4m; }
END
}

$tg->conf(body(0))->start;
my $c = $tg->connect;

sub call { return $c->call_tool(@_) }

# --- checks before the request ---------------------------------------------

like text_of(call(checked => { a => 'x' })), qr/expected integer/, 'a schema';
like text_of(call(checked => { a => 1 })), qr/nothing/, 'a schema of results';
is call('denied')->{error}{code}, -32602, 'one that may not be called';
ok !call('seldom')->{result}{isError}, 'the first one';
ok call('seldom')->{result}{isError}, 'one too many';
is scalar(grep { $_->{path} eq '/echo' } $web->requests), 1, 'sent once';

# --- progress --------------------------------------------------------------

for my $name (qw(large packed)) {
    my $p = $tg->connect;
    $p->send_line({
        jsonrpc => '2.0',
        id      => 'p',
        method  => 'tools/call',
        params  => { name => $name, _meta => { progressToken => 't' } },
    });
    my @seen;
    my $reply;
    until ($reply) {
        my $message = $p->recv_json;
        if (($message->{method} // '') eq 'notifications/progress') {
            push @seen, $message->{params};
        } else {
            $reply = $message;
        }
    }
    is length text_of($reply), 3000000, "$name: a large answer";
    cmp_ok scalar @seen, '>=', 1, "$name: progress is reported";
    my %totals = map { $_->{total} // 'unknown' => 1 } @seen;
    is_deeply [ keys %totals ], [ $name eq 'large' ? 3000000 : 'unknown' ],
        "$name: of how much";
}

# --- ends ------------------------------------------------------------------

like text_of(call(short => { key => 'short' })),
    qr/did not finish within 200 ms/, 'a deadline';
ok $web->wait_file('gone.short'), 'ends the connection';

my $other = $tg->connect;
my %id;
$id{$_} = $c->request('tools/call',
    { name => 'hang', arguments => { key => $_ } }) for 'x', 'y';
my $kept = $other->request('tools/call',
    { name => 'wait', arguments => { key => 'kept' } });
$web->wait_file("hang.$_") for 'x', 'y', 'kept';
$c->notify('notifications/cancelled', { requestId => $id{x} });
ok $web->wait_file('gone.x'), 'cancelled: its connection is closed';
ok $c->rpc('ping'), 'the client continues';
ok !$web->is_there('gone.y') && !$web->is_there('gone.kept'),
    'and so do other calls';
$c->close;
ok $web->wait_file('gone.y'), 'its client went away';
ok !$web->is_there('gone.kept'), 'another one did not';
$web->touch('go.kept');
is text_of($other->recv_json), 'waited for kept', 'and gets its answer';
ok $other->is_silent(0.05), 'once';

# --- concurrency, over both workers ----------------------------------------

{
    my $first = $tg->connect;
    my $id = $first->request('tools/call',
        { name => 'one', arguments => { key => 'one' } });
    $web->wait_file('hang.one');
    like text_of($tg->connect->call_tool(one => { key => "no$_" })),
        qr/1 call runs? \(concurrency 1\)/, "one too many ($_)"
        for 1 .. 4;
    $web->touch('go.one');
    is text_of($first->recv_json), 'waited for one', 'the one';
    my @waiting = map { $tg->connect } 1, 2;
    $_->request('tools/call', { name => 'queue', arguments => { key => 'q' } })
        for $waiting[0];
    $web->wait_file('hang.q');
    $waiting[1]->request('tools/call',
        { name => 'queue', arguments => { key => 'r' } });
    my $runner = Toolgate::Client->connect($tg->state_dir . '/runner-3.sock');
    wait_for { $runner->rpc('status')->{result}{queued} == 1 } 'it to wait';
    ok !$web->is_there('hang.r'), 'which is not sent';
    $web->touch("go.$_") for 'q', 'r';
    is text_of($waiting[0]->recv_json), 'waited for q', 'the first';
    is text_of($waiting[1]->recv_json), 'waited for r', 'then the second';
}

# --- reloads ---------------------------------------------------------------

my @ways = Toolgate::Way->all($tg);
$_->{call} = $_->start('wait', { key => 'move-' . $_->name }) for @ways;
my $rpc = $tg->connect;
my $method = $rpc->request('wait', { key => 'move-rpc' });
my $gone = $tg->connect;
my $cancelled = $gone->request('tools/call',
    { name => 'wait', arguments => { key => 'move-gone' } });
$web->wait_file("hang.move-$_") for 'rpc', 'gone', map { $_->name } @ways;
for my $n (1 .. 3) {
    move($tg, body($n));
    for my $way (grep { $_->name ne 'ipc' } @ways) {
        is $way->call('n')->{text}, $n, $way->name . ': another call';
    }
}
ok !grep({ $web->is_there('gone.move-' . $_->name) } @ways),
    'three reloads end none';
$gone->notify('notifications/cancelled', { requestId => $cancelled });
ok $web->wait_file('gone.move-gone'), 'one is cancelled in the new worker';
$web->touch("go.move-$_") for 'rpc', map { $_->name } @ways;
for my $way (@ways) {
    is $way->finish($way->{call})->{text}, 'waited for move-' . $way->name,
        $way->name . ': its answer';
}
is $rpc->recv_json->{result}, 'waited for move-rpc', 'a method';
ok $gone->is_silent(0.05), 'nothing for the one that was cancelled';
is scalar(grep { $_->{path} eq '/wait/move-rpc' } $web->requests), 1,
    'each was sent once';

# --- the runner's end ------------------------------------------------------

my $lost = $tg->connect;
$lost->request('tools/call',
    { name => 'wait', arguments => { key => 'lost' } });
$web->wait_file('hang.lost');
my $runner = $tg->runner_pid;
$tg->allow_log(qr/runner/);
kill KILL => $runner;
like text_of($lost->recv_json), qr/toolgate-runner exited/, 'a lost call';
ok $web->wait_file('gone.lost'), 'whose connection is gone';
wait_for { !is_alive($runner) } 'the runner to be gone';
$web->touch('go.again');
is text_of($lost->call_tool(wait => { key => 'again' })), 'waited for again',
    'the next runner';

# --- many ------------------------------------------------------------------

{
    my $m = $tg->connect;
    $web->touch('go.many');
    my $call = sub { $m->call_tool(wait => { key => 'many' }) };
    $call->() for 1 .. 20;
    my @runners = $tg->runner_pids;
    my $count = sub {
        my $n = 0;
        $n += fd_count($_) for @runners;
        return $n;
    };
    my $before = $count->();
    $m->request('tools/call',
        { name => 'wait', arguments => { key => 'many' } })
        for 1 .. 300;
    my %seen;
    $seen{ $m->recv_json->{id} }++ for 1 .. 300;
    is scalar(keys %seen), 300, '300 calls at once, an answer for each';
    $call->();
    # As many connections as ran at once may be kept.
    cmp_ok $count->(), '<=', $before + 64, 'descriptors are bounded';
}

done_testing;
