#!/usr/bin/perl
# Messages that arrive just before a worker is told to exit, so that it handles
# the exit first: requests of clients that stay are answered, and messages of
# the runner reach clients; also output that clients have not read yet.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $stays = "$dir/stays.sock";

sub body {
    my ($n) = @_;
    return <<"END";
listen unix:%%SOCKET%%;
listen unix:$stays proxy_protocol;
method now { return $n; }
tool echo { description x; exec echo \$tool_arg_n; }
task_agent sh { exec sh -c \$task_prompt; default; }
task_methods on;
END
}
$tg->conf(body(1))->start;
my $client = $tg->connect;
my $hears = $tg->connect;
$_->rpc('ping') for $client, $hears;

# Returns a worker that was told to exit while it was stopped.
sub told_late {
    my ($tell, $meanwhile) = @_;
    my ($old) = $tg->worker_pids;
    stop_idle($old);
    $meanwhile->();
    $tell->();
    kill QUIT => $old;
    kill CONT => $old;
}

sub reload {
    my ($n, $meanwhile) = @_;
    my $from = $tg->log_size;
    $tg->conf(body($n));
    told_late(
        sub {
            $tg->signal_reload;
            $tg->wait_log(qr/start worker process \d+/, $from);
        },
        $meanwhile);
    wait_for { $client->rpc('now')->{result} == $n } 'its session to move';
}

# --- requests of clients that stay ------------------------------------------

my $n = 1;
for my $name (@Toolgate::Way::ALL) {
    my $conn = $tg->connect($stays);
    $conn->send_raw("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n");
    my $way = Toolgate::Way->new($name, $conn);
    is $way->call('echo', { n => 1 })->{text}, "1\n", "$name: a call";
    my $call;
    reload(++$n, sub { $call = $way->start('echo', { n => $n }) });
    is $way->finish($call)->{text}, "$n\n", "$name: one just before the exit";
}

# --- messages of the runner -------------------------------------------------

my $id = $client->rpc('task.submit',
    { prompt => "until [ -e $dir/go ]; do sleep 0.01; done; touch $dir/done" })
    ->{result}{taskId};
reload(
    ++$n,
    sub {
        $tg->file('go', '');
        wait_for { -e "$dir/done" } 'the task to end';
        # Requested as a worker does.
        my $runner = Toolgate::Client->connect(
            $tg->state_dir . '/runner-3.sock');
        wait_for {
            $runner->rpc('task', {
                tool   => 't',
                store  => 'sqlite:' . $tg->state_dir . '/tasks.db',
                method => 'task.get',
                params => { taskId => $id },
                owner  => "$>",
            })->{result}{json}{state} eq 'completed';
        } 'the runner to know';
    });
is $hears->recv_where(sub { ($_[0]{method} // '') eq 'task.completed' },
    undef, 'the notification')->{params}{taskId}, $id,
    'the notification of the runner';

# --- NGINX quits ------------------------------------------------------------

my @ways = map { Toolgate::Way->new($_, $tg->connect) } @Toolgate::Way::ALL;
$_->call('echo', { n => 1 }) for @ways;
my @calls;
told_late(
    sub { kill QUIT => $tg->master_pid },
    sub { @calls = map { $_->start('echo', { n => 'last' }) } @ways });
is $ways[$_]->finish($calls[$_])->{text}, "last\n",
    $ways[$_]->name . ': one just before NGINX quits'
    for 0 .. $#ways;
$tg->stop;

# --- clients that have not read all output ----------------------------------

my $size = 900_000;
for my $name (@Toolgate::Way::ALL) {
    my $other = Toolgate::Test->new(workers => 1);
    my $large = $other->file('large', <<"END", 0755);
#!/bin/sh
head -c $size /dev/zero | tr '\\0' x
END
    $other->conf("tool_send_timeout 0; tool large { exec $large; }")->start;
    my $way = Toolgate::Way->new($name, $other->connect);
    my $call = $way->start('large');
    my $slow = $way->client;
    $slow->await('some of it', undef, sub { length $slow->buffered || undef });
    kill QUIT => $other->master_pid;
    $other->wait_log(qr/gracefully shutting down/);
    is length $way->finish($call)->{text}, $size,
        "$name: all of a large answer";
    $other->stop;
}

done_testing;
