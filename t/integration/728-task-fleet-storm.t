#!/usr/bin/perl
# Three runners share a queue in PostgreSQL. Meanwhile one of them is killed and
# the database restarts as after a crash: each answered task has ended once,
# none is lost, and none ran twice at a time. A trigger of the test records each
# change.

use Toolgate::Test qw(Postgres),
    timeout => 900 + ($ENV{TOOLGATE_TEST_TASKS} // 0);

my $tasks = $ENV{TOOLGATE_TEST_TASKS} // 900;
my @tg = map { Toolgate::Test->new(workers => 1) } 1 .. 3;
my $db = Toolgate::Postgres->new(Toolgate::Test->new);
my $dir = $tg[0]->dir;
mkdir "$dir/locks" or die $!;
# A runner that waits for another one's lock reports it.
my $conf = 'task_store ' . $db->uri . <<"END";
 lease=1m;
task_agent sh {
    exec flock --nonblock -E 99 $dir/locks/\$task_id sh -c \$task_prompt;
    default; retry 9; }
task_methods on;
task_concurrency 8;
task_queue 100000;
END
$_->conf($conf)->start for @tg;
my @c = map { $_->connect } @tg;
for (@c) {
    is $_->rpc('task.stats')->{result}{total}, 0, 'it is open';
}
$db->sql(<<'END');
CREATE TABLE audit(n serial, id bigint, old int, new int);
CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO audit(id, new) VALUES(new.id, new.state);
    ELSIF old.state <> new.state THEN
        INSERT INTO audit(id, old, new) VALUES(new.id, old.state, new.state);
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON toolgate_task
    FOR EACH ROW EXECUTE FUNCTION audit();
END

my (@taken, @refused);
my @asked = (0) x 3;

# Submits some to each machine, without waiting for all responses.
sub submit {
    my ($n) = @_;
    for my $k (1 .. $n) {
        my $i = $k % 3;
        $c[$i]->request('task.submit', { prompt => "echo >>$dir/ran" });
        $asked[$i]++;
        answers() if $k % 150 == 0 && $db->{process};
    }
}
sub answers {
    for my $i (0 .. 2) {
        while ($asked[$i]) {
            my $line = $c[$i]->recv_line;
            # Clients get many notifications.
            next if $line =~ /"method":/;
            my $reply = $c[$i]->decode($line);
            $asked[$i]--;
            push @{ $reply->{result} ? \@taken : \@refused },
                $reply->{result}{taskId} // $reply->{error}{message};
        }
    }
}
sub stats {
    my $reply = $c[0]->rpc('task.stats');
    @{ $_->{aside} } = () for @c;
    return $reply->{result};
}
sub ended {
    my ($n) = @_;
    wait_for { ((stats() // {})->{completed} // 0) >= $n } "$n to end", 600;
}

my $part = int $tasks / 6;
for (1 .. 3) {
    submit($part);
    answers();
}
is @refused, 0, 'all are taken' or diag explain \@refused;
ended($part);
my $runner = $tg[1]->runner_pid;
kill KILL => $runner;
submit($part);
answers();
ended(2 * $part);
submit($part);
$db->stop('QUIT');
submit(100);
$db->start;
answers();
submit($part);
answers();
wait_for {
    my $stats = stats() // {};
    $stats->{total} >= @taken && $stats->{queued} + $stats->{running} == 0;
} 'all to end', 900;

my $all = stats();
is $all->{completed}, $all->{total}, 'all have done their work'
    or diag explain $all;
my %known = map { $_ => 1 } split /\n/,
    $db->sql(q{SELECT 'task-'||lpad(id::text,greatest(4,length(id::text)),'0')
        FROM toolgate_task});
is_deeply [ grep { !$known{$_} } @taken ], [], 'none that was answered is lost';
is keys(%known), $all->{total}, 'each has an id of its own';
# A request without a response may have been executed.
cmp_ok $all->{total} - @taken, '<=', @refused, 'none was doubled';
is $db->sql('SELECT count(*) FROM (SELECT id FROM audit WHERE new > 1
    GROUP BY id HAVING count(*) <> 1) q'), 0, 'each has ended once';
is $db->sql('SELECT count(DISTINCT id) FROM audit WHERE new > 1'),
    $all->{total}, 'each of them';
is $db->sql('SELECT count(*) FROM (SELECT count(*) FILTER (WHERE new = 1)
    - count(*) FILTER (WHERE old = 1) AS n FROM audit GROUP BY id) q
    WHERE n <> 0'), 0, 'and has run only when it did not';
is $db->sql(q{SELECT count(*) FROM toolgate_task WHERE error IS NOT NULL}), 0,
    'none was run twice at a time';
my $ran = () = slurp("$dir/ran") =~ /\n/g;
my $again = $db->sql('SELECT count(*) FROM audit WHERE old = 1 AND new = 0');
diag "$all->{total} tasks, $again of them interrupted, " . @refused
    . ' submits refused';
cmp_ok $ran, '>=', $all->{total}, 'each was run';
cmp_ok $ran, '<=', $all->{total} + $again, 'and those again that were cut off';
cmp_ok $again, '<=', 8, 'which are those of one runner';
$tg[$_]->allow_log(qr/changes of tasks cannot be stored.*databas/)
    for 0 .. 2;
$_->stop for @tg;
wait_for { !$tg[0]->runner_pids } 'the runners to leave';

done_testing;
