#!/usr/bin/perl
# A file that changes between the answer to a subscription and the first look
# of the runner: the change is reported, also after a move to a new worker.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $folder = $tg->dir . '/notes';
mkdir $folder or die $!;
$tg->file("notes/$_", '1') for qw(a b gone old);
symlink 'old', "$folder/link" or die $!;
$tg->file('other', '1');
my @uris = (map({"n:$_"} qw(a b gone new old)), 'l:link');
my $body = <<"END";
resource l:link { file $folder/link; }
resource_template "n:{name}" { file \$tool_arg_name; root $folder; }
END
$tg->conf($body)->start;
ok $tg->connect->rpc('resources/read', { uri => 'n:old' })->{result},
    'a read starts the runner';

# Returns a new client that has subscribed.
sub subscribed {
    my ($era) = @_;
    my $way = Toolgate::Way->new($era, $tg->connect);
    my $client = $way->client;
    if ($era eq 'legacy') {
        is_deeply $client->rpc('resources/subscribe', { uri => $_ })->{result},
            {}, "legacy: subscribed to $_" for @uris;
        return $client;
    }
    $client->request('subscriptions/listen', $way->params(
        { notifications => { resourceSubscriptions => \@uris } }));
    is_deeply [ sort @{ $client->recv_json->{params}{notifications}
                {resourceSubscriptions} } ], [ sort @uris ],
        'modern: subscribed';
    return $client;
}

# Returns the URIs of that many updates.
sub updates {
    my ($client, $count) = @_;
    return [ sort map { $client->recv_json->{params}{uri} } 1 .. $count ];
}

for my $era (qw(legacy modern)) {
    my @runners = $tg->runner_pids;
    kill STOP => @runners;
    my $client = subscribed($era);
    $tg->file('notes/a', "$era changed");
    rename $tg->file('new', "$era replaced"), "$folder/b" or die $!;
    $tg->file('notes/new', "$era new");
    unlink "$folder/gone", "$folder/link" or die $!;
    symlink '../other', "$folder/link" or die $!;
    kill CONT => @runners;
    my @changed = sort grep { $_ ne 'n:old' } @uris;
    is_deeply updates($client, scalar @changed), \@changed,
        "$era: each change right after the answer is reported";

    # What the subscription found is not reported.
    $tg->file('notes/old', "$era changed");
    is_deeply updates($client, 1), ['n:old'], "$era: and nothing else";
    $client->close;
    $tg->file('notes/gone', '1');
    unlink "$folder/new" or die $!;
}

for my $era (qw(legacy modern)) {
    my @runners = $tg->runner_pids;
    kill STOP => @runners;
    my $client = subscribed($era);
    $tg->file('notes/a', "$era moved");
    $tg->reload($body);
    kill CONT => @runners;
    is_deeply updates($client, scalar @uris), [ sort @uris ],
        "$era: what changed before a new worker knew a version";
    $client->close;
}

done_testing;
