#!/usr/bin/perl
# The life of MCP servers: start, end, instances per user and connection, the
# stored list, and that nothing is left.

use Toolgate::Test qw(Runner McpServer);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;

sub status { return $c->rpc('status')->{result} }
sub pid_of { return text_of_call($c->reply(call($c, @_))) }
sub starts { return scalar(() = (slurp($_[0]) // '') =~ /\n/g) }

# A server whose list is stored is not started before its first call.
my $pids = "$dir/pids";
my @exec = (exec => stand_in("once=$pids"));
my ($key) = watch($c, @exec, idle_ms => 0);
state_of($c, $key, 'ready');
is starts($pids), 1, 'one that is not known is started';
kill TERM => $runner->supervisor;
$runner->wait_gone;
my $first = slurp($pids) + 0;
ok !is_alive($first), 'it ends with the runner';
$runner = Toolgate::Runner->start($tg, foreground => 1);
$c = $runner->connect;
(undef, my $known) = watch($c, key => $key, @exec, idle_ms => 100);
like names_of($known->{tools}), qr/^echo hang/, 'its list is known at once';
is $known->{state}, 'stopped', 'and nothing runs';
is starts($pids), 1, 'nor has anything been started';
my $pid = pid_of($key, 'pid');
is starts($pids), 2, 'the first call starts it';
my $state = state_of($c, $key, 'stopped');
$state = state_of($c, $key, 'stopped') if $state->{running};
is $state->{running}, 0, 'without calls, the server ends';
ok !is_alive($pid), 'its process too';
isnt pid_of($key, 'pid'), $pid, 'the next call starts another';

# A file that is no list, or is a link, is ignored.
for my $case (
    [ 'cut off' => sub { $tg->file("state/mcp/$_[0].json", '{"tools":[{') } ],
    [ 'no list' => sub { $tg->file("state/mcp/$_[0].json", '{"tools":1}') } ],
    [ 'a folder' => sub { mkdir "$dir/state/mcp/$_[0].json" } ],
    [ 'a pipe' => sub { POSIX::mkfifo("$dir/state/mcp/$_[0].json", 0600) } ],
    [ 'a link' => sub { symlink "$dir/state/mcp/$key.json",
            "$dir/state/mcp/$_[0].json" } ],
) {
    my ($name, $make) = @$case;
    (my $other = "broken-$name-000000") =~ tr/ /-/;
    $make->($other);
    my (undef, $result) = watch($c, key => $other, exec => stand_in());
    ok !exists $result->{tools}, "$name: it is not believed";
    like names_of(list_of($c, $other)), qr/^echo/, "$name: it is asked anew";
    unlink "$dir/state/mcp/$other.json" or rmdir "$dir/state/mcp/$other.json";
}

# A server that starts with NGINX keeps running, and is restarted.
my $boot = "$dir/boot";
my ($always) = watch($c, exec => stand_in("once=$boot"), start => 'boot',
    idle_ms => 1);
state_of($c, $always, 'ready');
my $old = pid_of($always, 'pid');
kill KILL => $old;
is state_of($c, $always, 'failed')->{running}, 1, 'killed, it is missed';
$state = state_of($c, $always, 'ready');
is $state->{restarts}, 1, 'and comes back by itself';
ok !exists $state->{error}, 'without an error any more';
isnt pid_of($always, 'pid'), $old, 'as another process';

# One instance per user: separate state, and each in its own folder.
my ($each) = watch($c, exec => stand_in(), share => 'user');
like names_of(list_of($c, $each)), qr/^echo/, 'one is started for its list';
state_of($c, $each, 'stopped');
pass 'and ends then';
my %pid = map { $_ => pid_of($each, 'pid', instance => "uid:$_") } 1, 2;
isnt $pid{1}, $pid{2}, 'two users have two processes';
is pid_of($each, 'pid', instance => 'uid:1'), $pid{1}, 'each always its own';
$c->rpc('mcp_leave', { key => $each, instance => 'uid:1' });
wait_for { !is_alive($pid{1}) } 'the first to end';
ok is_alive($pid{2}), 'only that one has ended';

# One instance per connection, in its client's folder.
my ($conn) = watch($c, exec => stand_in(), share => 'connection');
mkdir "$dir/work";
is pid_of($conn, 'where', instance => 'conn:1', cwd => "$dir/work",
    uid => $> + 0), "$dir/work", 'a connection\'s is in its client\'s folder';
my $reply = $c->reply(call($c, $conn, 'where', instance => 'conn:2',
    cwd => '/proc/1', uid => 4242));
is $reply->{result}{failure}, 'arguments', 'a folder of another user';
like $reply->{result}{message}, qr/does not belong to the caller/, 'is refused';
symlink '/proc/1', "$dir/link";
$reply = $c->reply(call($c, $conn, 'where', instance => 'conn:3',
    cwd => "$dir/link", uid => 4242));
is $reply->{result}{failure}, 'arguments', 'also behind a link';
$reply = $c->reply(call($c, $conn, 'where', instance => 'conn:4',
    cwd => "$dir/no"));
like $reply->{result}{message}, qr{working directory \Q$dir\E/no: No such},
    'a folder that is not there';
$reply = $c->reply(call($c, $conn, 'where', instance => 'conn:5',
    cwd => 'work'));
is $reply->{result}{failure}, 'arguments', 'nor one without its full path';

# Each may have another list, because it knows its client. The reported list is
# that of an instance without a client, which is requested again after a change.
my $seen = "$dir/seen";
my $more = $tg->file('more', "more1\n");
my @lists = (exec => stand_in('by_client', "once=$seen", "names=$more"),
    share => 'connection');
my ($lists) = watch($c, @lists);
like names_of(list_of($c, $lists)), qr/ask_user more1$/,
    'the list is that for a client who can be asked everything';
wait_for { starts($seen) == 1 } 'it to have started';
pid_of($lists, 'pid', instance => 'conn:1');
wait_for { starts($seen) == 3 } 'one for the client, and one for the list';
pid_of($lists, 'pid', instance => 'conn:2');
is starts($seen), 4, 'the next client has the same one';
(undef, $known) = watch($c, key => $lists, @lists);
like names_of($known->{tools}), qr/ask_user more1$/, 'the list has not changed';
$tg->file('more', "more1\nmore2\n");
pid_of($lists, 'pid', instance => 'conn:3');
like names_of(list_of($c, $lists)), qr/ask_user more1 more2$/,
    'but when the server has changed, it does';
$c->rpc('mcp_leave', { key => $lists, instance => "conn:$_" }) for 1 .. 3;
unlink $seen, $more;

# It ends after its call, not before.
my $go = "$dir/go";
my $n = status()->{instances};
my $slow = call($c, $conn, 'slow', instance => 'conn:1',
    arguments => { until => $go });
$c->rpc('mcp_leave', { key => $conn, instance => 'conn:1' });
$tg->file('go', '');
is text_of_call($c->reply($slow)), 'slow', 'a call that runs is answered';
wait_for { status()->{instances} < $n } 'that instance to end';

# The whole tree ends: also processes in other sessions that ignore SIGTERM.
my ($tree) = watch($c, exec => stand_in('deaf_term', 'deaf_end'),
    share => 'user');
my $deaf = pid_of($tree, 'spawn', instance => 'u');
my $main = pid_of($tree, 'pid', instance => 'u');
ok is_alive($deaf) && is_alive($main), 'two processes, both deaf';
$c->rpc('mcp_leave', { key => $tree, instance => 'u' });
wait_for { !is_alive($deaf) && !is_alive($main) } 'both to end';
pass 'both end';

# kill -9 of the runner leaves none.
$deaf = pid_of($tree, 'spawn', instance => 'u');
$main = pid_of($tree, 'pid', instance => 'u');
my @all = ($deaf, $main, pid_of($key, 'pid'), pid_of($always, 'pid'), $pid{2});
is scalar(grep { is_alive($_) } @all), 5, 'five processes';
kill KILL => $runner->pid;
wait_for { !grep { is_alive($_) } @all } 'all of them to end';
$runner->wait_gone;
pass 'kill -9 of the runner leaves none';

# With its supervisor at the same moment: the next runner ends the rest.
$runner = Toolgate::Runner->start($tg);
$c = $runner->connect;
watch($c, key => $tree, exec => stand_in('deaf_term', 'deaf_end'),
    share => 'user');
$deaf = pid_of($tree, 'spawn', instance => 'u');
$main = pid_of($tree, 'pid', instance => 'u');
kill KILL => $runner->supervisor, $runner->pid;
wait_for { !is_alive($main) } 'its own process to end';
$runner->wait_gone;
$runner = Toolgate::Runner->start($tg, foreground => 1, linger => 0);
ok !is_alive($deaf), 'the next runner ends what was left of both';

# The end of its last worker leaves none.
$c = $runner->connect;
watch($c, key => $always, exec => stand_in("once=$boot"), start => 'boot');
state_of($c, $always, 'ready');
$pid = pid_of($always, 'pid');
$c->close;
$runner->wait_gone;
ok !is_alive($pid), 'nor does it report the end of an unused server';

unlink glob "$dir/state/mcp/*";
rmdir "$dir/state/mcp";
unlink $pids, $boot, $go, "$dir/link";
rmdir "$dir/work";
done_testing;
