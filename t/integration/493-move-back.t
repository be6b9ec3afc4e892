#!/usr/bin/perl
# NGINX ends while a worker sends its last session to another one, which exits
# between the check and the sending (t/faults/tg_between.c): the session stays.
# Its call ends with its response, the rest of the output is written, and the
# shutdown notice is sent.

use Toolgate::Test qw(Hang Way);

my $size = 900_000;

# Returns a client of the first of two workers, which checks while the other one
# exists and sends when it has exited.
sub left_alone {
    my ($name, $before, $after) = @_;
    my $tg = Toolgate::Test->new(workers => 2);
    my $dir = $tg->dir;
    my $hang = Toolgate::Hang->new($tg);
    my $large = $tg->file('large', <<"END", 0755);
#!/bin/sh
head -c $size /dev/zero | tr '\\0' x
END
    $tg->preload('tg_between', TG_BETWEEN => "$dir/asks")->conf(<<"END")->start;
tool who { return \$pid; }
tool hang { @{[ $hang->handler ]} }
tool large { exec $large; }
END
    my ($first, $second) = $tg->worker_pids;
    my $way;
    wait_for {
        $way = Toolgate::Way->new($name, $tg->connect);
        return $way->call('who')->{text} == $first;
    } 'a client of the first worker';
    my $call = $before->($way, $hang);
    stopped(
        sub {
            kill QUIT => $tg->master_pid;
            wait_for { -e "$dir/asks" } 'the first worker to ask';
        },
        $second);
    wait_for { !is_alive($second) } 'the other worker to go';
    unlink "$dir/asks" or die "unlink: $!";
    $after->($way, $hang, $call);
    is $way->client->recv_json->{kind}, 'shutdown', 'its goodbye'
        if $name eq 'relay';
    ok $way->client->at_eof, "$name: and that is all";
    wait_for { !$tg->is_running } 'NGINX to end';
    unlike $tg->log, qr/sessions? moved/, 'it went to nobody';
    $tg->stop;
}

for my $name (@Toolgate::Way::ALL) {
    left_alone($name, sub { }, sub { });
    left_alone(
        $name,
        sub {
            my ($way, $hang) = @_;
            my $call = $way->start('hang', { key => $name });
            $hang->started($name);
            return $call;
        },
        sub {
            my ($way, $hang, $call) = @_;
            $hang->finish($name);
            is $way->finish($call)->{text}, "done $name\n",
                "$name: a call ends with its answer";
        });
    left_alone(
        $name,
        sub {
            my ($way) = @_;
            my $call = $way->start('large');
            my $client = $way->client;
            $client->await('some of it', undef,
                sub { length $client->buffered || undef });
            return $call;
        },
        sub {
            my ($way, $hang, $call) = @_;
            is length $way->finish($call)->{text}, $size,
                "$name: all of what was said";
        });
}

done_testing;
