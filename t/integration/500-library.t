#!/usr/bin/perl
# `library`: a shared object answers in the worker, at once or from a thread,
# and keeps the contract of all handlers, in all dialects.

use Toolgate::Test qw(Native Way);
use Time::HiRes ();

my $tg = Toolgate::Test->new;
my $so = Toolgate::Native->probe($tg->dir . '/probe.so', 'one');

my $later = 'probe_later $tool_arg_s $tool_arg_key; timeout 600s;';
my $config = <<"END";
tool echo {
    input_schema '{"type":"object","properties":{"s":{"type":"string"}}}';
    library probe.so probe_echo;
}
tool plain { library $so; }
tool said { library probe.so probe_say a "" \$tool_arg_x "<\$tool_protocol>"; }
tool data { library probe.so probe_echo; output json; }
tool bad_json { library probe.so; output json; }
tool failed { library probe.so probe_fail; }
tool not_utf8 { library probe.so probe_not_utf8; }
tool bytes { library probe.so probe_bytes \$tool_arg_n; max_output 1k; }
tool twice { library probe.so probe_twice; }
tool stray { library probe.so probe_stray; }
tool slow { library probe.so probe_block 300; }
tool quick { library probe.so probe_block 0; }
tool chatter { library probe.so probe_chatter; }
tool wait { library probe.so $later }
tool short {
    library probe.so probe_later 60 \$tool_arg_key;
    timeout 300ms;
}
tool steady { library probe.so probe_pulse 4 done; timeout 3s max=600s; }
tool endless { library probe.so probe_later 600 x; timeout 1h max=1h; }
tool flood { library probe.so probe_flood \$tool_arg_n flood; timeout 600s; }
tool race { library probe.so probe_race 0 \$tool_arg_key; timeout 600s; }
tool secret { library probe.so; deny all; }
tool seldom { library probe.so; rate 1r/m; }
tool which { return \$pid; }
method data { library probe.so probe_echo; }
method wait { library probe.so $later output text; }
END
$tg->conf($config)->start;

# --- at once ----------------------------------------------------------------

my @ways = Toolgate::Way->all($tg);
for my $way (@ways) {
    my $name = $way->name;
    is $way->call('echo', { s => 'a' })->{text}, '{"s":"a"}',
        "$name: it has the arguments";
    is $way->call('plain')->{text}, 'one', "$name: a symbol need not be named";
    like $way->call('echo', { s => 5 })->{text}, qr/expected string/,
        "$name: its schema holds";
    my $failed = $way->call('failed');
    ok $failed->{is_error}, "$name: it may say no";
    is $failed->{text}, "no:\n\\ufffd that \\u001b will not do",
        "$name: and why";
    is $failed->{type}, 'CalledProcessError', 'ipc: as a program that fails'
        if $name eq 'ipc';
    my $wrong = $way->call('not_utf8');
    ok $wrong->{is_error}, "$name: what is no text is none";
    like $wrong->{text}, qr/UTF-8/, "$name: which is said";
    like $way->call('bad_json')->{text}, qr/JSON/, "$name: nor is it JSON";
    is length $way->call('bytes', { n => '1024' })->{text}, 1024,
        "$name: max_output is allowed";
    like $way->call('bytes', { n => '1025' })->{text},
        qr/1025 bytes, more than the maximum of 1024 \(max_output\)/,
        "$name: and no more";
    is $way->call('bytes', { n => '0' })->{text}, '', "$name: nothing";
    is $way->call('stray')->{text}, 'stray', "$name: stray answers do no harm";
    is kind_of($way->call('secret')), kind_of($way->call('no_such')),
        "$name: who may not see it does not";
    is $way->call('race', { key => "r-$name-$_" })->{text}, "r-$name-$_",
        "$name: a thread that is faster, $_"
        for 1 .. 50;
}

sub kind_of { return Toolgate::Way::kind($_[0]) }

my $rpc = $tg->connect;
is text_of($rpc->call_tool('said', { x => 'abc d' })),
    '[1:a][0:][5:abc d][9:<jsonrpc>]', 'ARGUMENTs, with variables';
is text_of($rpc->call_tool('said', { x => "a\0b" })),
    '[1:a][0:][3:a][9:<jsonrpc>]', 'a zero within one is counted';
is_deeply $rpc->call_tool('data', { a => [ 1, 'x' ] })
    ->{result}{structuredContent}, { a => [ 1, 'x' ] }, 'output json';
is_deeply $rpc->rpc('data', { a => [ 1, 'x' ] })->{result},
    { a => [ 1, 'x' ] }, 'a method';
is text_of($rpc->call_tool('seldom')), 'one', 'its rate';
like text_of($rpc->call_tool('seldom')), qr/no more often than 1r\/m/,
    'its rate holds';

# --- invalid arguments and results ------------------------------------------

is text_of($rpc->call_tool('twice')), 'first', 'the first answer counts';
$tg->wait_log(qr/twice: twice: 0 1 1, wanted 0, 1/);
my $dropped = qr/library: an answer to call/;
$tg->wait_log(qr/\[notice\] .*$dropped \d+, which has already been answered/);
pass 'the library is notified, and it is logged';
$tg->wait_log(
    qr/$dropped 18446744073709551615, which has ended or was cancelled, is/);
pass 'an answer to no call, too';

is text_of($rpc->call_tool('slow')), 'slept', 'one that blocks is awaited';
my $held =
    qr/"slow": call\(\) of "probe_block" in "\Q$so\E" blocked the worker/;
$tg->wait_log(qr/\[warn\] .*$held and all its clients for \d{3,} ms \(1 such/);
pass 'and logged, with its time';
my $start = Time::HiRes::time();
is text_of($rpc->call_tool('quick')), 'slept', 'one that does not';
my $took = Time::HiRes::time() - $start;
# A busy machine may stop the worker in the middle of the call.
ok $took >= 0.01 || slurp($tg->dir . '/error.log') !~ /"quick": call/,
    'is not';
is text_of($rpc->call_tool('slow')), 'slept', 'again' for 1 .. 4;
wait_for {
    $rpc->call_tool('slow');
    slurp($tg->dir . '/error.log') =~ /blocked the worker .* ms \(([3-9]) such/;
}
'several of them to be one line';
my $lines = () = slurp($tg->dir . '/error.log') =~ /blocked the worker/g;
my $calls = $lines;
$calls += $_ - 1
    for slurp($tg->dir . '/error.log') =~ /blocked the worker .* \((\d+) such/g;
cmp_ok $lines, '<', $calls, 'so they do not fill the disk';

is text_of($rpc->call_tool('chatter')), 'said', 'one that says much';
wait_for {
    $rpc->call_tool('twice');
    return slurp($tg->dir . '/error.log')
        =~ /libraries logged \d+ more lines, which were dropped/;
}
'lines to be left out';
ok slurp($tg->dir . '/error.log') =~
    /\[notice\] .*chatter: chatter\\u000a\\u001b\[31m of a library/,
    'what it says is shown as one line';

# --- answered later ---------------------------------------------------------

for my $way (@ways) {
    my $name = $way->name;
    is $way->call('wait', { s => '0.05', key => "w-$name" })->{text},
        "w-$name", "$name: it answers from its thread";
    my $late = $way->call('short', { key => "s-$name" });
    like $late->{text}, qr/within 300 ms/, "$name: its time holds";
    $tg->wait_log(qr/wait: thread|short: call cancelled, wanted 0, reply 1/);
    $tg->wait_log(qr/thread of "s-$name" stops/);
    pass "$name: and its thread finds out";
    is $way->call('steady')->{text}, 'done', "$name: with progress it has more";
}
is $rpc->rpc('wait', { s => '0.01', key => 'm' })->{result}, 'm', 'a method';

# Progress: its own, increasing, not too often; then the response.
$rpc->request('tools/call', {
    name      => 'wait',
    arguments => { s => '1', key => 'p' },
    _meta     => { progressToken => 'tok' },
});
my $told = $rpc->recv_json;
is_deeply $told->{params}, {
    progressToken => 'tok', progress => 1, total => 2, message => 'half',
}, 'progress arrives';
is text_of($rpc->recv_json), 'p', 'and then the answer';
for my $n (0, 4096, 4097) {
    my $id = $rpc->request('tools/call', {
        name      => 'flood',
        arguments => { n => "$n" },
        _meta     => { progressToken => 'f' },
    });
    my ($reply, @told);
    push @told, $reply while ($reply = $rpc->recv_json)->{method};
    is text_of($reply), 'flooded', 'a flood of progress ends';
    my @seen = map { $_->{params}{progress} } @told;
    is "@seen", join(' ', sort { $a <=> $b } @seen), 'it rises';
    cmp_ok scalar(@seen), '<', 2000, 'and most of it is left out';
    my @wrong = grep {
        my $message = $_->{params}{message};
        defined $message ? $n > 4096 || length $message != $n : $n <= 4096;
    } @told;
    is_deeply \@wrong, [], "a message of $n bytes";
}

# --- cancellation -----------------------------------------------------------

# Of many, exactly the named ones.
my %id = map {
    $_ => $rpc->request('tools/call',
        { name => 'wait', arguments => { s => '600', key => "c$_" } })
} 1 .. 20;
my $from = $tg->log_size;
$rpc->notify('notifications/cancelled', { requestId => $id{$_} })
    for grep { $_ % 2 } sort keys %id;
$tg->wait_log(qr/thread of "c$_" stops/, $from) for grep { $_ % 2 } 1 .. 20;
my @stopped = sort { $a <=> $b } $tg->log($from) =~ /thread of "c(\d+)" stops/g;
is "@stopped", join(' ', grep { $_ % 2 } 1 .. 20), 'those end, and no other';
ok $rpc->is_silent(0.05), 'without an answer';
$rpc->close;
$tg->wait_log(qr/thread of "c$_" stops/, $from) for 1 .. 20;
pass 'a client that goes away ends the rest';
my $cancelled = () = $tg->log($from) =~ /call cancelled, wanted 0, reply 1/g;
is $cancelled, 20, 'each is cancelled once';

# --- too many calls ---------------------------------------------------------

$tg->reload("tool_max_inflight 2;\n$config"
        . "tool alone { library probe.so $later concurrency 1 queue=1; }\n"
        . 'tool counted { library probe.so probe_echo; concurrency 1; }');
$rpc = $tg->connect;
my @busy = map {
    $rpc->request('tools/call',
        { name => 'wait', arguments => { s => '600', key => "b$_" } })
} 1 .. 2;
$from = $tg->log_size;
like text_of($rpc->call_tool('wait', { s => '600', key => 'over' })),
    qr/may have 2 calls running/, 'one call too many is refused';
unlike $tg->log($from), qr/"over"/, 'and was never begun';
like text_of($rpc->call_tool('echo')), qr/may have 2 calls running/,
    'also one that would have answered at once';
$rpc->notify('notifications/cancelled', { requestId => $_ }) for @busy;
wait_for { text_of($rpc->call_tool('echo')) eq '{}' } 'room';

# If another call waits, the first one has the slot.
my ($alone, $behind) = map {
    $rpc->request('tools/call',
        { name => 'alone', arguments => { s => $_ ? '0' : '600', key => $_ } })
} 0 .. 1;
wait_for {
    my ($path) = glob $tg->state_dir . '/runner-*.sock';
    $path && $tg->connect($path)->rpc('status')->{result}{queued} == 1;
}
'one to wait';
like text_of($tg->connect->call_tool('alone', { s => '0', key => 'x' })),
    qr/1 call runs \(concurrency 1\) and 1 waits/,
    'concurrency holds, for all workers';
$rpc->notify('notifications/cancelled', { requestId => $alone });
is text_of($rpc->reply($behind)), '1', 'who waited is next';
is text_of($rpc->call_tool('counted', { a => 1 })), '{"a":1}',
    'what answers at once is counted, too';

# --- the end ----------------------------------------------------------------

# Stopped at once, no worker waits for its calls.
$rpc->request('tools/call', { name => 'endless' });
my $worker = text_of($rpc->call_tool('which'));
$tg->reload($config);
wait_for { text_of($rpc->call_tool('which')) ne $worker } 'another worker';
$tg->stop;
my $loads = () = slurp($tg->dir . '/error.log') =~ /: loads version one/g;
my $unloads = () = slurp($tg->dir . '/error.log') =~ /: unloads version one/g;
cmp_ok $loads, '>', 10, 'each worker has loaded each tool';
is $unloads, $loads, 'and unloaded it, whatever ran';

done_testing;
