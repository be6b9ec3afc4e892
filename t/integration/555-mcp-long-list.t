#!/usr/bin/perl
# A long list of an MCP server that changes all the time: clients see one whole
# list or the next, are notified once per change, and never get pages of two
# lists. Unchanged tools are neither rebuilt nor logged again.

use Toolgate::Test qw(Listed);

my $NTOOLS = 1600;
my $NLISTENERS = 20;
my $CHANGES = 4;

my $tg = Toolgate::Test->new(workers => 2);
my $json = 'Toolgate::Client';
my $far = Toolgate::Listed->new($tg, 'far');

# Returns tools of one generation, with enough text for many pages.
sub tools {
    my ($generation) = @_;
    return $far->tool('set_tools'), $far->tool('odd', title => 5),
        $far->tool('strict', inputSchema => {
            type => 'object', required => ['n'] }),
        map { $far->tool("t$_", description => "of list $generation " . 'x' x
            300) } 1 .. $NTOOLS;
}

# With another server, which lists an odd tool as well.
sub body {
    my (@options) = @_;
    my $near = Toolgate::Listed->new($tg, 'near', @options);
    $near->list('one', $near->tool('odd', title => 5));
    return "mcp_server far { exec @{[ $far->command ]}; }\n"
        . "mcp_server near { exec @{[ $near->command ]}; }\n";
}

$far->list(tools(0));
$tg->conf(body())->start;

# Reads all pages: the tools by name; or nothing, if the list changed meanwhile.
sub whole {
    my ($client) = @_;
    my (%tools, $cursor);
    do {
        my $reply = $client->rpc('tools/list',
            defined $cursor ? { cursor => $cursor } : {});
        return if ($reply->{error}{code} // 0) == -32602;
        my $result = $reply->{result};
        $tools{ $_->{name} } = $_ for @{ $result->{tools} };
        $cursor = $result->{nextCursor};
    } while defined $cursor;
    return \%tools;
}

sub greeted {
    my $client = $tg->connect;
    $client->rpc('initialize', { protocolVersion => '2025-11-25',
        capabilities => {}, clientInfo => { name => 'c', version => '1' } });
    $client->notify('notifications/initialized');
    return $client;
}

my $client = greeted();
wait_for { keys %{ whole($client) // {} } == $NTOOLS + 5 } 'the first list';
my @listeners = map { greeted() } 1 .. $NLISTENERS;
whole($_) for @listeners;

# --- whole lists ------------------------------------------------------------

# Returns the notifications before the response to a ping.
sub changes_of {
    my ($listener) = @_;
    my $id = $listener->request('ping');
    my $n = 0;
    while (my $message = $listener->recv_json) {
        return $n if exists $message->{id} && $message->{id} eq $id;
        $n++ if $message->{method} eq 'notifications/tools/list_changed';
    }
}

my ($nlists, $nmixed, %changes) = (0, 0);
for my $n (1 .. $CHANGES) {
    $client->call_tool('far_set_tools', { tools => [ tools($n) ] });
    wait_for {
        my $tools = whole($client) or return 0;
        my %of = map { ($_->{description} // '') =~ /(list \d+)/
                ? ($1 => 1) : () } values %$tools;
        $nlists++;
        $nmixed++ if keys %of != 1 || keys %$tools != $NTOOLS + 5;
        return $of{"list $n"};
    } "list $n";
    # The other worker may be behind, and two lists at once are one change.
    wait_for {
        $changes{$_} += changes_of($_) for @listeners;
        return !grep { $changes{$_} < $n } @listeners;
    } "all to hear of list $n";
}
cmp_ok $nlists, '>=', $CHANGES, 'whole lists were read';
is $nmixed, 0, 'none of which was a mixture';

# --- each change is notified once -------------------------------------------

is_deeply [ map { $changes{$_} += changes_of($_) } @listeners ],
    [ ($CHANGES) x @listeners ],
    'every client was notified of each change once';

# --- unchanged tools --------------------------------------------------------

my $repaired = () = $tg->log =~ /tool "odd" of mcp_server "far" is listed/g;
is $repaired, 1, 'a tool that did not change is not repaired again';
like text_of($client->call_tool('far_strict', {})), qr{^/n: missing},
    'its schema is still checked';
$client->call_tool('far_set_tools', { tools => [ tools($CHANGES) ] });
whole($client);
is_deeply [ map { changes_of($_) } @listeners ], [ (0) x @listeners ],
    'a list that did not change is none';

# A tool with another schema is another tool.
$client->call_tool('far_set_tools', { tools => [ map {
    $_->{name} eq 'strict'
        ? $far->tool('strict', inputSchema => {
            type => 'object', required => ['m'] })
        : $_ } tools($CHANGES) ] });
wait_for {
    text_of($client->call_tool('far_strict', { n => 1 })) =~ m{^/m: missing}
} 'the other schema';
my $tools = whole($client);
is $tools->{far_strict}{inputSchema}{required}[0], 'm', 'is listed';
ok $tools->{near_one}, 'beside the other server\'s tools';

# --- another server ---------------------------------------------------------

# Its former tools are a guess, which is not logged.
my $from = $tg->log_size;
$tg->reload(body('pages=50'));
$tg->wait_log(qr/tool "odd" of mcp_server "near" is listed/, $from);

done_testing;
