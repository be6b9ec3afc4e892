#!/usr/bin/perl
# Results of MCP servers for prompts/get and resources/read that are unusual:
# they reach clients of both eras whole, or as an error that says why.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $json = 'Toolgate::Client';
my $dir = $tg->dir;
my $script = Toolgate::Test::top() . '/t/servers/mcp.pl';
my %lists = (
    prompts   => [ { name => 'p' } ],
    resources => [ { uri => 'x:a', name => 'a' } ],
    contents  => {},
);

# Sets the result of both methods; undef: the usual one.
sub result_is {
    my ($result) = @_;
    my %results = map { $_ => $result } qw(prompts/get resources/read);
    my $path = $tg->file('new.kinds', $json->encode(
        { %lists, $result ? (results => \%results) : () }));
    rename $path, "$dir/s.kinds" or die $!;
}
result_is();
$tg->conf(join '', map {
    "mcp_server $_ { exec $^X $script $_ kinds=$dir/s.kinds; }\n"
} qw(legacy modern))->start;
my %ways = map { $_ => Toolgate::Way->new($_, $tg->connect) }
    qw(legacy modern);

# Requests both from a server, for a client. Returns the replies.
sub replies {
    my ($era, $server, %more) = @_;
    my $way = $ways{$era};
    return map {
        my ($method, %params) = @$_;
        $way->client->rpc($method, $way->params({ %params, %more }))
    } [ 'prompts/get', name => "${server}_p" ],
        [ 'resources/read', uri => "$server+x:a" ];
}
wait_for { 2 == grep { $_->{result} }
    map { (replies('modern', $_))[0] } qw(legacy modern) } 'both servers';

my $info = 'io.modelcontextprotocol/serverInfo';

# Returns a result without what Toolgate adds.
sub bare {
    my ($result) = @_;
    my %bare = %$result;
    $bare{_meta} = { %{ $bare{_meta} // {} } };
    delete $bare{_meta}{$info};
    delete $bare{_meta} if !%{ $bare{_meta} };
    delete @bare{qw(resultType ttlMs cacheScope)};
    return \%bare;
}

# --- whole ---

my %deep = (a => 1);
%deep = (a => [ {%deep} ]) for 1 .. 40;
for my $odd (
    [ 'no content',     { messages => [], contents => [] } ],
    [
        'unknown members',
        { messages => [], contents => [], x => { y => [1.5] } }
    ],
    [
        'an unknown type',
        {
            messages =>
                [ { role => 'user', content => { type => 'odd', n => 1 } } ],
            contents => [ { uri => 'y:b', odd => JSON::PP::null } ],
        }
    ],
    [
        'text and bytes',
        {
            messages => [],
            contents =>
                [ { uri => 'x:a', text => "\x{1f600}", blob => 'AA==' } ]
        }
    ],
    [
        'several contents with _meta',
        {
            messages => [],
            contents => [
                map { { uri => "x:$_", text => $_, _meta => { n => $_ } } }
                    1 .. 3
            ],
            _meta => { 'a/b' => \%deep },
        }
    ],
    [
        'isError',
        { messages => [], contents => [], isError => JSON::PP::true }
    ],
) {
    my ($name, $result) = @$odd;
    result_is($result);
    for my $server (qw(legacy modern)) {
        for my $era (qw(legacy modern)) {
            for my $reply (replies($era, $server)) {
                is_deeply bare($reply->{result} // {}), $result,
                    "$name, $server server, $era client"
                    or diag explain $reply;
                is $reply->{result}{resultType},
                    $era eq 'modern' ? 'complete' : undef, 'with its type';
            }
        }
    }
}

# --- input ---

my %input = (
    resultType    => 'input_required',
    requestState  => "s/\\\"=",
    inputRequests => {
        who => {
            method => 'elicitation/create',
            params => { message => 'Who is it?', requestedSchema => {} },
        },
    },
    _meta => { 'a/b' => 1 },
);
result_is(\%input);
for my $reply (replies('modern', 'modern')) {
    my $result = $reply->{result};
    is_deeply [ @$result{qw(resultType requestState inputRequests)} ],
        [ @input{qw(resultType requestState inputRequests)} ],
        'a modern client gets what is required' or diag explain $reply;
    is $result->{_meta}{'a/b'}, 1, 'with _meta';
    ok !exists $result->{ttlMs}, 'and no time to keep it';
}
for my $reply (replies('legacy', 'modern')) {
    is $reply->{error}{code}, -32603, 'a legacy client gets an error';
    like $reply->{error}{message}, qr/input/, 'that says why'
        or diag explain $reply;
}

# The client's answer.
result_is();
my ($reply) = replies('modern', 'modern',
    inputResponses => { who => { action => 'accept', content => { n => 1 } } },
    requestState   => $input{requestState});
my $sent = $json->decode($reply->{result}{messages}[0]{content}{text});
is_deeply [ @$sent{qw(inputResponses requestState)} ],
    [ { who => { action => 'accept', content => { n => 1 } } },
    $input{requestState} ], 'the server gets the answer as it is';
for my $bad (undef, 7, [], 'x') {
    ($reply) = replies('modern', 'modern', inputResponses => $bad);
    is $reply->{error}{code}, -32602, 'an answer that is no object';
}

# --- no result ---

for my $odd (7, 'text', [], JSON::PP::true) {
    result_is($odd);
    for my $era (qw(legacy modern)) {
        for my $reply (replies($era, 'modern')) {
            is $reply->{error}{code}, -32603,
                $json->encode([$odd]) . " is no result, $era"
                or diag explain $reply;
        }
    }
}

done_testing;
