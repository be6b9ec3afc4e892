#!/usr/bin/perl
# The bridge in front of Toolgate, as with other systems' parents, in each
# dialect.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
$tg->conf(<<'END')->start;
tool echo { description "Echoes."; return "$tool_protocol $tool_arg_text"; }
tool fail { description "Fails."; exec ls /no/such/file; }
END
my $sock = $tg->socket_path;
my $schemas = $tg->file('schemas.json', <<'END');
[{"name":"echo","description":"Echoes.","input_schema":{"type":"object"}},
 {"name":"fail","description":"Fails.","input_schema":{"type":"object"}},
 {"name":"gone","description":"Gone.","input_schema":{"type":"object"}}]
END
my %args = (
    ipc     => [ $sock, $schemas ],
    jsonrpc => [$sock],
    relay   => [ '--dialect', 'relay', $sock ],
);
my $text = "one \"two\" \x{2603}";

sub text { return $_[0]{result}{content}[0]{text} // $_[0]{error}{message} }

for my $dialect (sort keys %args) {
    my $bridge = $tg->bridge($args{$dialect});
    my $about = $bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
    is $about->{result}{protocolVersion}, '2025-06-18',
        "$dialect: initialized";
    my @names = map { $_->{name} }
        @{ $bridge->rpc('tools/list')->{result}{tools} };
    is "@names[0, 1]", 'echo fail', "$dialect: the list";
    for my $n (1 .. 3) {
        is text($bridge->call_tool('echo', { text => $text })),
            "$dialect $text", "$dialect: call $n";
    }
    my $failed = $bridge->call_tool('fail');
    ok $failed->{result}{isError}, "$dialect: a program that fails";
    like text($failed), qr/No such file/, "$dialect: says why";
    like text($bridge->call_tool('gone')), qr/gone/, "$dialect: no such tool";
    $bridge->close;
    is $bridge->wait_exit, 0, "$dialect: ends with its agent";
}

# None of them notices a reload.
my %bridge = map { $_ => $tg->bridge($args{$_}) } keys %args;
is text($bridge{$_}->call_tool('echo', { text => 'x' })), "$_ x", "$_: before"
    for sort keys %bridge;
$tg->reload;
is text($bridge{$_}->call_tool('echo', { text => 'x' })), "$_ x", "$_: after"
    for sort keys %bridge;

# NGINX stops: relay's bridge ends with its parent.
$tg->stop(signal => 'QUIT');
ok $bridge{relay}->at_eof, 'relay: shutdown is obeyed';
is $bridge{relay}->wait_exit, 0, 'relay: exit status';

done_testing;
