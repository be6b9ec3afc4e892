#!/usr/bin/perl
# Subscriptions to resources: `watch every=`, in both eras, over reloads.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $file = $tg->file('text', '1');
my $runs = $tg->dir . '/runs';
my $body = <<"END";
resource n:all { exec sh -c 'echo r >>$runs; cat $file'; watch every=1s; }
resource n:still { exec cat $file; }
resource n:secret { deny all; exec cat $file; watch every=1s; }
resource_template "n:{name}.txt" { exec cat $file; watch every=1s; }
resource_template "r:{name}" {
    exec sh -c 'echo "\$\$1" >>$runs.rate; echo' sh \$tool_arg_name;
    watch every=1s; rate 1r/m;
}
END
$tg->conf($body, workers => 2)->start;

sub updated {
    my ($client) = @_;
    my $message = $client->recv_json;
    return ($message->{method} // '') . ' ' . ($message->{params}{uri} // '');
}

my $legacy = Toolgate::Way->new('legacy', $tg->connect);
my $modern = Toolgate::Way->new('modern', $tg->connect);
ok $legacy->client->rpc('resources/list')->{result}, 'legacy';
my $subscribe = sub {
    my ($uri, $method) = @_;
    return $legacy->client->rpc($method // 'resources/subscribe',
        { uri => $uri });
};

is $subscribe->('n:nosuch')->{error}{code}, -32002, 'an unknown URI';
is $subscribe->('n:secret')->{error}{code}, -32002, 'a denied one';
is_deeply $subscribe->('n:still')->{result}, {}, 'one that nothing watches';
ok !-e $runs, 'nothing runs while nobody listens';
is_deeply $subscribe->('n:all')->{result}, {}, 'a watched one' for 1 .. 3;
is_deeply $subscribe->('n:a.txt')->{result}, {}, 'one of a template';

$modern->client->request('subscriptions/listen', $modern->params({
    notifications => {
        resourceSubscriptions => [qw(n:all n:secret n:nosuch n:still n:all)] }
}));
my $ack = $modern->client->recv_json;
is_deeply $ack->{params}{notifications}{resourceSubscriptions}, ['n:all'],
    'the acknowledgement has what the client may see and is watched';

# The first output is what the clients know.
wait_for { -e $runs } 'the first run';
my $lines = sub { return scalar(() = slurp($runs) =~ /r/g) };
my $n = $lines->();
wait_for { $lines->() >= $n + 4 } 'some runs';
ok $_->client->is_silent(0), 'no update without a change' for $legacy, $modern;

$tg->file('text', '2');
is_deeply [ sort map { updated($legacy->client) } 1, 2 ],
    [ map {"notifications/resources/updated n:$_"} qw(a.txt all) ],
    'the legacy client gets both updates';
is updated($modern->client), 'notifications/resources/updated n:all',
    'the modern client one';

# The sessions move to new workers, which know what the clients know.
$tg->reload($body);
$tg->file('text', '3');
is_deeply [ sort map { updated($legacy->client) } 1, 2 ],
    [ map {"notifications/resources/updated n:$_"} qw(a.txt all) ],
    'a change after a reload';
is updated($modern->client), 'notifications/resources/updated n:all',
    'of the modern client, too';
$n = $lines->();
wait_for { $lines->() >= $n + 4 } 'some runs';
ok $_->client->is_silent(0), 'none comes twice' for $legacy, $modern;

# A change while no worker watches is found by the next one.
$tg->file('text', '4');
$tg->reload($body);
is_deeply [ sort map { updated($legacy->client) } 1, 2 ],
    [ map {"notifications/resources/updated n:$_"} qw(a.txt all) ],
    'a change during a reload';
is updated($modern->client), 'notifications/resources/updated n:all',
    'of the modern client, too';

# The beginning of a watch counts for the rate of a block.
is_deeply $subscribe->("r:$_")->{result}, {}, "subscribed to r:$_"
    for qw(a b c);
wait_for { -e "$runs.rate" && (() = slurp("$runs.rate") =~ /\n/g) >= 3 }
    'some runs';
my %watched = map { $_ => 1 } split /\n/, slurp("$runs.rate");
is join(' ', sort keys %watched), 'a', 'only one of three is watched';

# The last one that leaves ends it.
is_deeply $subscribe->('n:all', 'resources/unsubscribe')->{result}, {},
    'unsubscribed';
is_deeply $subscribe->('n:nosuch', 'resources/unsubscribe')->{result}, {},
    'from what was never subscribed, too';
$tg->file('text', '5');
is updated($legacy->client), 'notifications/resources/updated n:a.txt',
    'the other subscription stays';
is updated($modern->client), 'notifications/resources/updated n:all',
    'and that of the other client';
$modern->client->close;
$legacy->client->close;
done_testing;
