#!/usr/bin/perl
# Of the extensions of an MCP server, those that need no methods of their own
# are declared to modern clients; clients' declarations of these reach modern
# servers.

use Toolgate::Test;

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $APPS = 'io.modelcontextprotocol/ui';
my $TASKS = 'io.modelcontextprotocol/tasks';
my $kinds = $tg->file('kinds', $json->encode({ capabilities => {
    extensions => { $APPS => { any => 1 }, $TASKS => {}, 'x/y' => {} } } }));
my $exec = sub { "exec $^X $top/t/servers/mcp.pl @_;" };
my $plain = 'mcp_server plain { ' . $exec->('modern') . ' }';
my $body = "$plain mcp_server old { @{[ $exec->('legacy', qq(kinds=$kinds)) ]} }
    mcp_server new { @{[ $exec->('modern', qq(kinds=$kinds)) ]} }";
$tg->conf($plain)->start;

sub declared {
    my ($c) = @_;
    return $c->rpc('server/discover', { _meta => modern_meta() })
        ->{result}{capabilities}{extensions};
}

my $c = $tg->connect;
wait_for { $c->tool_names =~ /plain_echo/ } 'the tools';
is declared($c), undef, 'a server without extensions';

$tg->reload($body);
$c = $tg->connect;
wait_for { $c->tool_names =~ /old_echo.*new_echo/ } 'the tools of all';
is_deeply declared($c), { $APPS => {} }, 'only MCP Apps is passed on';
my $legacy = $tg->connect;
is $legacy->rpc('initialize', { protocolVersion => '2025-11-25',
    capabilities => {}, clientInfo => { name => 't', version => '1' } })
    ->{result}{capabilities}{extensions}, undef, 'not to legacy clients';

my $meta = modern_meta();
my $CAPS = 'io.modelcontextprotocol/clientCapabilities';
my $ui = { mimeTypes => ['text/html;profile=mcp-app'] };
$meta->{$CAPS} = { sampling => {},
    extensions => { $TASKS => {}, $APPS => $ui, 'x/y' => {} } };

sub received {
    my ($server) = @_;
    return $c->rpc('tools/call', { name => "${server}_echo", arguments => {},
        _meta => $meta })->{result}{structuredContent}{_meta}{$CAPS};
}
is_deeply received($_), { sampling => {}, extensions => { $APPS => $ui } },
    "the client's declaration reaches $_" for qw(plain new);
is received('old'), undef, 'not a legacy server';
$meta->{$CAPS} = { extensions => { 'x/y' => {} } };
is_deeply received('new'), {}, 'nothing else does';

# The lists are stored: so is what the servers declare.
$tg->stop;
$tg->conf($body)->start;
is_deeply declared($tg->connect), { $APPS => {} }, 'after a restart';

done_testing;
