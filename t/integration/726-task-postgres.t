#!/usr/bin/perl
# Tasks in PostgreSQL: access, errors of `nginx -t`, the password, which nobody
# else sees, and versions.

use Toolgate::Test qw(Postgres);

my $tg = Toolgate::Test->new;
my $db = Toolgate::Postgres->new(Toolgate::Test->new,
    password => 'pa"ss w\\rd');
my $uri = $db->uri;
my $secret = $tg->file('secret', "pa\"ss w\\rd\n", 0600);
chown((getpwnam $tg->{user})[ 2, 3 ], $secret);
my $rest = 'task_agent sh { exec sh -c $task_prompt; default; } '
    . 'task_methods on;';
my $body = "task_store $uri password_file=$secret; $rest";

sub refused {
    my ($store, @expected) = @_;
    conf_fails($tg, "task_store $store; $rest", @expected);
}

# --- mistakes

refused 'postgresql:', qr/invalid store "postgresql:".*SERVICE-or-URI/,
    'nothing';
refused "postgresql:a'b", qr/character that a URI or a service name/,
    'no name of a service';
refused 'postgresql://ann:secret@db/tasks',
    qr/contains a password; put it into a file, .*password_file=/,
    'a password in the config';
refused 'postgresql://ann@db/tasks?password=secret', qr/contains a password/,
    'the same, behind';
refused "$uri user=ann", qr/invalid parameter "user=ann".*lease=TIME/,
    'another parameter';
refused "$uri lease=1s", qr/invalid time in "lease=1s"; write 5s to 1h/,
    'a short lease';
refused "$uri password_file=/none", qr{"/none" failed|/none}, 'no file';
chmod 0644, $secret;
refused "$uri password_file=$secret", qr/can be read or changed by other users/,
    'a file for all';
chmod 0600, $secret;

# --- errors of nginx -t

refused $uri, qr/store cannot be opened: .*password/, 'no password';
my $wrong = $tg->file('wrong', "no\n", 0600);
chown((getpwnam $tg->{user})[ 2, 3 ], $wrong);
refused "$uri password_file=$wrong", qr/cannot be opened: .*authentication/,
    'a wrong one';
refused 'postgresql:none-such',
    qr/cannot be opened: definition of service "none-such" not found/,
    'a service that there is not';
refused $db->uri(database => 'none') . " password_file=$secret",
    qr/cannot be opened: .*database "none" does not exist/, 'no database';
my ($status, $out) = $tg->test_conf($body);
is $status, 0, 'all is well' or diag $out;
is $db->sql("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'toolgate%'"),
    0, 'nothing was made';
my $none = $uri =~ s/pg\/socket/none/r;
($status, $out) = $tg->test_conf("task_store $none; $rest");
is $status, 0, 'a database that is away is no mistake of the config';
like $out, qr/\[warn\].* cannot be reached now; .* will keep trying: /,
    'but it is said';

# --- the password

$tg->conf($body)->start;
my $c = $tg->connect;
is $c->rpc('task.submit', { prompt => 'echo $TOKEN' })->{result}{taskId},
    'task-0000', 'with it, it works';
my $task;
wait_for {
    $task = $c->rpc('task.get', { taskId => 'task-0000' })->{result};
    $task->{completedAt};
} 'the task to end';
is $task->{state}, 'completed', 'and the task' or diag explain $task;
is $task->{pid}, undef, 'without a pid';
is_deeply $c->rpc('task.list', { agent => "sh\0" })->{result}, [],
    'no agent has a NUL in its name';
my (undef, $dump) = run_command({ env => $tg->nginx_env }, $tg->nginx_command,
    '-T');
my $ps = join "\n", values %{ $tg->processes };
my $row = $db->sql('SELECT * FROM toolgate_runner');
for ([ $dump, 'nginx -T' ], [ $tg->log, 'the log' ], [ $ps, 'ps' ],
    [ $row, 'the database' ]) {
    unlike $_->[0], qr/pa.?"ss/, "no password in $_->[1]";
}
$db->sql(q{ALTER USER tasks PASSWORD 'new'});
$tg->file('secret', "new\n", 0600);
$tg->reload($body);
$db->sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name='toolgate-runner'});
is $c->rpc('task.submit', { prompt => 'true' })->{result}{taskId},
    'task-0001', 'it reconnects with another password';

# --- stores that cannot be opened

wait_for { $c->rpc('task.stats')->{result}{completed} == 2 } 'its end';
$tg->stop;
wait_for { !$tg->runner_pids } 'the runner to leave';
$db->sql('UPDATE toolgate_store SET version=2');
refused "$uri password_file=$secret",
    qr/cannot be opened: .*version 2 of a newer Toolgate/, 'a newer version';
$tg->start;
$c = $tg->connect;
my $error = $c->rpc('task.stats')->{error};
is $error->{code}, -32003, 'it is not opened';
like $error->{message}, qr/^Subsystem unavailable: .*version 2 of a newer/,
    'as it says';
$tg->wait_log(qr/store cannot be opened, trying again: .*version 2/);
$db->sql('UPDATE toolgate_store SET version=1');
wait_for { $c->rpc('daemon.status')->{result}{health} eq 'healthy' }
    'it is tried again';
is $c->rpc('task.stats')->{result}{total}, 2, 'with all that there was';
$db->sql('CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0');
refused $db->uri(database => 'latin') . " password_file=$secret",
    qr/cannot be opened: the database has the encoding LATIN1; make one/,
    'another encoding';
$db->sql('CREATE USER guest');
refused $db->uri(user => 'other', database => 'none'), qr/"none" does not/,
    'another user';
$tg->stop;
wait_for { !$tg->runner_pids } 'the runner to leave';

done_testing;
