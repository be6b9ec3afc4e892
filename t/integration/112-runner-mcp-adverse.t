#!/usr/bin/perl
# MCP servers that misbehave: their callers get the reason, and others do not
# notice.

use Toolgate::Test qw(Runner McpServer);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;

sub answer { return $c->reply(call($c, @_))->{result} }
sub failed { return ($_[0]{failure} // 'none') . ': ' . ($_[0]{message} // '') }

my ($good) = watch($c, exec => stand_in(), server => 'good');
state_of($c, $good, 'ready');
my $good_pid = answer($good, 'pid')->{result}{content}[0]{text};

# It exits at once.
my ($key) = watch($c, exec => stand_in('exit=because'));
my $state = state_of($c, $key, 'failed');
my $exited = qr/files could not be started: it exited with status 7: cannot/;
like $state->{error}, qr/^$exited start: /,
    'one that exits: its state says so';
like $state->{error}, qr/\\u001b\]0;x\\u0007because/,
    'control characters do no harm';
my $result = answer($key, 'echo');
like failed($result), qr/^program: $exited.*because/s, 'and so does a call';
wait_for { state_of($c, $key, 'failed')->{restarts} >= 5 }
    'it to be tried again';
$result = answer($key, 'echo');
like failed($result), qr/because\nIt will be started again in \d+ s\.\z/s,
    'after many tries a call is not kept waiting';
$c->notify('mcp_unwatch', { key => $key });
like $runner->log,
    qr/\[error\] .*mcp_server files: $exited start: \\u001b\].*because$/m,
    'the log says so, too';

# There is no such program, or folder.
($key) = watch($c, exec => ['/no/such/program']);
$result = answer($key, 'echo');
like failed($result),
    qr{^program: files could not be started: /no/such/program: No such file},
    'one that is not there';
$c->notify('mcp_unwatch', { key => $key });
($key) = watch($c, exec => stand_in(), cwd => '/no/such');
like failed(answer($key, 'echo')), qr{its working directory /no/such: No such},
    'one without its folder';
$c->notify('mcp_unwatch', { key => $key });

# It sends nothing: the deadlines of the calls apply.
($key) = watch($c, exec => stand_in('mute'));
$result = answer($key, 'echo', timeout_ms => 200);
like failed($result), qr/^timeout: files_echo did not finish within 200 ms/,
    'one that is mute';
my $waits = call($c, $key, 'echo');
$c->notify('$/cancelRequest', { id => $waits });
$c->notify('mcp_unwatch', { key => $key });

# It rejects requests, or lists nonsense.
($key) = watch($c, exec => stand_in('refuse'));
like state_of($c, $key, 'failed')->{error},
    qr/it refuses the handshake: go\\u0007 away/, 'one that refuses';
$c->notify('mcp_unwatch', { key => $key });
($key) = watch($c, exec => stand_in('bad_list'));
like failed(answer($key, 'echo')),
    qr/it cannot list its tools: The server's list of tools is invalid/,
    'one whose list is none';
$c->notify('mcp_unwatch', { key => $key });

# It exits during calls.
($key) = watch($c, exec => stand_in());
state_of($c, $key, 'ready');
my $hangs = call($c, $key, 'hang');
my $dies = call($c, $key, 'die');
for my $id ($hangs, $dies) {
    $result = $c->reply($id)->{result};
    like failed($result),
        qr/^lost: files exited with status 3: dying \\u001b\[31mnow/,
        'a call of one that dies';
    like $result->{message}, qr/may have been executed/, 'says what is known';
}
is answer($key, 'where')->{result}{content}[0]{text}, '/', 'and it comes back';
like failed(answer($key, 'die', arguments => { signal => 1 })),
    qr/^lost: files was killed by signal 9 \(SIGKILL\)/, 'a signal is told';
$c->notify('mcp_unwatch', { key => $key });

# It sends too much.
($key) = watch($c, exec => stand_in('flood=20000', 'hello'));
state_of($c, $key, 'ready');
is answer($key, 'where')->{result}{content}[0]{text}, '/',
    'one that floods its stderr';
$c->notify('mcp_unwatch', { key => $key });

# It answers twice, and without a request, with noise in between.
($key) = watch($c, exec => stand_in('twice', 'chatter'));
state_of($c, $key, 'ready');
my @ids = map { call($c, $key, 'echo', arguments => { n => $_ }) } 1 .. 20;
my $wrong = 0;
for my $n (1 .. 20) {
    my $reply = $c->reply($ids[ $n - 1 ]);
    $wrong++
        if $reply->{result}{result}{structuredContent}{arguments}{n} != $n;
}
is $wrong, 0, 'one that answers twice: each call has its own answer';
is $c->rpc('status')->{result}{running}, 0, 'and nothing else comes';
like $runner->log, qr/mcp_server files: malformed frame dropped$/m,
    'noise is logged';
cmp_ok scalar(() = $runner->log =~ /mcp_server files: /g), '<', 400,
    'but not all of it';
$c->notify('mcp_unwatch', { key => $key });

# It exits at a message before initialize.
my $starts = "$dir/starts";
($key) = watch($c, exec => stand_in('strict', "once=$starts"),
    share => 'connection');
like names_of(list_of($c, $key)), qr/\bpid\b/,
    'one that wants to be greeted first: its list';
is scalar(() = slurp($starts) =~ /\n/g), 2, 'it is started twice';
for my $instance (qw(conn:a conn:b)) {
    like answer($key, 'pid', instance => $instance)
        ->{result}{content}[0]{text}, qr/^\d+$/, "$instance: its calls";
}
is scalar(() = slurp($starts) =~ /\n/g), 4, 'then once each';
$c->notify('mcp_unwatch', { key => $key });

# It exits at once, with or without reading: each attempt is one start, except
# for the first one of a server that may want initialize.
for my $case ([ 'exit 1', 1 ], [ 'head -n 1 >&2; exit 1', 2 ]) {
    my ($does, $more) = @$case;
    my $file = "$dir/starts-$more";
    ($key) = watch($c, exec =>
        [ '/bin/sh', '-c', "echo started >> $file; $does" ]);
    my ($state, $count);
    wait_for {
        $count = () = (-e $file ? slurp($file) : '') =~ /\n/g;
        $state = state_of($c, $key, 'failed');
        $state->{restarts} >= 3;
    } "$does: three more attempts";
    cmp_ok $count, '<=', $state->{restarts} + $more,
        "$does: one start for each attempt";
    $c->notify('mcp_unwatch', { key => $key });
}

# It also answers notifications, with an unknown method.
($key) = watch($c, exec => stand_in('notes'));
like names_of(list_of($c, $key)), qr/\bpid\b/,
    'one that answers notifications: its list';
state_of($c, $key, 'ready');
$c->notify('$/cancelRequest', { id => call($c, $key, 'hang') });
like answer($key, 'pid')->{result}{content}[0]{text}, qr/^\d+$/,
    'an unsolicited response answers no call';
$c->notify('mcp_unwatch', { key => $key });

# It converts numeric ids and tokens to strings.
($key) = watch($c, exec => stand_in('texts'));
state_of($c, $key, 'ready');
my $slow = call($c, $key, 'slow');
ok $c->recv_where(
    sub {
        my ($m) = @_;
        return ($m->{method} // '') eq 'progress' && $m->{params}{id} == $slow
            && $m->{params}{progress} == 3;
    },
    undef,
    'progress'
    ),
    'whoever makes texts of numbers: its progress';
is text_of_call($c->reply($slow)), 'slow', 'and its answers';
$c->notify('mcp_unwatch', { key => $key });

# Its list is long, in pages, and changes while it is read.
($key) = watch($c, exec => stand_in('huge=5000', 'pages=700', 'changing=3'));
my $tools = list_of($c, $key, 'more3');
is scalar(grep { $_->{name} =~ /^tool_/ } @$tools), 5000,
    'a long list is whole';
state_of($c, $key, 'ready');
$c->notify('mcp_unwatch', { key => $key });
($key) = watch($c, exec => stand_in('huge=20000'));
like state_of($c, $key, 'failed')->{error},
    qr/list of tools that is larger than 16 MiB/,
    'one that is too long is refused';
$c->notify('mcp_unwatch', { key => $key });

# It sends requests.
my @methods = ('ping', 'roots/list', 'elicitation/create', 'x/unknown');
($key) = watch($c, exec => stand_in(),
    roots => [ { uri => 'file:///srv', name => 'srv' } ]);
my $answers = answer($key, 'ask', arguments => { methods => \@methods })
    ->{result}{structuredContent}{answers};
is_deeply $answers->[0], {}, 'ping is answered';
is_deeply $answers->[1],
    { roots => [ { uri => 'file:///srv', name => 'srv' } ] },
    'roots are those of the config';
is $answers->[2]{code}, -32601, "a shared server's clients cannot be asked";
like $answers->[2]{message}, qr/shared by several clients/, 'which is said';
is $answers->[3]{code}, -32601, 'and nothing else is known';
$answers = answer($good, 'ask', arguments => { methods => ['roots/list'] })
    ->{result}{structuredContent}{answers};
is $answers->[0]{code}, -32601, 'without roots there are none';

# The other server has not noticed anything.
is answer($good, 'pid')->{result}{content}[0]{text}, $good_pid,
    'the good one is the same process';

# A runner that is stopped does not wait for a server that ignores it.
($key) = watch($c, exec => stand_in('deaf_term', 'deaf_end'));
my $deaf = answer($key, 'pid')->{result}{content}[0]{text};
my $lost = call($c, $key, 'hang');
$c->rpc('status');
kill TERM => $runner->supervisor;
$runner->wait_gone;
ok !is_alive($deaf) && !is_alive($good_pid), 'all have gone with the runner';

unlink glob "$dir/state/mcp/*";
rmdir "$dir/state/mcp";
done_testing;
