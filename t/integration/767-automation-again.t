#!/usr/bin/perl
# A webhook's retry is made by the next runner, with the same id; if its rule
# was removed, it ends with that reason.

use Toolgate::Test qw(Web);

my $tg = Toolgate::Test->new;
my $web = Toolgate::Web->new($tg);
my $url = $web->url;
my $head = 'task_agent done { exec true; default; } task_methods on; ';

sub hook {
    my ($name, $path) = @_;
    return "automation $name { trigger event type=task.completed; "
        . "when metadata.hook eq $name; webhook $url/$path; } ";
}
my $again = hook('again', 'times/1/500/again');
$tg->conf($head . $again . hook('gone', 'status/500'))->start;
my $c = $tg->connect;

sub execution {
    my ($rule, $status) = @_;
    my $found;
    wait_for {
        ($found) = grep { $_->{ruleId} eq $rule && $_->{status} eq $status }
            @{ $c->result_of('automation.status')->{recentExecutions} };
        return $found;
    } "rule $rule: $status";
    return $found;
}
sub sent { return grep { $_->{path} =~ $_[0] } $web->requests }

$c->result_of('task.submit', prompt => 'x', metadata => { hook => $_ })
    for qw(again gone);
my %was = map { $_ => execution($_, 'webhook_pending') } qw(again gone);
wait_for { sent(qr/again/) && sent(qr/status/) } 'their first tries';

my $runner = $tg->runner_pid;
undef $c;
$tg->stop;
wait_for { !is_alive($runner) } 'the runner to leave';
$tg->conf($head . $again)->start;
$c = $tg->connect;

# The result of the first try may have been stored before, or not.
my $sent = execution('again', 'webhook_sent');
my ($before, $after) =
    map { { %$_, status => 0, error => 0 } } $was{again}, $sent;
is_deeply $after, $before,
    'it is sent after a restart, as the same execution';
is_deeply [ map { $_->{headers}{'webhook-id'} } sent(qr/again/) ],
    [ ($was{again}{executionId}) x scalar sent(qr/again/) ], 'with one id';
cmp_ok scalar sent(qr/again/), '>=', 2, 'by another try';
is execution('gone', 'error')->{error},
    'its rule is no longer configured', 'one without its rule has ended';

done_testing;
