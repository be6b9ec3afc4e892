#!/usr/bin/perl
# Tools of MCP servers whose names are taken are omitted; the log and
# `toolgate.status` say so.

use Toolgate::Test qw(Listed Status);

my $tg = Toolgate::Test->new(workers => 1);
my %server = map { $_ => Toolgate::Listed->new($tg, $_) } qw(far near);
$server{far}->list('read', 'set_tools', 'mine');
$server{near}->list('read', 'write', 'a:b', 'a.b');
$tg->conf(<<"END")->start;
mcp_server far { exec @{[ $server{far}->command ]}; prefix ""; }
tool mine { return ours; }
mcp_server near { exec @{[ $server{near}->command ]}; prefix ""; }
END
my $client = $tg->connect;
my $status = Toolgate::Status->new($tg->connect);

sub names { return $client->tool_names }

# Returns the omitted tools of each server.
sub clashes {
    return { map { $_->{name} => $_->{clashes} }
            @{ $status->look->server->{mcp_servers} } };
}

wait_for { names() eq 'read set_tools mine write a_b' }
'who is first to keep the name';
my $twins = { tool => 'a.b', name => 'a_b', mcp_server => 'near' };
is_deeply clashes(), {
    far  => [ { tool => 'mine', name => 'mine' } ],
    near => [ { tool => 'read', name => 'read', mcp_server => 'far' }, $twins ],
}, 'what is left out, and who has the name';
is text_of($client->call_tool('mine')), 'ours', 'that of the config is called';
like $tg->log,
    qr/tool "mine" of mcp_server "far" .* the config already uses: it is/,
    'the log says so of the config';
like $tg->log,
    qr/tool "read" of mcp_server "near" .* mcp_server "far" already uses: /,
    'and of another server';

# --- the command line -------------------------------------------------------

my ($rc, $out) = $tg->cli('status');
is $rc, 0, 'status';
like $out, qr/^OMITTED\ +MCP\ SERVER\ +NAME\ +USED\ BY\n
    mine\ +far\ +mine\ +the\ config\n
    read\ +near\ +read\ +far\n
    a\.b\ +near\ +a_b\ +near\n/mx, 'a table of them';
($rc, $out) = $tg->cli('status', '--prometheus');
like $out, qr/^toolgate_mcp_server_clashes\{[^}]*="far"\} 1$/m, 'a number';
like $out, qr/^toolgate_mcp_server_clashes\{[^}]*="near"\} 2$/m,
    'of each server';

# --- the conflict is gone ---------------------------------------------------

$client->call_tool('set_tools', {
    tools => [ map { $server{far}->tool($_) } qw(set_tools other) ],
});
wait_for { names() eq 'set_tools other mine read write a_b' }
'the other one to have the name';
is_deeply clashes(), { far => undef, near => [$twins] },
    'tools that are no longer omitted are no longer reported';

done_testing;
