#!/usr/bin/perl
# mcp_pass: event streams with progress, subscriptions and comments; clients
# that disconnect, that do not read, and reloads.

use Toolgate::Test;
use Toolgate::HttpClient;
use Toolgate::McpHttp;

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
$tg->file('progress', <<'END', 0755);
#!/bin/sh
for n in 0 50 100; do
    printf '{"progress":%d,"total":100}\n' $n >&"$TOOL_PROGRESS_FD"
    sleep 0.05
done
echo done
END
$tg->file('chatty', <<'END', 0755);
#!/bin/sh
text=$(printf '%2000s' x)
n=0
while n=$((n + 1)); do
    printf '{"progress":%d,"message":"%s"}\n' $n "$text" >&"$TOOL_PROGRESS_FD"
done
END
$tg->file('note', 'one');
my $body = <<"END";
tool hi { return hi; }
tool progress { exec $dir/progress; }
tool long { exec sleep 1.5; }
tool chatty { exec $dir/chatty; timeout 2h; }
tool hang { exec sleep 3600; timeout 2h; }
resource note:///a { file $dir/note; watch file; }
END
my $locations = sprintf <<'END', $tg->socket_path;
gzip on;
gzip_types *;
gzip_min_length 1;
postpone_output 65536;
location = /mcp { mcp_pass unix:%1$s; }
location = /slow { mcp_pass unix:%1$s; send_timeout 1s; }
location = /fast { mcp_pass unix:%1$s; mcp_heartbeat 1s; }
END
$tg->conf($body, main => http_block($tg, $locations))->start;

sub client { return Toolgate::HttpClient->new($tg) }

sub next_message {
    my ($http) = @_;
    my $event;
    do { $event = $http->recv_event } while $event && exists $event->{comment};
    return $event && Toolgate::Json::decode($event->{data});
}

# --- progress ---------------------------------------------------------------

my $http = client();
my %token = (%MODERN_META, progressToken => 'p');
$http->send_request(modern_request('tools/call', { name => 'progress' },
    meta => \%token, headers => { 'Accept-Encoding' => 'gzip' }));
my $head = $http->recv_head;
is $head->{status}, 200, 'a call with progress';
is $head->{headers}{'content-type'}, 'text/event-stream', 'is a stream';
is $head->{headers}{'cache-control'}, 'no-cache', 'not cached';
is $head->{headers}{'x-accel-buffering'}, 'no', 'not buffered';
is $head->{headers}{'content-encoding'}, undef, 'not compressed';
my @messages;
while (my $message = next_message($http)) { push @messages, $message }
is_deeply [ map { $_->{params}{progress} } @messages[ 0 .. 2 ] ],
    [ 0, 50, 100 ], 'progress';
is $messages[-1]{id}, 7, 'then the reply';
is scalar @messages, 4, 'and nothing else';

my $answer = $http->ask(modern_request('tools/call', { name => 'progress' },
    meta => \%token, headers => { Accept => 'application/json' }));
is $answer->{headers}{'content-type'}, 'application/json',
    'a client without streams';
is $answer->{json}{result}{content}[0]{text}, "done\n", 'gets the reply';

# --- comments ---------------------------------------------------------------

$http->send_request(modern_request('tools/call', { name => 'long' },
    path => '/fast'));
is $http->recv_head->{headers}{'content-type'}, 'text/event-stream',
    'a long call becomes a stream';
is_deeply $http->recv_event, { comment => '' }, 'with comments';
is next_message($http)->{id}, 7, 'and the reply';
is $http->recv_event, undef, 'at its end';

# --- cancellation -----------------------------------------------------------

sub running {
    my $name = shift // 'hang';
    return scalar grep { $_->{name} eq $name }
        @{ $tg->connect->rpc('toolgate.status')->{result}{calls} };
}
my $gone = client();
$gone->send_request(modern_request('tools/call', { name => 'hang' }));
wait_for { running() == 1 } 'a call';
undef $gone;
wait_for { running() == 0 } 'its end: the client has gone';
$gone = client();
$gone->send_request(modern_request('tools/call', { name => 'hang' },
    meta => \%token, path => '/fast'));
$gone->recv_head;
wait_for { running() == 1 } 'a call in a stream';
undef $gone;
wait_for { running() == 0 } 'its end';

# --- subscriptions ----------------------------------------------------------

sub listen_to {
    my ($filter, %option) = @_;
    my $listener = client();
    $listener->send_request(modern_request('subscriptions/listen',
        { notifications => $filter }, %option));
    return $listener;
}
my %all = (toolsListChanged => JSON::PP::true(),
    promptsListChanged => JSON::PP::true(),
    resourceSubscriptions => ['note:///a'],
    'toolgate/broadcasts' => JSON::PP::true());
my $listener = listen_to(\%all, id => 'a');
$listener->recv_head;
my $ack = next_message($listener);
is $ack->{method}, 'notifications/subscriptions/acknowledged',
    'acknowledgement first';
is_deeply $ack->{params}{notifications}, {
    toolsListChanged => JSON::PP::true(),
    resourceSubscriptions => ['note:///a']
}, 'of what is offered';
is listen_to(\%all, headers => { Accept => 'application/json' })
    ->recv_response->{status}, 406, 'only as a stream';

my $subscription = 'io.modelcontextprotocol/subscriptionId';
# The file may be watched only a moment after the acknowledgement.
my $n = 0;
my $updated;
wait_for {
    $tg->file('note', 'another ' . $n++);
    $updated = eval { local $SIG{ALRM} = sub { die "late\n" };
        alarm 1; my $got = next_message($listener); alarm 0; $got };
    alarm 0;
    return $updated;
} 'an update';
is $updated->{method}, 'notifications/resources/updated', 'an update';
is $updated->{params}{uri}, 'note:///a', 'of the resource';
is $updated->{params}{_meta}{$subscription}, 'a', 'with the subscription';

# --- reload -----------------------------------------------------------------

my @listeners = map { listen_to({ toolsListChanged => JSON::PP::true() },
    id => $_) } 1 .. 10;
$_->recv_head && next_message($_) for @listeners;
my $running = client();
$running->send_request(modern_request('tools/call', { name => 'long' }));
wait_for { running('long') == 1 } 'a call before the reload';
$tg->conf("$body tool more { return more; }",
    main => http_block($tg, $locations))->reload;
for my $stream (@listeners) {
    my @got;
    while (my $message = next_message($stream)) { push @got, $message }
    is_deeply [ map { $_->{method} // 'result' } @got ],
        [ 'notifications/tools/list_changed', 'result' ],
        'a stream ends with the change and its result';
}
undef @listeners;
undef $listener;
is scalar @{ client()->ask(modern_request('tools/list'))->{json}{result}{tools}
    }, 6, 'the new list';
is $running->recv_response->{json}{id}, 7, 'a call ends in the old worker';

# Nothing is lost or doubled when requests and reloads come together.
my @callers = map { client() } 1 .. 10;
for my $round (1 .. 10) {
    my @streams = map { listen_to({ toolsListChanged => JSON::PP::true() },
        id => $_) } 1 .. 5;
    next_message($_) for grep { $_->recv_head } @streams;
    $_->send_request(modern_request('tools/call', { name => 'progress' }))
        for @callers;
    $tg->reload;
    for my $caller (@callers) {
        is $caller->recv_response->{json}{result}{content}[0]{text}, "done\n",
            "round $round: an answer";
        $caller = client();
    }
    for my $stream (@streams) {
        my $last;
        while (my $message = next_message($stream)) { $last = $message }
        is $last->{result}{resultType}, 'complete', "round $round: an end";
    }
}

# --- clients that do not read -----------------------------------------------

my $lazy = client();
$lazy->send_request(modern_request('tools/call', { name => 'chatty' },
    meta => \%token, path => '/slow'));
wait_for { running('chatty') == 1 } 'a call whose client does not read';
is client()->ask(modern_request('tools/call', { name => 'hi' }))->{status}, 200,
    'others are served';
wait_for { running('chatty') == 0 } 'its end';
undef $lazy;

done_testing;
