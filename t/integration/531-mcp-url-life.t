#!/usr/bin/perl
# Streamable HTTP: ended sessions, broken streams, and servers that are down for
# a while or answer otherwise.

use Toolgate::Test qw(McpWeb);

my $tg = Toolgate::Test->new(workers => 1);
my %web = (
    lost   => Toolgate::McpWeb->new($tg),
    other  => Toolgate::McpWeb->new($tg, 'says_400', 'json'),
    again  => Toolgate::McpWeb->new($tg, 'resume'),
    held   => Toolgate::McpWeb->new($tg, 'late', 'json'),
    mute   => Toolgate::McpWeb->new($tg, 'mute', 'json'),
    polls  => Toolgate::McpWeb->new($tg, 'poll'),
    modern => Toolgate::McpWeb->new($tg, 'modern'),
    html   => Toolgate::McpWeb->new($tg, 'broken=html'),
    cut    => Toolgate::McpWeb->new($tg, 'broken=cut'),
    empty  => Toolgate::McpWeb->new($tg, 'broken=empty'),
    moved  => Toolgate::McpWeb->new($tg, 'broken=redirect'),
    huge   => Toolgate::McpWeb->new($tg, 'broken=huge'),
);
my $nobody = Toolgate::McpWeb->new($tg);
$nobody->stop;
my $refused = Toolgate::McpWeb->new($tg, 'secret=x');
$tg->conf(join "\n", "mcp_server nobody { url @{[ $nobody->url ]}; }",
    "mcp_server refused { url @{[ $refused->url ]}; }",
    map {"mcp_server $_ { url @{[ $web{$_}->url ]}; }"} sort keys %web)->start;
$tg->allow_log(qr/nobody could not be started|refused could not be started/);
$tg->allow_log(qr/"refused": .*who are you|reached/);

my $client = $tg->connect;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    keys %web == grep { $_->{name} =~ /_echo$/ } @$tools;
} 'the tools of all';

# --- at the start ---

$tg->wait_log(qr/nobody could not be started: it cannot be reached; no req/);
$tg->wait_log(qr/refuses the handshake: it answered with status 401: who are/);
$nobody->start;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    grep { $_->{name} eq 'nobody_echo' } @$tools;
} 'one that was not there at the start is, when it is';
ok !(grep { $_->{name} =~ /^refused/ }
        @{ $client->rpc('tools/list')->{result}{tools} }),
    'one that refuses has no tools';

sub call { return text_of($client->call_tool(@_)) }

# --- sessions ---

for my $name (qw(lost other)) {
    my $web = $web{$name};
    is call("${name}_echo"), 'echo', "$name: it is called";
    my $id = $client->request('tools/call', { name => "${name}_hang" });
    wait_for { grep { $_->{message}{params}{name} eq 'hang' }
        $web->requests('tools/call') } "$name: another call";
    is $web->control('forget'), 0, "$name: the server forgets its sessions";
    like text_of($client->reply($id)), qr/no complete response.*may have been/,
        "$name: the call that it had is lost";
    my @ids = map {
        $client->request('tools/call', { name => "${name}_echo" })
    } 1 .. 5;
    is text_of($client->reply($_)), 'echo', "$name: the next one is answered"
        for @ids;
    is $web->control('sessions'), 1, "$name: in one new session";
    my %ids = map { ($_->{headers}{'mcp-session-id'} // '') => 1 }
        $web->requests('tools/list');
    is scalar keys %ids, 2, "$name: with an id of its own";
}

# One of two calls learns late that its session has ended.
is call('held_echo'), 'echo', 'held: it is called';
$web{held}->control('forget');
my @two = map { $client->request('tools/call', { name => 'held_echo' }) } 1, 2;
my $first = $client->recv_where(sub { defined $_[0]{id} }, undef, 'the first');
is text_of($first), 'echo', 'held: one is sent in a new session';
$web{held}->control('release');
my ($other) = grep { $_ != $first->{id} } @two;
is text_of($client->reply($other)), 'echo', 'held: the other, too, if later';

# --- streams ---

wait_for { $web{again}->requests('GET') } 'the channel is open';
my $id = $client->request('tools/call', { name => 'again_slow',
    arguments => { until => $tg->dir . '/go' },
    _meta => { progressToken => 1 } });
$client->recv_where(sub { ($_[0]{method} // '') eq 'notifications/progress' },
    undef, 'its progress');
$web{again}->control('cut');
$tg->file('go', '');
is text_of($client->reply($id)), 'slow', 'a stream is resumed after its last '
    . 'event';
ok((grep { $_->{headers}{'last-event-id'} } $web{again}->requests('GET')),
    'by its id');

unlink $tg->dir . '/go';
$id = $client->request('tools/call', { name => 'again_slow',
    arguments => { until => $tg->dir . '/go' },
    _meta => { progressToken => 2 } });
$client->recv_where(sub { ($_[0]{params}{progressToken} // '') eq 2 },
    undef, 'its progress');
my $nslow = () = $web{again}->requests('tools/call');
$web{again}->control('forget');
$tg->file('go', '');
like text_of($client->reply($id)),
    qr/stream could not be resumed: status 404\); the call may have been/,
    'a stream of a session that is over is not';
is call('again_echo'), 'echo', 'the next one is in a new session';
is scalar(() = $web{again}->requests('tools/call')), $nslow + 1,
    'and the call was not sent again';

is call('polls_echo'), 'echo', 'a server that wants to be polled';
is scalar(grep { ($_->{headers}{'last-event-id'} // '') =~ /-1$/ }
    $web{polls}->requests('GET')), 1, 'is, after the time that it says';

for my $name (qw(lost modern)) {
    my $web = $web{$name};
    my $of = $name eq 'lost' ? 'GET' : 'subscriptions/listen';
    my $n = () = $web->requests($of);
    my $lists = () = $web->requests('tools/list');
    $web->control('cut');
    wait_for { $n < (() = $web->requests($of)) }
        "$name: the channel is opened again";
    wait_for { $lists < (() = $web->requests('tools/list')) }
        "$name: and what may have changed is listed";
    is call("${name}_echo"), 'echo', "$name: it is called";
}

# --- cancellations that are not answered ---

my @hangs = map { $client->request('tools/call', { name => 'mute_hang' }) }
    1 .. 40;
wait_for { 40 == (() = $web{mute}->requests('tools/call')) } 'forty calls';
$client->notify('notifications/cancelled', { requestId => $_ }) for @hangs;
wait_for { 32 <= (() = $web{mute}->requests('notifications/cancelled')) }
    'most are cancelled';
is call('mute_echo'), 'echo', 'others are called';
is scalar(() = $web{mute}->requests('notifications/cancelled')), 32,
    'and so many cancellations are sent at once';

# --- invalid responses ---

like call('html_echo'),
    qr/^html gave no complete response \(its body is not an MCP message: <p>/,
    'a page';
like call('cut_echo'), qr/^cut gave no complete response \(.*may have been/,
    'half an answer';
like call('empty_echo'), qr/^empty gave no complete response/, 'none';
like call('moved_echo'), qr/status 307, a redirect, which is not followed/,
    'a redirect';
is scalar(() = $web{moved}->requests('tools/call')), 1, 'it is not';
like call('huge_echo'), qr/no complete response \(the response is larger than/,
    'one that is too large';
# --- down, and back ----------

$web{lost}->stop;
like call('lost_echo'), qr/^lost cannot be reached; no request was sent/,
    'a server that is gone';
$web{lost}->start;
is call('lost_echo'), 'echo', 'is called as soon as it is there again';
done_testing;
