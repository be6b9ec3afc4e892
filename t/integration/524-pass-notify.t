#!/usr/bin/perl
# `notify` in `pass`: a backend's own notifications reach each client of the
# server once, in any worker, before any call and after a reload.

use strict;
use warnings;

use Toolgate::Test qw(Backend);

my $tg = Toolgate::Test->new(workers => 3);
$tg->allow_log(qr/no connection to/, qr/was not told: its name/);
my %backend = map { $_->protocol => $_ } Toolgate::Backend->all($tg);
my @told = qw(jsonrpc mcp relay);

sub body {
    my ($n, @more) = @_;
    return join '', "method now { return $n; }\n", map {
        "tool $_ { description x; " . $backend{$_}->pass('notify') . "}\n"
    } @told;
}
$tg->conf(body(1))->start;

# More clients than workers.
my @clients = map { $tg->connect } 1 .. 12;
my $n = 1;
my $id = 0;

sub settled {
    for my $client (@clients) {
        wait_for { ($client->rpc('now')->{result} // 0) == $n }
        'the new worker';
    }
}

# All are notified, once, and in order.
sub hears {
    my ($what) = @_;
    for my $protocol (@told) {
        my $backend = $backend{$protocol};
        my @ids = map { ++$id } 1 .. 3;
        $backend->notify($backend->conn, 'notifications/news', { id => $_ })
            for @ids;
        for my $client (@clients) {
            my @heard = map {
                $client->notification('notifications/news')->{params}{id}
            } @ids;
            is_deeply \@heard, \@ids, "$what, $protocol: received in order";
        }
    }
    $_->rpc('ping') for @clients;
    ok !(grep { @{ $_->{aside} // [] } } @clients), "$what: and once";
}
settled();
$_->accept for @backend{@told};
hears('before a call');

# Calls are answered on the same connection, or on their worker's own, whose
# notifications do not count.
my $call = $clients[0]->request('tools/call', { name => 'relay' });
wait_for { $backend{relay}->parent->is_called(0.05)
        || $backend{relay}->conn->fill(0) } 'the call';
$backend{relay}->accept if $backend{relay}->parent->is_called(0);
my $request = $backend{relay}->heard;
$backend{relay}->text($request, 'called');
is text_of($clients[0]->reply($call)), 'called', 'calls go on';
$_->{conn}->close, delete $_->{conn} for @backend{@told};
$_->accept for @backend{@told};
hears('after a backend ended');

# Notifications for others.
$backend{jsonrpc}->notify($backend{jsonrpc}->conn, 'notifications/progress',
    { progressToken => 99, progress => 1 });
$backend{jsonrpc}->notify($backend{jsonrpc}->conn,
    'notifications/tools/list_changed', {});
hears('beside what is MCP\'s own');

for my $protocol (@told) {
    $backend{$protocol}->parent->close;
    delete($backend{$protocol}{conn})->close;
}
$tg->wait_log(qr/no connection to backend .*\Q$_\E": No such/) for @told;
$_->parent->listen for @backend{@told};
$_->accept for @backend{@told};
hears('after nobody was there');

$n = 2;
$tg->reload(body(2));
settled();
delete $_->{conn} for @backend{@told};
$_->accept for @backend{@told};
hears('after a reload');

# --- mistakes ---------------------------------------------------------------

my $dir = $tg->dir;
for my $case (
    [ "pass unix:$dir/ipc protocol=ipc notify;", '', qr/ipc backends send no/ ],
    [ 'pass two notify;', "upstream two { server unix:$dir/a; "
            . "server unix:$dir/b; }",
                qr/"notify", which works with one backend/ ],
) {
    my ($pass, $stream, $why) = @$case;
    conf_fails($tg, "tool a { description x; $pass }", $why, $pass,
        stream => $stream);
}

done_testing;
