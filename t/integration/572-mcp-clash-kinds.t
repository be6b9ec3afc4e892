#!/usr/bin/perl
# Prompts of MCP servers whose names are taken are omitted, and resources get
# the name of their server; the log and `toolgate.status` say so.

use Toolgate::Test qw(Status);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 1);
my $top = Toolgate::Test::top();

sub server {
    my ($name, %kinds) = @_;
    my $file = $tg->file("$name.kinds", $json->encode(\%kinds));
    my $tool = $name eq 'far' ? 'pid' : 'where';
    return "exec $^X $top/t/servers/mcp.pl legacy kinds=$file; tools $tool;";
}
my $text = 'x:both';
my %shared = (
    resources => [ { uri => $text, name => 'both' } ],
    resourceTemplates => [ { uriTemplate => 'x:{a}', name => 'one' } ],
);
$tg->conf(<<"END")->start;
mcp_server far {
    @{[ server('far', %shared, prompts => [ { name => 'review' },
        { name => 'mine' } ]) ]}
    prefix "";
}
prompt mine { return ours; }
mcp_server near {
    @{[ server('near', %shared, prompts => [ { name => 'review' },
        { name => 'twice' }, { name => 'twice' } ]) ]}
    prefix "";
}
END
my $client = $tg->connect;
my $status = Toolgate::Status->new($tg->connect);

sub names {
    my ($method, $list, $key) = @_;
    return join ' ', map { $_->{$key} } @{ $client->rpc($method)
        ->{result}{$list} // [] };
}

wait_for { names('prompts/list', 'prompts', 'name') eq 'review mine twice' }
'who is first to keep the name';
is names('resources/list', 'resources', 'uri'), 'x:both near+x:both',
    'both resources are offered';
is names('resources/templates/list', 'resourceTemplates', 'uriTemplate'),
    'x:{a} near+x:{a}', 'and both templates';
my %clashes = map { $_->{name} => $_->{clashes} }
    @{ $status->look->server->{mcp_servers} };
is_deeply \%clashes, {
    far  => [ { tool => 'mine', name => 'mine', kind => 'prompts' } ],
    near => [
        { tool => 'review', name => 'review', kind => 'prompts',
            mcp_server => 'far' },
        { tool => 'twice', name => 'twice', kind => 'prompts',
            mcp_server => 'near' },
    ],
}, 'what is left out, and who has the name';
like $tg->log,
    qr/prompt "mine" of mcp_server "far" .* the config already uses: it is/,
    'the log says so of the config';
like $tg->log,
    qr/prompt "review" of mcp_server "near" .* mcp_server "far" already uses: /,
    'and of another server';
my $named = 'of mcp_server "near" is named';
my $has = 'mcp_server "far" has that URI';
like $tg->log, qr/resource "x:both" $named "near\+x:both": $has/,
    'and that a resource has another URI';
like $tg->log, qr/resource template "x:\{a\}" $named "near\+x:\{a\}": $has/,
    'or a template';

my ($rc, $out) = $tg->cli('status');
is $rc, 0, 'status';
like $out, qr/^OMITTED\ +MCP\ SERVER\ +NAME\ +USED\ BY\n
    mine\ +far\ +mine\ +the\ config\n
    review\ +near\ +review\ +far\n/mx, 'a table of them';

done_testing;
