#!/usr/bin/perl
# A runner that cannot listen: calls that need it fail with the reason, with at
# most one start each; the log has it once; the next call works when the cause
# is removed.

use Toolgate::Test;

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);
my $state = $tg->state_dir;
my $socket = "$state/runner-3.sock";
my $number = 0;
$tg->allow_log(qr/toolgate-runner/, qr/unknown process \d+ exited with code/);

sub conf {
    $number++;
    return "tool hi { return $number; }\ntool run { exec echo $number; }";
}

sub starts {
    my ($from) = @_;
    return scalar(() = $tg->log($from) =~ /starting toolgate-runner/g);
}

sub says_why { return scalar(() = $tg->log($_[0]) =~ /runner cannot start/g) }

# Ends the runner, if there is one, with its workers.
sub without_runner {
    my ($name) = @_;
    $tg->reload(conf());
    wait_for { !$tg->runner_pids } "$name: the runner to leave";
}

# Kills the runner.
sub killed {
    my ($name) = @_;
    $tg->reload(conf());
    kill KILL => $tg->runner_pids;
    wait_for { !$tg->runner_pids } "$name: the runner to go";
}

# Makes calls, each of which fails with that reason, and checks the log.
sub fails {
    my ($name, $reason) = @_;
    my $from = $tg->log_size;
    my $c = $tg->connect;
    my $first = time;
    for my $n (1 .. 5) {
        my $reply = $c->call_tool('run');
        ok $reply->{result}{isError}, "$name, call $n: it fails";
        like text_of($reply),
            qr/^toolgate-runner could not be started \($reason\), so the pro/,
            "$name, call $n: it says why";
    }
    is starts($from), 5, "$name: a start for each";
    is says_why($from), 1, "$name: the log says it once";
    like $tg->log($from), qr/cannot start in "\Q$state\E": $reason; the calls/,
        "$name: and why";
    # If a deadline passed, the log would say that the runner does not answer.
    unlike $tg->log($from), qr/\[error\] \S+ toolgate-runner(?! cannot start)/,
        "$name: and nothing else";
    cmp_ok time - $first, '>', 1.2, "$name: the starts are ever less";

    # Calls that wait for one start fail together.
    $from = $tg->log_size;
    my @ids = map {"together-$_"} 1 .. 20;
    $c->send_raw(join '', map { <<"END" } @ids);
{"jsonrpc":"2.0","id":"$_","method":"tools/call","params":{"name":"run"}}
END
    ok $c->reply($_)->{result}{isError}, "$name: $_ fails" for @ids;
    is starts($from), 1, "$name: one start for all that wait";
    is text_of($c->call_tool('hi')), $number, "$name: others are served";
    return $c;
}

sub works {
    my ($name, $c) = @_;
    is text_of($c->call_tool('run')), "$number\n", "$name: the next call works";
    is text_of($tg->connect->call_tool('run')), "$number\n",
        "$name: so do others";
}

$tg->conf(conf())->start;
works('before', $tg->connect);

# A folder instead of the socket; connected workers are served until they exit.
my $c = $tg->connect;
unlink $socket or die "$socket: $!";
mkdir $socket or die "$socket: $!";
is text_of($c->call_tool('run')), "$number\n", 'who is connected is served';
without_runner('a folder');
$c = fails('a folder', 'cannot listen .*: File exists');
rmdir $socket or die "$socket: $!";
works('a folder', $c);

# Its temporary name is taken, by whoever may write there.
killed('a temporary name');
mkdir "$state/runner-3.new" or die "mkdir: $!";
$c = fails('a temporary name', 'cannot listen .*: Is a directory');
rmdir "$state/runner-3.new" or die "rmdir: $!";
works('a temporary name', $c);

killed('a mode');
chmod 0707, $state or die "chmod: $!";
$c = fails('a mode', 'the state directory must belong .*: Operation not .*');
chmod 0700, $state or die "chmod: $!";
works('a mode', $c);

# The folder is missing.
killed('no folder');
rename $state, "$state.away" or die "rename: $!";
$c = fails('no folder', 'the state directory: No such file or directory');
rename "$state.away", $state or die "rename: $!";
works('no folder', $c);
$tg->stop;

done_testing;
