#!/usr/bin/perl
# Cancellation under load, from the client to the program: every kind, in
# several workers, ends exactly the right process group. TOOLGATE_TEST_CANCELS:
# number of cancellations (500).

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 3);
my $dir = $tg->dir;
mkdir "$dir/up" or die "mkdir: $!";
chmod 0777, "$dir/up";

# A program with a child; without either it would end, and answer.
my $hold = $tg->file('hold', <<"END", 0755);
#!/bin/sh
sleep 1000 &
echo \$\$ \$! >$dir/up/\$1.new
mv $dir/up/\$1.new $dir/up/\$1
wait
END
$tg->conf(<<"END", workers => 3)->start;
tool   hold { description "Holds."; exec $hold \$tool_arg_name; timeout 10m; }
method hold { exec $hold \$tool_arg_name; timeout 10m; }
END

my $wanted = $ENV{TOOLGATE_TEST_CANCELS} // 500;
my $serial = 0;
srand 1;

# name => { client, id, kind, pids }
my %calls;
my @clients = map { $tg->connect } 1 .. 6;

sub begin {
    my ($client) = @_;
    my $name = 'c' . ++$serial;
    my $kind = $serial % 2 ? 'tool' : 'method';
    my $id =
        $kind eq 'tool'
        ? $client->request('tools/call',
        { name => 'hold', arguments => { name => $name } })
        : $client->request('hold', { name => $name });
    $calls{$name} = { client => $client, id => $id, kind => $kind };
    return $name;
}

# Gives every client ten running calls.
sub fill {
    for my $client (@clients) {
        my $n = grep { $_->{client} == $client } values %calls;
        begin($client) for $n + 1 .. 10;
    }
    for my $name (grep { !$calls{$_}{pids} } keys %calls) {
        my $text = wait_for { slurp("$dir/up/$name") } "$name to run";
        $calls{$name}{pids} = [ split ' ', $text ];
        unlink "$dir/up/$name";
    }
}

my ($cancelled, $lost, $hit) = (0, 0, 0);
while ($cancelled < $wanted) {
    fill();
    my %victims;
    for (1 .. 10) {
        my $name = (sort keys %calls)[ rand keys %calls ];
        my $call = $victims{$name} = delete $calls{$name};
        my ($method, $params) =
            $call->{kind} eq 'tool'
            ? ('notifications/cancelled', { requestId => $call->{id} })
            : ('$/cancelRequest', { id => $call->{id} });
        $call->{client}->notify($method, $params);
    }

    # One of the clients closes, with all its calls.
    my $gone = splice @clients, rand @clients, 1;
    $gone->close;
    for my $name (grep { $calls{$_}{client} == $gone } keys %calls) {
        $victims{$name} = delete $calls{$name};
    }
    push @clients, $tg->connect;

    my @pids = map { @{ $_->{pids} } } values %victims;
    eval {
        wait_for { !grep { is_alive($_) } @pids } 'them to end';
    } or $lost++;
    $hit += grep { !is_alive($_) } map { @{ $_->{pids} } } values %calls;
    $cancelled += keys %victims;
    last if $lost || $hit;
}

is $lost, 0, "all of $cancelled were ended";
is $hit, 0, 'and no other';
ok !(grep { !$_->is_silent(0) } @clients), 'no client received a response';

done_testing;
