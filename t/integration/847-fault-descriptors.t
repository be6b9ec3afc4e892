#!/usr/bin/perl
# A runner without enough descriptors for all its programs: each call gets a
# response or an error with the reason, once, and afterwards everything works.

use POSIX ();

use Toolgate::Test;

# The runner inherits it from the worker that starts it.
my $tg = Toolgate::Test->new(workers => 1);
my $fifo = $tg->dir . '/fifo';
POSIX::mkfifo($fifo, 0666) or die "$fifo: $!\n";
chmod 0666, $fifo;
$tg->file('wait', "#!/bin/sh\nread line <$fifo\necho \$1\n", 0755);
$tg->conf(<<'END', main => 'worker_rlimit_nofile 48;')->start;
tool echo { exec echo $tool_arg_n; }
tool wait { exec %%DIR%%/wait $tool_arg_n; }
END
my $client = $tg->connect;
is text_of($client->call_tool(echo => { n => 0 })), "0\n", 'it begins well';
my $runner = $tg->runner_pid;
my $fds = fd_count($runner);
like slurp("/proc/$runner/limits"), qr/^Max open files +48 /m,
    'the runner has few descriptors';

# More programs than descriptors, all at once: started ones wait, so that none
# frees its descriptors for another.
my $count = 40;
my %open = map { $client->request('tools/call',
    { name => 'wait', arguments => { n => $_ } }) => $_ } 1 .. $count;
my (%ok, %failed);
sub take {
    my ($reply) = @_;
    my $n = delete $open{ $reply->{id} }
        // die "answered twice: $reply->{id}\n";
    my $text = text_of($reply);
    if ($reply->{result}{isError}) {
        $failed{$text}++;
    } else {
        die "$n got $text\n" if $text ne "$n\n";
        $ok{$n} = 1;
    }
}

# The first failed start reports it; then the others may end.
take($client->recv_json);
cmp_ok scalar(keys %failed), '>', 0, 'not all could be started';
my $writer;
open $writer, '+<', $fifo or die "$fifo: $!\n";
syswrite $writer, "go\n" x $count;
take($client->recv_json) while %open;
close $writer;
cmp_ok scalar(keys %ok), '>', 0, keys(%ok) . ' programs have run';
diag "$failed{$_} times: $_" for sort keys %failed;
is scalar(grep { !/descriptor|files/i } keys %failed), 0, 'each error says why';

is text_of($client->call_tool(echo => { n => $_ })), "$_\n", 'as before'
    for 1 .. 3;
wait_for { fd_count($runner) <= $fds } 'the runner to let go';
is $tg->runner_pid, $runner, 'the runner is the same';

done_testing;
