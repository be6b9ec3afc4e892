#!/usr/bin/perl
# 100 reloads in a row while four agents call all the time through their
# bridges: every call is answered once, and none fails.

use Toolgate::Test;
use IO::Select;
use Time::HiRes qw(sleep time);

use constant {
    RELOADS => $ENV{TOOLGATE_TEST_RELOADS} || 100,
    BRIDGES => 4,
    WINDOW  => 4, # calls of a bridge at once
};

my $tg = Toolgate::Test->new;

# Each config has another list, so that each reload changes it.
sub body {
    my ($n) = @_;
    return 'tool say { description "Says it."; return "$tool_arg_it"; } '
        . 'tool run { description "Runs it."; exec echo -n $tool_arg_it; } '
        . "tool t$n { description \"Number $n.\"; return $n; }";
}

$tg->conf(body(0))->start;
my @grace = ('--grace', 600);
my @agents = map { {
    bridge => $tg->bridge([ @grace, $tg->socket_path ]),
    told   => 0,
    sent   => 0,
} } 1 .. BRIDGES;
$_->{bridge}->rpc('initialize', { protocolVersion => '2025-11-25' })
    for @agents;
my ($done, $wrong) = (0, 0);

sub call {
    my ($agent) = @_;
    my $it = join '-', $$, ++$agent->{sent};
    # One in eight is run by the runner.
    my $name = $agent->{sent} % 8 ? 'say' : 'run';
    my $id = $agent->{bridge}->request('tools/call',
        { name => $name, arguments => { it => $it } });
    $agent->{open}{$id} = $it;
}

sub take {
    my ($agent, $message) = @_;
    if (defined $message->{method}) {
        $agent->{told}++;
        return;
    }
    my $it = delete $agent->{open}{ $message->{id} };
    my $text = $message->{result}{content}[0]{text};
    if (!defined $it) {
        diag "answered twice: $message->{id}";
        $wrong++;
    } elsif (!defined $text || $text ne $it || $message->{result}{isError}) {
        diag $text // $message->{error}{message};
        $wrong++;
    } else {
        $done++;
    }
}

# Handles input for some time; keeps every window full.
sub serve {
    my ($seconds, $refill) = @_;
    my $until = time + $seconds;
    my %agent_of = map { fileno($_->{bridge}{in}) => $_ } @agents;
    my $select = IO::Select->new(map { $_->{bridge}{in} } @agents);
    do {
        for my $handle ($select->can_read(0.01)) {
            my $agent = $agent_of{ fileno $handle };
            my $bridge = $agent->{bridge};
            die 'a bridge has gone: ' . $bridge->stderr
                if !$bridge->fill(time);
            while ($bridge->{buf} =~ s/\A(.*)\n//) {
                take($agent, $bridge->decode($1));
                call($agent) if $refill;
            }
        }
        # The cores are for NGINX: the test must not be the load.
        sleep 0.01;
    } while (time < $until);
}

for my $agent (@agents) {
    call($agent) for 1 .. WINDOW;
}
my $reloads = 0;
my %old;
for my $n (1 .. RELOADS) {
    my $from = $tg->log_size;
    $tg->conf(body($n));
    $tg->signal_reload('HUP');
    # The next reload may begin before the old workers exit, but not before
    # NGINX has seen this one.
    my $deadline = time + $Toolgate::Util::PATIENCE;
    while ($tg->log($from) !~ /start worker process \d/) {
        die 'no reload' if time > $deadline;
        serve(0.02, 1);
    }
    serve(0.03, 1);
    $reloads++;
}
is $reloads, RELOADS, 'all reloads happened';

my $deadline = time + $Toolgate::Util::PATIENCE;
serve(0.05, 0)
    while time < $deadline && grep { %{ $_->{open} } } @agents;
is scalar(map { keys %{ $_->{open} } } @agents), 0, 'every call is answered';
is $wrong, 0, 'as it should be, exactly once';
cmp_ok $done, '>', RELOADS, "$done calls";
cmp_ok $_->{told}, '>', 0, "told of $_->{told} changes" for @agents;

# The agents see the last list.
wait_for {
    serve(0.02, 0);
    my @names = map { $_->{name} } @{
        $agents[0]{bridge}->rpc('tools/list')->{result}{tools}
    };
    return $names[-1] eq 't' . RELOADS;
} 'the last list';
wait_for { $tg->worker_pids(all => 1) == 2 } 'old workers to go';
is scalar($tg->worker_pids(all => 1)), 2, 'no old worker is left';

for my $agent (@agents) {
    $agent->{bridge}->close;
    is $agent->{bridge}->wait_exit, 0, 'a bridge ends with its agent';
}

done_testing;
