#!/usr/bin/perl
# Concurrency of a tool, and of a server's tools: at the limit and beyond it,
# over all workers, and across a reload.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 3);
my $dir = $tg->dir;
mkdir "$dir/$_" or die "mkdir: $!" for 'up', 'go';
chmod 0777, "$dir/$_" for 'up', 'go';

# Reports that it runs, and ends on request: files up/NAME and go/NAME.
my $hold = $tg->file('hold', <<"END", 0755);
#!/bin/sh
: >$dir/up/\$1
until [ -e $dir/go/\$1 ]; do sleep 0.01; done
echo \$1
END

# Also ignores SIGTERM, so that it keeps its slot.
my $keep = $tg->file('keep', <<"END", 0755);
#!/bin/sh
trap '' TERM
. $hold
END

sub conf {
    my ($concurrency) = @_;
    return <<"END";
tool hold {
    description "Holds its place.";
    exec        $hold \$tool_arg_name;
    concurrency $concurrency;
    timeout     600s;
}
tool short {
    description "Has no time.";
    exec        $keep \$tool_arg_name;
    concurrency $concurrency;
    timeout     5s;
}
tool free { description "Is not limited."; exec echo free; }
END
}

sub text { return $_[0]{result}{content}[0]{text} }
sub is_up { return -e "$dir/up/$_[0]" }
sub let { $tg->file("go/$_", '') for @_ }
sub clear { unlink glob "$dir/up/* $dir/go/*" }

# Calls on its own connection, so that every worker has some.
sub begin {
    my ($tool, $name) = @_;
    my $c = $tg->connect;
    $c->request('tools/call',
        { name => $tool, arguments => { name => $name } });
    return $c;
}

sub up {
    my (@names) = @_;
    wait_for { @names == grep { is_up($_) } @names } "@names to run";
}

# Waits until the runner has this number of calls.
sub status {
    my ($running, $queued) = @_;
    my $c = Toolgate::Client->connect($tg->state_dir . '/runner-3.sock');
    return eval {
        wait_for {
            my $s = $c->rpc('status')->{result};
            return $s->{running} == $running && $s->{queued} == $queued;
        } "$running running and $queued waiting";
    };
}

$tg->conf(conf('2 queue=2'))->start;

# At the limit and beyond it, in any worker.
{
    my %c = map { $_ => begin(hold => $_) } 'a', 'b';
    up('a', 'b');
    $c{$_} = begin(hold => $_) for 'c', 'd';
    ok status(2, 2), 'two run, two wait';

    for my $i (1 .. 6) {
        my $reply = begin(hold => "no$i")->recv_json;
        ok $reply->{result}{isError}, "one too many ($i)";
        is text($reply), 'hold: 2 calls run (concurrency 2) and 2 wait '
            . '(queue=2); call again when one has ended', 'says why';
    }

    is text($tg->connect->call_tool('free')), "free\n",
        'another tool is not concerned';
    my $error = $tg->connect->ipc_call(hold => { name => 'no' })->{error};
    is $error->{type}, 'BlockingIOError', 'ipc: its own word for it';

    let('a');
    is text($c{a}->recv_json), "a\n", 'one ends';
    wait_for { is_up('c') || is_up('d') } 'the next one';
    ok !(is_up('c') && is_up('d')), 'and one takes its place';

    # A client that closes gives its slots back, running or waiting.
    my ($running, $waiting) = is_up('c') ? ('c', 'd') : ('d', 'c');
    $c{$waiting}->close;
    ok status(2, 0), 'a waiting caller leaves';
    $c{$running}->close;
    ok status(1, 0), 'a running one does';
    is scalar(grep { is_up("no$_") } 1 .. 6), 0, 'the refused never ran';
    let('b');
    is text($c{b}->recv_json), "b\n", 'the last one';
    ok status(0, 0), 'and nothing is left';
    clear();
}

# Waiting counts for the deadline, and has another error than running.
{
    my %c = map { $_ => begin(short => $_) } 'a', 'b', 'c';
    for my $name (sort keys %c) {
        my $reply = $c{$name}->recv_json;
        my ($what, $ran, $end) =
            is_up($name)
            ? ('did not finish', qr/ran [\d.]+ m?s/, qr/was stopped/)
            : ('could not start', 'did not run', qr/was dropped.*rency 2\)/);
        like text($reply),
            qr/^short $what within 5 s \(it waited [\d.]+ m?s in the queue/,
            "$name: the time in the queue is reported";
        like text($reply), qr/ in the queue and $ran\) and $end/,
            "$name: the run time is reported";
    }
    is scalar(grep { is_up($_) } 'a', 'b', 'c'), 2, 'two of them ran';
    ok status(0, 0), 'nothing is left';
    clear();
}

# A reload changes the limits, also for waiting calls.
{
    my %c = map { $_ => begin(hold => $_) } 'a', 'b';
    up('a', 'b');
    $c{c} = begin(hold => 'c');
    ok status(2, 1), 'two run, one waits';
    $tg->reload(conf('4 queue=0'));
    $c{d} = begin(hold => 'd');
    up('c', 'd');
    ok status(4, 0), 'with more places both start';
    is text(begin(hold => 'no')->recv_json),
        'hold: 4 calls run (concurrency 4) and none may wait (queue=0); '
        . 'call again when one has ended', 'the new limit counts';
    $tg->reload(conf('1 queue=1'));
    $c{e} = begin(hold => 'e');
    ok status(4, 1), 'with fewer those that run go on';
    let('a', 'b', 'c');
    is text($c{$_}->recv_json), "$_\n", "$_, of an old worker" for qw(a b c);
    ok status(1, 1), 'one still has the only place';
    let('d', 'e');
    is text($c{$_}->recv_json), "$_\n", $_ for qw(d e);
    ok status(0, 0), 'nothing is left';
    clear();
}

# All tools of a server together.
$tg->reload(<<"END");
tool_concurrency 2 queue=1;
tool one {
    description "One.";
    exec        $hold \$tool_arg_name;
    concurrency 1 queue=9;
}
tool two { description "Two."; exec $hold \$tool_arg_name; }
END
{
    my %c = (a => begin(one => 'a'));
    up('a');
    $c{b} = begin(one => 'b');
    ok status(1, 1), 'one waits for its own tool';
    $c{c} = begin(two => 'c');
    up('c');
    is text(begin(two => 'no')->recv_json),
        'two: 2 calls run (tool_concurrency 2) and 1 waits (queue=1); '
        . 'call again when one has ended', 'the server is full';
    let('a', 'b', 'c');
    is text($c{$_}->recv_json), "$_\n", $_ for qw(a b c);
}

done_testing;
