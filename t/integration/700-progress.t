#!/usr/bin/perl
# Progress of programs: for callers that request it, increasing, none after the
# response; it moves the deadline, but not beyond the maximum.

use Toolgate::Test;
use Time::HiRes qw(time);

my $tg = Toolgate::Test->new;
my $go = $tg->dir . '/go';

# Three steps, when the files go.NAME.1 to .3 exist.
my $steps = $tg->file('steps', <<"END", 0755);
#!/bin/sh
i=0
while [ \$i -lt 3 ]; do
    i=\$((i + 1))
    echo '{"progress":'\$i',"total":3,"message":"step '\$i'"}' \\
        >&\$TOOL_PROGRESS_FD
    until [ -e $go.\$1.\$i ]; do sleep 0.01; done
done
echo done
END

# Prints a number every half second, some times.
my $ticks = $tg->file('ticks', <<'END', 0755);
#!/bin/sh
i=0
while [ $i -lt $1 ]; do
    i=$((i + 1))
    sleep 0.5
    echo '{"progress":'$i'}' >&3
done
echo "$i ticks"
END

my $flood = $tg->file('flood', <<'END', 0755);
#!/bin/sh
exec seq -f '{"progress":%.0f}' 1 1000000000 >&3
END

$tg->conf(<<"END")->start;
tool steps {
    description "Three steps.";
    exec        $steps \$tool_arg_name;
    stdin       "";
}
tool ticks {
    description "Ticks.";
    exec        $ticks \$tool_arg_n;
    timeout     4s max=600s;
}
tool capped {
    description "Ticks, but not for long.";
    exec        $ticks \$tool_arg_n;
    timeout     4s max=5s;
}
tool flood {
    description "More than anybody wants to know.";
    exec        $flood;
    timeout     3s max=4s;
}
END

sub call {
    my ($c, $tool, $arguments, $token) = @_;
    return $c->request('tools/call', {
        name      => $tool,
        arguments => $arguments,
        defined $token ? (_meta => { progressToken => $token }) : (),
    });
}

sub text { return $_[0]{result}{content}[0]{text} }

# Returns the progress up to the response, and the response.
sub follow {
    my ($c, $id, $timeout) = @_;
    my @told;
    while (1) {
        my $message = $c->recv_json($timeout);
        return (\@told, $message) if defined $message->{id};
        is $message->{method}, 'notifications/progress', 'of progress'
            if ($message->{method} // '') ne 'notifications/progress';
        push @told, $message->{params};
    }
}

# One step at a time, each notified at once.
{
    my $c = $tg->connect;
    my $id = call($c, steps => { name => 'one' }, 'tok');
    for my $i (1 .. 3) {
        is_deeply $c->recv_json, {
            jsonrpc => '2.0',
            method  => 'notifications/progress',
            params  => {
                progressToken => 'tok',
                progress      => $i,
                total         => 3,
                message       => "step $i",
            },
        }, "step $i is reported";
        $tg->file("go.one.$i", '');
    }
    my $reply = $c->recv_json;
    is $reply->{id}, $id, 'then the reply';
    is text($reply), "done\n", 'which is that of the program';
}

# Several callers with equal tokens and ids, in all workers, one without
# progress: each gets its own call's only.
{
    my @names = map {"many$_"} 1 .. 6;
    my %c = map { $_ => $tg->connect } @names, 'quiet';
    call($c{$_}, steps => { name => $_ }, 7) for @names;
    call($c{quiet}, steps => { name => 'quiet' });
    for my $i (1 .. 3) {
        for my $name (@names) {
            my $params = $c{$name}->recv_json->{params};
            is "$params->{progressToken} $params->{progress}", "7 $i",
                "$name, step $i";
            $tg->file("go.$name.$i", '');
        }
    }
    is text($c{$_}->recv_json), "done\n", "$_ is done" for @names;
    $tg->file("go.quiet.$_", '') for 1 .. 3;
    is text($c{quiet}->recv_json), "done\n", 'who did not ask only gets it';
}

# None after the caller has cancelled.
{
    my $c = $tg->connect;
    my $id = call($c, steps => { name => 'cancelled' }, 1);
    is $c->recv_json->{params}{progress}, 1, 'it runs';
    $c->notify('notifications/cancelled', { requestId => $id });
    $tg->file('go.cancelled.1', '');
    my $other = call($c, steps => { name => 'one' }, 2);
    my ($told, $reply) = follow($c, $other);
    is $reply->{id}, $other, 'the next call is served';
    is scalar(grep { $_->{progressToken} eq '1' } @$told), 0,
        'and nothing more came of the cancelled one';
}

# The deadline moves with progress, up to the maximum.
{
    my ($c, $quiet, $capped) = map { $tg->connect } 1 .. 3;
    my $from = time;
    call($quiet, ticks => { n => 10 });
    call($capped, capped => { n => 1000 });
    my ($told, $reply) = follow($c, call($c, ticks => { n => 10 }, 1));
    is text($reply), "10 ticks\n", 'a call that makes progress continues';
    is $told->[-1]{progress}, 10, 'and its last progress is reported';
    is scalar(grep { $told->[$_]{progress} <= $told->[ $_ - 1 ]{progress} }
            1 .. $#$told), 0, 'reported progress rises';
    is text($quiet->recv_json), "10 ticks\n",
        'and so does one without a receiver of progress';

    $reply = $capped->recv_json;
    ok $reply->{result}{isError}, 'at the cap it ends';
    my $waited = qr/\(it waited [\d.]+ m?s in the queue and ran [\d.]+ s\)/;
    like text($reply), qr/^capped did not finish within 5 s $waited and was/,
        'and says for how long it ran';
    like text($reply), qr/the max of timeout.*ask for less/, 'and what to do';
    cmp_ok time - $from, '>=', 4.9, 'not before';
}

# A flood is notified sometimes, and affects nobody.
{
    my ($c, $deaf) = ($tg->connect, $tg->connect);
    call($deaf, flood => {}, 'x' x 1000);
    my ($told, $reply) = follow($c, call($c, flood => {}, 1));
    like text($reply), qr/did not finish within 4 s/, 'a flood is ended';
    cmp_ok scalar(@$told), '>', 1, 'after some progress was reported';
    cmp_ok scalar(@$told), '<', 200, 'and much was not';
}

done_testing;
