#!/usr/bin/perl
# NGINX quits while sessions are between two workers: the worker that is
# notified first sends them to the other, which is notified only then. Calls end
# with their responses, and nobody is forgotten.

use Toolgate::Test;

my $rounds = 3;

for my $round (1 .. $rounds) {
    my $tg = Toolgate::Test->new;
    my $dir = $tg->dir;
    $tg->file('wait', <<'END', 0755);
#!/bin/sh
touch "$2"
while ! [ -e "$1" ]; do sleep 0.02; done
echo done
END
    $tg->conf(<<"END")->start;
tool who { return \$pid; }
tool wait { exec $dir/wait $dir/go $dir/runs\$tool_arg_n; timeout 1h; }
END

    # Clients of both workers; the first one is notified first.
    my ($first, $second) = $tg->worker_pids;
    my (@busy, @idle);
    wait_for {
        my $client = $tg->connect;
        if (text_of($client->call_tool('who')) == $first) {
            push @{ @busy < 4 ? \@busy : \@idle }, $client;
        }
        return @idle == 4;
    } 'clients of the first worker';
    my $n = 0;
    my @id = map {
        $_->request('tools/call',
            { name => 'wait', arguments => { n => ++$n } })
    } @busy;
    wait_for { -e "$dir/runs$_" } "program $_" for 1 .. $n;

    # The other one is not notified until the first has sent all its sessions.
    stop_idle($second);
    kill QUIT => $tg->master_pid;
    wait_for { !is_alive($first) } 'the first worker to go';
    ok is_alive($second), 'the second one is there';
    kill CONT => $second;
    ok $_->at_eof, "round $round: an idle client is closed" for @idle;

    $tg->file('go', '');
    for my $i (0 .. $#busy) {
        is text_of($busy[$i]->reply($id[$i])), "done\n",
            "round $round: a call ends with its answer";
        ok $busy[$i]->at_eof, 'then the client is closed';
    }
    wait_for { !$tg->is_running } 'NGINX to end';
    $tg->stop;
}

done_testing;
