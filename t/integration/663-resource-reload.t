#!/usr/bin/perl
# Reloads: a client is notified of each list that has changed for it, and of no
# other, in both eras; its session continues.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my %part = (
    tools     => 'tool t { description "T."; return 1; }',
    prompts   => 'prompt p { description "P."; return 1; }',
    resources => 'resource r:a { description "R."; return 1; }',
    templates => 'resource_template "t:{x}" { return "$tool_arg_x"; }',
    hidden    => 'prompt h { deny all; return 1; }',
);
sub body {
    my (%change) = @_;
    my %now = (%part, %change);
    return join "\n", map { $now{$_} } sort keys %now;
}
$tg->conf(body())->start;

my $legacy = Toolgate::Way->new('legacy', $tg->connect);
$legacy->client->notify('notifications/initialized');
my $modern = Toolgate::Way->new('modern', $tg->connect);
my $id = $modern->client->request('subscriptions/listen', $modern->params({
    notifications => {
        toolsListChanged     => Toolgate::Json::decode('true'),
        promptsListChanged   => Toolgate::Json::decode('true'),
        resourcesListChanged => Toolgate::Json::decode('true'),
    },
}));
$modern->client->notification('notifications/subscriptions/acknowledged');
$_->client->rpc('prompts/list', $_->params({})) for $legacy, $modern;

# Returns the lists of which a client was notified before the response of ping.
sub changes {
    my ($way) = @_;
    my $client = $way->client;
    my $ping = $client->request('tools/list', $way->params({}));
    my @changed;
    while (1) {
        my $message = $client->recv_where(sub {1});
        return join ' ', sort @changed if ($message->{id} // '') eq $ping;
        push @changed, $1
            if ($message->{method} // '') =~ m{^notifications/(\w+)/list_ch};
    }
}

for my $step (
    [ 'prompts', [ prompts => 'prompt p { description "Q."; return 1; }' ] ],
    [ '', [ prompts => 'prompt p { description "Q."; return 2; }' ] ],
    [ 'resources', [ resources => 'resource r:b { return 1; }' ] ],
    [ 'resources', [ templates => 'resource_template "u:{x}" { return 1; }' ] ],
    [ 'tools', [ tools => 'tool t { description "U."; return 1; }' ] ],
    [ '', [ hidden => 'resource h:h { deny all; return 1; }' ] ],
    [
        'prompts resources',
        [
            prompts => 'prompt q { return 1; }',
            templates => 'resource_template "v:{x}" { return 1; }'
        ]
    ],
    [
        'prompts resources tools',
        [
            tools     => 'tool t { description "T."; deny all; return 1; }',
            prompts   => 'prompt q { deny all; return 1; }',
            resources => 'resource r:b { deny all; return 1; }'
        ]
    ],
) {
    my ($expected, $change) = @$step;
    %part = (%part, @$change);
    $tg->reload(body());
    for my $way ($legacy, $modern) {
        # A session that has moved answers from the new worker.
        my $got = '';
        if ($expected ne '') {
            my @wanted = split ' ', $expected;
            $way->client->notification("notifications/$_/list_changed")
                for @wanted;
        }
        $got = changes($way);
        is $got, '', $way->name . ": notified of '$expected' and nothing else";
    }
}

my $list = $modern->client->rpc('resources/templates/list',
    $modern->params({}))->{result}{resourceTemplates};
is $list->[0]{uriTemplate}, 'v:{x}', 'the list is new';

# The last prompt leaves: its clients are notified, and their list is empty.
%part = (%part, prompts => 'prompt q { return 1; }');
$tg->reload(body());
$_->client->notification('notifications/prompts/list_changed')
    for $legacy, $modern;
delete @part{qw(prompts hidden)};
$tg->reload(body());
$_->client->notification('notifications/prompts/list_changed')
    for $legacy, $modern;
is_deeply $legacy->client->rpc('prompts/list')->{result}, { prompts => [] },
    'a session that knew of prompts gets an empty list';
is $modern->client->rpc('prompts/list', $modern->params({}))->{error}{code},
    -32601, 'without a session, the method is unknown';

done_testing;
