#!/usr/bin/perl
# Events that rules send on cannot fill the memory: the waiting ones have a
# bound in bytes.

use Toolgate::Test;
use IO::Socket::INET;

# Nobody listens: webhooks are tried again.
my $nobody = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'tcp')
    or die "socket: $!";
my $url = 'http://127.0.0.1:' . $nobody->sockport;

my $tg = Toolgate::Test->new;
$tg->conf(<<"END")->start;
task_agent done { exec true; default; }
task_methods on;
automation sends {
    trigger event type=task.completed;
    webhook $url/x;
}
END
my $c = $tg->connect;

# 64 MiB have room for 74 of them.
my $prompt = 'x' x 900_000;
$c->result_of('task.submit', prompt => $prompt) for 1 .. 80;
my @last;
wait_for {
    my $status = $c->result_of('automation.status');
    @last = map { $_->{status} } @{ $status->{recentExecutions} };
    return $c->result_of('task.stats')->{completed} == 80
        && grep { $_ eq 'error' } @last;
} 'all of them to end, and one too many';
my $wrong = grep { $_ ne 'error' } @last[-4 .. -1];
is $wrong, 0, 'the last ones have no room' or diag "@last";
like $c->result_of('automation.status')->{recentExecutions}[-1]{error},
    qr/^too many executions wait/, 'which is said';
is $last[0], 'webhook_pending', 'those before them wait';

done_testing;
