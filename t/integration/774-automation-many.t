#!/usr/bin/perl
# Many rules about the same events: each fires once per event, in time slices,
# as do the rules of the next config.

use Toolgate::Test;

my $NRULES = 240;
my $NTASKS = 6;

my $tg = Toolgate::Test->new;

sub body {
    my ($prefix) = @_;
    my $rule = 'trigger event type=task.completed; notify "{{payload.id}}";';
    return join "\n", 'tool run { exec echo hello; }',
        'task_agent done { exec true; default; } task_methods on;',
        map({"automation $prefix$_ { $rule }"} 1 .. $NRULES),
        'automation none { trigger event type=task.failed; notify no; }';
}
$tg->conf(body('a'))->start;
my $listener = $tg->connect;
my $client = $tg->connect;
$listener->rpc('ping');

# Returns how often each rule fired, when all have fired for each task.
sub fired {
    my ($prefix) = @_;
    my %fired = map { ("$prefix$_" => 0) } 1 .. $NRULES;
    my $left = $NRULES * $NTASKS;
    while ($left > 0 && defined(my $message = $listener->recv_json)) {
        next if ($message->{method} // '') ne 'automation.notify';
        $fired{ $message->{params}{ruleId} }++;
        $left--;
    }
    return \%fired;
}

# Returns further firings before the response to a ping.
sub fired_more {
    my $id = $listener->request('ping');
    my $n = 0;
    while (my $message = $listener->recv_json) {
        return $n if exists $message->{id} && $message->{id} eq $id;
        $n++ if $message->{method} eq 'automation.notify';
    }
}

my $prompt = 'x' x 200_000;
$client->result_of('task.submit', prompt => $prompt) for 1 .. $NTASKS;
is text_of($client->call_tool('run')), "hello\n", 'others are served';
is_deeply fired('a'), { map { ("a$_" => $NTASKS) } 1 .. $NRULES },
    'each rule once for each event';
is fired_more(), 0, 'and not again';

$tg->reload(body('b'));
$client->result_of('task.submit', prompt => $prompt) for 1 .. $NTASKS;
is_deeply fired('b'), { map { ("b$_" => $NTASKS) } 1 .. $NRULES },
    'so do the rules of another config';
is fired_more(), 0, 'and no others';

done_testing;
