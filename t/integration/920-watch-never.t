#!/usr/bin/perl
# What can never be reported: `subscriptions/listen` leaves it out of its
# acknowledgement, `resources/subscribe` answers as for any other resource.

use Toolgate::Test qw(Way);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $text = $tg->file('text', '1');

# Writes what an MCP server offers, see t/servers/mcp.pl.
sub server {
    my ($name, %capabilities) = @_;
    my $path = $tg->file("$name.kinds", $json->encode({
        resources => [ { uri => "$name:r", name => 'r' } ],
        resourceTemplates => [
            { uriTemplate => "$name:t/{a}", name => 't' } ],
        %capabilities ? (capabilities => \%capabilities) : (),
    }));
    return "exec $^X $top/t/servers/mcp.pl legacy kinds=$path;";
}

my $still = server('still', resources => {});
sub body {
    my ($watch) = @_;
    return <<"END";
resource c:constant { return 1; }
resource c:off { file $text; watch off; }
resource c:later { file $text; watch $watch; }
resource c:file { file $text; }
resource c:every { exec true; watch every=1h; }
resource c:pass { pass unix:@{[ $tg->dir ]}/none protocol=mcp; }
resource_template "c:t/{a}" { return \$tool_arg_a; }
resource_template "c:w/{a}" { exec true; watch every=1h; }
mcp_server shared { @{[ server('shared') ]} resources shared:r shared:t/*; }
mcp_server user { @{[ server('user') ]} share user; }
mcp_server own { @{[ server('own') ]} share connection; }
mcp_server still { $still }
END
}
$tg->conf(body('off'))->start;

my $legacy = Toolgate::Way->new('legacy', $tg->connect)->client;
my $modern = Toolgate::Way->new('modern', $tg->connect);
wait_for {
    my @uris = map { $_->{uri} }
        @{ $legacy->rpc('resources/list')->{result}{resources} };
    (grep {/^(?:shared|user|own|still):/} @uris) == 4;
} 'the lists of the servers';

my $listens = 0;

# Subscribes, and returns what is acknowledged.
sub acknowledged {
    my $id = 'l' . ++$listens;
    $modern->client->send_line($json->encode({ jsonrpc => '2.0', id => $id,
        method => 'subscriptions/listen', params => $modern->params({
            notifications => { resourceSubscriptions => [@_] } }) }));
    my $ack = $modern->client->notification(
        'notifications/subscriptions/acknowledged');
    is $ack->{params}{_meta}{'io.modelcontextprotocol/subscriptionId'}, $id,
        'an acknowledgement';
    $modern->client->notify('notifications/cancelled', { requestId => $id });
    return [ sort @{ $ack->{params}{notifications}{resourceSubscriptions} } ];
}

my @watched = qw(c:every c:file c:w/x shared:r shared:t/a);
my @never = qw(c:constant c:off c:later c:pass c:t/x user:r user:t/a own:r
    own:t/a still:r still:t/a);
my @unknown = qw(c:nosuch shared:x nosuch+shared:r);
is_deeply acknowledged(@never, @watched, @unknown), \@watched,
    'only what is watched is acknowledged';
is_deeply acknowledged($_), [], "$_ is not" for @never, @unknown;

is_deeply $legacy->rpc('resources/subscribe', { uri => $_ })->{result}, {},
    "legacy: $_" for @watched, @never;
my $unknown = $legacy->rpc('resources/subscribe', { uri => 'c:nosuch' });
is_deeply [ @{ $unknown->{error} }{qw(code data)} ],
    [ -32002, { uri => 'c:nosuch' } ], 'legacy: an unknown one is an error';

# After a reload or another list of its server it may be watched.
$tg->reload(body('file'));
is_deeply acknowledged('c:later', 'c:off'), ['c:later'], 'watched from now on';
$tg->file('text', '2');
my %heard;
wait_for {
    my $message = $legacy->recv_json;
    $heard{ $message->{params}{uri} }++
        if $message->{method} eq 'notifications/resources/updated';
    $heard{'c:later'};
} 'the former subscription has an effect';

my $ready = $tg->file('still.kinds', $json->encode({
    resources => [ { uri => 'still:r', name => 'r' } ] }));
$still =~ s/still\.kinds/still.kinds again/;
$tg->reload(body('file'));
wait_for { @{ acknowledged('still:r') } }
'a server that reports changes from now on';

done_testing;
