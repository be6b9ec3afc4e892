#!/usr/bin/perl
# NGINX is stopped at once (SIGTERM, nginx -s stop): clients still get their
# dialect's shutdown notice, and a client that does not read delays nobody.

use Toolgate::Test qw(Hang Way);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $conf = <<"END_OF_CONF";
tool hi { return hi; }
tool hang { $handler }
tool echo { return \$tool_arg_text; }
END_OF_CONF

my $n = 0;
for my $how ('SIGTERM', 'SIGINT', 'nginx -s stop') {
    $n++;
    $tg->conf($conf)->start;
    my %way = map { $_->name => $_ } Toolgate::Way->all($tg);
    is $way{$_}->call('hi')->{text}, 'hi', "$how: $_" for sort keys %way;
    my $busy = Toolgate::Way->new('relay', $tg->connect);
    $busy->start('hang', { key => "busy$n" });
    $hang->started("busy$n");
    my $listen = $tg->connect;
    my $id = $listen->request('subscriptions/listen', {
        notifications => { toolsListChanged => \1 },
        _meta => modern_meta(),
    });
    ok $listen->recv_json->{method}, "$how: a listener";
    my $hello = $tg->connect;
    $hello->notify('notifications/toolgate/hello');
    ok $hello->rpc('ping')->{result}, "$how: one that said hello";

    my $begun = $tg->connect;
    $begun->notify('notifications/toolgate/hello');
    $begun->request('tools/call',
        { name => 'hang', arguments => { key => "begun$n" } });
    $hang->started("begun$n");

    # Its socket is full.
    my $deaf = $tg->connect;
    $deaf->request('tools/call', { name => 'echo',
        arguments => { text => 'x' x 60000 } }) for 1 .. 5;

    if ($how =~ /SIG(\w+)/) {
        kill $1 => $tg->master_pid;
    } else {
        my ($status) = run_command({ env => $tg->nginx_env },
            $tg->nginx_command, '-s', 'stop');
        is $status, 0, $how;
    }
    is $way{relay}->client->recv_json->{kind}, 'shutdown',
        "$how: the shutdown frame";
    is $busy->client->recv_json->{kind}, 'shutdown', "$how: with a call, too";
    is $listen->recv_json->{id}, $id, "$how: the end of a subscription";
    is $listen->recv_json->{params}{requestId}, $id, "$how: a cancellation";
    is $hello->recv_json->{method}, 'notifications/toolgate/closing',
        "$how: shutdown notice to a bridge";
    ok $begun->at_eof,
        "$how: but not with a call, which would mean that it was not started";
    ok $_->at_eof, "$how: closed" for $listen, map { $_->client } $busy,
        values %way;
    $tg->stop(signal => 'TERM');
}
done_testing;
