#!/usr/bin/perl
# The bridge and the command line keep their connection in a reload: they
# neither reconnect nor send anything twice.

use Toolgate::Test qw(Hang Move);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $schemas = $tg->file('schemas.json',
    '[{"name":"n","description":"N.","input_schema":{"type":"object"}}]');

sub body {
    my ($n) = @_;
    return "tool n { description \"N.\"; return $n; } "
        . "tool n$n { description \"Of $n.\"; return $n; } "
        . "tool hang { description \"Hangs.\"; $handler }";
}

$tg->conf(body(0))->start;
my %bridge = (
    jsonrpc => $tg->bridge,
    relay   => $tg->bridge([ '--dialect', 'relay', $tg->socket_path ]),
    ipc     => $tg->bridge([ $tg->socket_path, $schemas ]),
);
for my $name (sort keys %bridge) {
    my $bridge = $bridge{$name};
    $bridge->rpc('initialize', { protocolVersion => '2025-11-25',
        capabilities => {}, clientInfo => { name => 't', version => 1 } });
    $bridge->notify('notifications/initialized');
    is text_of($bridge->call_tool('n')), 0, "$name: before";
}

# --- running calls of the bridge and the command line ---------------------

my %call = map {
    $_ => $bridge{$_}->request('tools/call',
        { name => 'hang', arguments => { key => $_ } });
} qw(jsonrpc relay);
my $cli = $tg->spawn(
    { env => { TOOLGATE_SOCKET => $tg->socket_path } },
    $tg->build_dir . '/toolgate', 'call', 'hang', '{"key":"cli"}');
$hang->started($_) for qw(jsonrpc relay cli);
my %process = (%bridge, cli => $cli);
my %sockets = map { $_ => sockets($process{$_}->pid) } keys %process;
like $sockets{$_}, qr/^socket:\S+$/, "$_: one socket" for sort keys %sockets;

for my $n (1 .. 5) {
    move($tg, body($n));
    for my $name (qw(jsonrpc relay)) {
        my $bridge = $bridge{$name};
        ok $bridge->notification('notifications/tools/list_changed'),
            "$name: notifies of reload $n";
        my @names = map { $_->{name} }
            @{ $bridge->rpc('tools/list')->{result}{tools} };
        is "@names", "n n$n hang", "$name: the new list";
    }
    is text_of($bridge{$_}->call_tool('n')), $n, "$_: the new handler"
        for sort keys %bridge;
}
is sockets($process{$_}->pid), $sockets{$_}, "$_: the same socket"
    for sort keys %process;
$hang->finish($_) for qw(jsonrpc relay cli);
is text_of($bridge{$_}->reply($call{$_})), "done $_\n", "$_: its call"
    for sort keys %call;
is $cli->recv_line, 'done cli', 'the call of the command line';
is $cli->wait_exit, 0, 'which ends well';
is $cli->stderr, '', 'without a word';

for my $name (sort keys %bridge) {
    my $bridge = $bridge{$name};
    ok $bridge->is_silent(0), "$name: nothing else";
    is $bridge->stderr, '', "$name: no complaints";
    $bridge->close;
    is $bridge->wait_exit, 0, "$name: ends with its agent";
}

done_testing;
