#!/usr/bin/perl
# A client sends a request and closes without the response: the request is done,
# and others are notified as usual.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
$tg->conf(<<'CONF')->start;
task_methods on;
task_concurrency 1;
task_agent wait {
    exec sh -c 'while [ -e %%DIR%%/run ]; do sleep 0.01; done';
    default;
}
tool tool { description "It."; exec true; task required; }
CONF
my $c = $tg->connect;
my $hears = $tg->connect;
$_->rpc('ping') for $c, $hears;
$tg->file('run', '');

sub hasty {
    my ($method, $params) = @_;
    my $client = $tg->connect;
    $client->request($method, $params);
    $client->close;
}

# Returns the notifications about queued and cancelled tasks, up to this one's.
sub told {
    my ($last) = @_;
    my @told;
    do {
        push @told, $hears->recv_where(
            sub { ($_[0]{method} // '') =~ /^task\.(?:queued|cancelled)$/ },
            undef, 'to be told');
    } until $told[-1]{params}{taskId} eq $last;
    return @told;
}
# All requests were read, and their clients are gone.
sub all_left {
    # Connections are accepted in their order: the earlier ones are counted.
    my $last = $tg->connect;
    $last->rpc('ping');
    wait_for {
        $c->result_of('daemon.status')->{subsystems}{ipc}{clients} == 3;
    } 'them to have left';
}
sub submit { return $c->result_of('task.submit', prompt => '-')->{taskId} }
sub all { return @{ $c->result_of('task.list', limit => 1000) } }

submit();
hasty('task.submit', { prompt => '-' }) for 1 .. 20;
hasty('chat.send', { message => '-' }) for 1 .. 20;
hasty('tools/call', { name => 'tool', arguments => {} }) for 1 .. 20;
all_left();
my %told = map { $_->{params}{taskId} => 1 } told(submit());
my @all = all();
cmp_ok scalar @all, '>', 2, 'some were written down';
is_deeply [ sort keys %told ], [ sort map { $_->{id} } @all ],
    'notified: each waiting task';

hasty('task.cancel', { taskId => $_->{id} })
    for grep { $_->{state} eq 'queued' } @all;
all_left();
%told = map { $_->{params}{taskId} => 1 }
    grep { $_->{method} eq 'task.cancelled' } told(submit());
my @cancelled = map { $_->{id} } grep { $_->{state} eq 'cancelled' } all();
cmp_ok scalar @cancelled, '>', 1, 'some were cancelled';
is_deeply [ sort keys %told ], [ sort @cancelled ],
    'notified: each cancelled task';
unlink "$dir/run";

done_testing;
