#!/usr/bin/perl
# A line for each call at its end, with its reason and rule; and the error log's
# messages and levels.

use Toolgate::Test qw(Hang);

my $tg = Toolgate::Test->new(workers => 1);
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $schema = '{"type":"object","properties":{"a":{"type":"string"}}}';
my $gone = $tg->file('gone', "#!/nowhere/interpreter\n", 0755);
my $wide = '{"type":"object","required":["a"]}';

sub body {
    my ($more) = @_;
    return <<"END";
tool_max_inflight 4;
tool_log calls.json json;
tool hi { input_schema '$schema'; return hi; }
tool no { exec sh -c "exit 3"; }
tool dies { exec sh -c 'kill -9 \$\$\$\$'; }
tool not_there { exec $gone; }
tool slow { exec sleep 60; timeout 100ms; }
tool much { exec printf %2000s x; max_output 1k; }
tool bad { exec echo x; output json; }
tool narrow { exec echo '{}'; output json; output_schema '$wide'; }
tool large { exec sh -c "yes | head -c 8000000"; max_output 32m; }
tool often { return x; rate 1r/m; }
tool one { $handler concurrency 1; }
tool hidden { return x; deny all; }
tool nul { exec echo \$tool_arg_a; }
tool hang { $handler }
$more
END
}
$tg->conf(body(''))->start;

my $c = $tg->connect;
my $log = $tg->dir . '/calls.json';
my $read = 0;

# Returns the next line as soon as it exists.
sub line {
    my ($what) = @_;
    wait_for { substr(slurp($log) // '', $read) =~ /\n/ } "a line: $what";
    my ($line) = substr(slurp($log), $read) =~ /\A([^\n]*)\n/;
    $read += length($line) + 1;
    return Toolgate::Json::decode($line);
}

sub is_line {
    my ($what, $name, %expected) = @_;
    my $line = line($what);
    my %is = map { $_ => $line->{$_} } qw(tool status rule exit signal);
    is_deeply \%is, {
        tool   => $name,
        status => 'ok',
        rule   => undef,
        exit   => undef,
        signal => undef,
        %expected,
    }, $what or diag JSON::PP->new->encode($line);
    return $line;
}

# --- answered -------------------------------------------------------------

my @answered = (
    [ 'ok',            'hi',        {} ],
    [ 'its error',     'no',        {}, status => 'program', exit => 3 ],
    [ 'its signal',    'dies',      {}, status => 'program', signal => 9 ],
    [ 'cannot start',  'not_there', {}, status => 'program', rule => 'exec' ],
    [ 'arguments',     'hi', { a => 1 },
        status => 'arguments', rule => 'input_schema' ],
    [ 'no argument of a program', 'nul', { a => "x\0y" },
        status => 'arguments' ],
    [ 'timed out',     'slow',      {}, status => 'timeout',
        rule => 'timeout' ],
    [ 'too much',      'much',      {}, status => 'output',
        rule => 'max_output' ],
    [ 'no JSON',       'bad',       {}, status => 'output', exit => 0 ],
    [ 'another result', 'narrow',   {}, status => 'output', exit => 0,
        rule => 'output_schema' ],
    [ 'denied',        'hidden',    {}, status => 'unknown', rule => 'deny' ],
    [ 'unknown',       'nothing',   {}, status => 'unknown' ],
    [ 'allowed by rate', 'often',   {} ],
    [ 'too often',     'often',     {}, status => 'busy', rule => 'rate' ],
);
for my $row (@answered) {
    my ($what, $name, $arguments, %expected) = @$row;
    $c->call_tool($name, $arguments);
    my $line = is_line($what, $name, %expected);
    cmp_ok $line->{out}, '>', 50, 'its answer had a size';
    cmp_ok $line->{total} + 0.0015, '>=', $line->{run} + $line->{queue},
        'and its times fit';
    cmp_ok $line->{run}, '>=', 0.1, 'as long as it may' if $what =~ /timed/;
}

# A response that is too large for its dialect.
my $ipc = $tg->connect;
$ipc->ipc_call('large');
my $size = is_line('too large', 'large', status => 'size', exit => 0);
cmp_ok $size->{out}, '<', 1000, 'what was said instead';

# --- limits that calls share ----------------------------------------------

my $first = $c->request('tools/call',
    { name => 'one', arguments => { key => 'first' } });
$hang->started('first');
$c->call_tool(one => { key => 'second' });
is_line('no place', 'one', status => 'busy', rule => 'concurrency');

my @more = map {
    my $id = $c->request('tools/call',
        { name => 'hang', arguments => { key => "more$_" } });
    $hang->started("more$_");
    $id;
} 1 .. 3;
$c->call_tool(hang => { key => 'fifth' });
is_line('too many of one client', 'hang', status => 'busy',
    rule => 'tool_max_inflight');

$hang->finish('first');
$c->recv_json;
my $waited = is_line('the first ends', 'one', exit => 0);
is $waited->{queue}, 0, 'it did not wait';

# --- nobody waits any more ------------------------------------------------

$c->send_line({
    jsonrpc => '2.0',
    method  => '$/cancelRequest',
    params  => { id => $more[0] },
});
my $cancelled = is_line('cancelled', 'hang', status => 'cancelled');
is $cancelled->{id}, $more[0], 'which it was';
is $cancelled->{out}, 0, 'without an answer';
is $cancelled->{queue}, undef, 'its time in the queue is unknown';
is $cancelled->{pid}, $$, 'whose it was';

my $leaving = $tg->connect;
$leaving->request('tools/call',
    { name => 'hang', arguments => { key => 'gone' } });
$hang->started('gone');
$leaving->close;
my $left = is_line('its client went away', 'hang', status => 'gone');
is "$left->{pid} $left->{uid}", "$$ $>", 'whose it was';
$hang->wait_gone('gone');

# --- a reload -------------------------------------------------------------

my @old = $tg->worker_pids;
$tg->reload(body('tool new { return 1; }'));
wait_for { !grep { is_alive($_) } @old } 'the old worker to go';
is -s $log, $read, 'a call that moves has not ended';
$hang->finish('more2');
$c->recv_json;
my $moved = is_line('it ends elsewhere', 'hang', exit => 0);
is $moved->{id}, $more[1], 'which it was';
cmp_ok $moved->{in}, '>', 50, 'and how large';
is $moved->{pid}, $$, 'and whose';

# --- lost -----------------------------------------------------------------

kill KILL => $tg->runner_pid;
$c->recv_json;
is_line('lost with its runner', 'hang', status => 'lost');
$tg->allow_log(qr/toolgate-runner exited with/);
is -s $log, $read, 'and that is all';

# --- the error log --------------------------------------------------------

my %level = (
    'call of "no" failed: program'               => 'info',
    'call of "hi" failed: arguments (input_schema)' => 'info',
    'call of "hidden" failed: unknown (deny)'    => 'info',
    'call of an unknown name failed: unknown'  => 'info',
    'call of "not_there" failed: program (exec)' => 'error',
    'call of "slow" failed: timeout (timeout)'   => 'warn',
    'call of "much" failed: output (max_output)' => 'warn',
    'call of "large" failed: size'               => 'warn',
    'call of "one" failed: busy (concurrency)'   => 'error',
    'call of "hang" failed: lost'                => 'error',
);
for my $text (sort keys %level) {
    like $tg->log, qr/\[$level{$text}\] \S+ \*\d+ \Q$text\E[, ]/,
        "$level{$text}: $text";
}
unlike $tg->log, qr/call of "hang" failed: (?:cancelled|gone)/,
    'who needs no answer has not failed';

done_testing;
