#!/usr/bin/perl
# A relayed call over the runner's socket: left on one connection, adopted on
# another; then either of them closes.

use Toolgate::Test qw(Runner);

my $tg = Toolgate::Test->new;
my $runner = Toolgate::Runner->start($tg);
my $key = 'k' x 20;

sub leave {
    my ($c) = @_;
    is $c->rpc(leave => { key => $key, tool => 'slow' })->{result}, 1,
        'it is left';
}

my ($old, $new) = map { $runner->connect } 1, 2;
leave($old);
my $id = $new->request(adopt => { key => $key });
is $new->rpc('status')->{result}{held}, 0, 'and adopted';
is $old->rpc(tell => { key => $key, progress => 1 })->{result}, 1,
    'its progress is reported';
my $told = $new->recv_json;
is $told->{method}, 'progress', 'the new worker receives it';
is_deeply $told->{params}, { id => $id, progress => 1 }, 'of that call';
is $old->rpc(finish => { key => $key, answer => { text => 'done' } })
    ->{result}, 1, 'it ends';
is_deeply $new->reply($id)->{result}, { text => 'done' },
    'the new worker has its answer';

leave($old);
$id = $new->request(adopt => { key => $key });
$new->rpc('status');
$new->close;
my $said = $old->recv_json;
is $said->{method}, 'cancel',
    'the old worker is notified when the new one exits';
is_deeply $said->{params}, { key => $key }, 'of which call';

# Its worker exits, while another connection, or its own, has adopted it.
for my $which ('another', 'itself') {
    leave($old);
    $new = $which eq 'itself' ? $old : $runner->connect;
    $id = $new->request(adopt => { key => $key });
    $new->rpc('status');
    $old->close;
    if ($which eq 'another') {
        is $new->reply($id)->{result}{failure}, 'lost',
            'the old worker goes: the call is lost';
    }
    $old = $runner->connect;
    wait_for { $old->rpc('status')->{result}{connections} <= 2 }
        'the connection to be gone';
    is $old->rpc('status')->{result}{pid}, $runner->pid,
        "adopted by $which: the runner serves on";
}
kill TERM => $runner->supervisor;
$runner->wait_gone;
done_testing;
