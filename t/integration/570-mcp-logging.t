#!/usr/bin/perl
# The log messages of an MCP server reach the client whose call they are about,
# from the level that it wants; the server hears the level.

use Toolgate::Test;
use Toolgate::McpWeb;

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $LEVEL = 'io.modelcontextprotocol/logLevel';
my %web = map { $_ => Toolgate::McpWeb->new($tg, $_, '--', 'logs') }
    qw(legacy modern);
my $body = join "\n", map {
    my $exec = "exec $^X $top/t/servers/mcp.pl $_ logs";
    "mcp_server $_ { $exec; } mcp_server own_$_ { $exec; share connection; }"
        . " mcp_server web_$_ { url @{[ $web{$_}->url ]}; }"
} qw(legacy modern);
$tg->conf($body)->start;

sub legacy_client {
    my $c = $tg->connect;
    my $caps = $c->rpc('initialize', { protocolVersion => '2025-11-25',
        capabilities => {}, clientInfo => { name => 't', version => '1' } })
        ->{result}{capabilities};
    is_deeply $caps->{logging}, {}, 'legacy: logging is declared';
    $c->notify('notifications/initialized');
    return $c;
}

my $watching = $tg->connect;
wait_for { $watching->tool_names =~ /web_modern_log/ && 6
    == (() = $watching->tool_names =~ /_levels\b/g) } 'the tools of all';
is_deeply $watching->rpc('server/discover', { _meta => modern_meta() })
    ->{result}{capabilities}{logging}, {}, 'modern: logging is declared';

# Sends a call; returns the messages before its reply.
sub logged {
    my ($c, $tool, $arguments, $meta) = @_;
    my $id = $c->request('tools/call', { name => $tool,
        arguments => $arguments, $meta ? (_meta => $meta) : () });
    my @got;
    while (1) {
        my $m = $c->recv_json;
        push @got, $m->{params}
            if ($m->{method} // '') eq 'notifications/message';
        return @got if ($m->{id} // '') eq $id;
    }
}

my @said = (
    { level => 'debug', data => { a => [ 1, undef ] } },
    { level => 'info', data => "\x{e9}\n", logger => 'db' },
    { level => 'warning', data => 3, logger => undef },
    { level => 'loud', data => 4 },
    { level => 'error' },
);
my %of = (debug => { level => 'debug', data => { a => [ 1, undef ] } },
    info => { level => 'info', data => "\x{e9}\n", logger => 'db' },
    warning => { level => 'warning', data => 3 });

for my $server (map { ("$_", "own_$_", "web_$_") } qw(legacy modern)) {
    my $is_modern = $server =~ /modern/;
    my $told = sub { text_of($watching->call_tool("${server}_levels")) };
    # A connection of its own has the levels in the other process.
    my $c = legacy_client();
    my $told_own = sub { $server =~ /own/
        ? text_of($c->call_tool("${server}_levels")) : $told->() };
    $told_own->();
    my $call = sub { logged($c, "${server}_log", { messages => \@said }, @_) };
    is_deeply [ $call->() ], [ @of{qw(info warning)} ],
        "$server: before setLevel, from info on";
    is_deeply $c->rpc('logging/setLevel', { level => 'debug' })->{result}, {},
        'setLevel';
    is_deeply [ $call->() ], [ @of{qw(debug info warning)} ], 'all of them';
    like $told_own->(), $is_modern ? qr/^info debug$/ : qr/debug$/,
        'the server was told';
    $tg->reload;
    is_deeply [ $call->() ], [ @of{qw(debug info warning)} ],
        'the level moves with the session';
    $c->rpc('logging/setLevel', { level => 'error' });
    is_deeply [ $call->() ], [], 'none of them';
    like $told_own->(), qr/error$/, 'the server sends fewer of them'
        if !$is_modern;
    $c->close;

    # Modern: only a request that asks.
    $c = $tg->connect;
    my $asks = sub { +{ %{ modern_meta() }, @_ ? ($LEVEL => $_[0]) : () } };
    is_deeply [ $call->($asks->()) ], [], 'modern: none without a level';
    is_deeply [ $call->($asks->('info')) ], [ @of{qw(info warning)} ],
        'from the level on';
    is_deeply [ $call->($asks->('debug')) ], [ @of{qw(debug info warning)} ],
        'another request has another level';
    is_deeply [ $call->($asks->()) ], [], 'only of that request';
    $c->close;
}

# A flood is bounded, and the client hears of it.
my $c = legacy_client();
my @flood = logged($c, 'legacy_log', { times => 5000, messages => [
    { level => 'info', data => 'x' x 100 } ] });
my @sent = grep { !$_->{logger} } @flood;
my $n = @sent;
$n += $_->{data} =~ /^(\d+) log message/ ? $1 : 5000
    for grep { $_->{logger} } @flood;
ok @sent && $n <= 5000, 'a flood is sent in part, and the rest is counted';
@flood = logged($c, 'legacy_log', { messages => [
    { level => 'info', data => 'x' x 70_000 } ] });
is_deeply \@flood, [ { level => 'warning', logger => 'toolgate',
    data => '1 log message was omitted: too many at once.' } ],
    'a message that is too large';

# Two calls are in flight: the message may be about either.
my $other = legacy_client();
$_->rpc('logging/setLevel', { level => 'debug' }) for $c, $other;
my $hanging = $other->request('tools/call', { name => 'legacy_log',
    arguments => { hang => 1 } });
wait_for {
    $json->encode($watching->call_tool('legacy_cancelled')) =~ /"held":\[\d/
} 'a call in flight';
is_deeply [ logged($c, 'legacy_log', { messages => [
    { level => 'critical', logger => 'db', data => 'whose' } ] }) ], [],
    'a message that may be about the call of another client';
$tg->wait_log(qr/mcp_server legacy: it logs critical: db: whose/);

# Over HTTP, the stream of the call says whose it is.
my $web = $other->request('tools/call', { name => 'web_modern_log',
    arguments => { hang => 1 } });
is_deeply [ logged($c, 'web_modern_log', { messages => [
    { level => 'critical', data => 'mine' } ] }) ],
    [ { level => 'critical', data => 'mine' } ], 'by the stream of the call';
$other->notify('notifications/cancelled', { requestId => $_ })
    for $hanging, $web;
ok $other->is_silent, 'the other client got none of them';

# Calls of one client are not kept apart by a server of its own.
$hanging = $c->request('tools/call', { name => 'own_legacy_log',
    arguments => { hang => 1 } });
is_deeply [ logged($c, 'own_legacy_log', { messages => [
    { level => 'info', data => 1 } ] }) ], [ { level => 'info', data => 1 } ],
    'several calls of one client';
$c->notify('notifications/cancelled', { requestId => $hanging });

# Without an MCP server, nothing can log.
$tg->reload('tool t { return 1; }');
my $plain = $tg->connect;
is $plain->rpc('server/discover', { _meta => modern_meta() })
    ->{result}{capabilities}{logging}, undef, 'no capability';
is $plain->rpc('logging/setLevel', { level => 'info' })->{error}{code}, -32601,
    'and no method';

done_testing;
