#!/usr/bin/perl
# Rules and limits of prompts, resources and templates: who sees and reads them,
# and what one server inherits.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
$tg->conf(<<'END')->start;
tool_preview 1k;
tool_server_title "A title";
tool_server_description "A description.";
tool_server_website https://example.com/;
tool_server_icon https://example.com/i.svg any;
prompt seen { return seen; }
prompt hidden { deny all; return hidden; }
resource r:seen { return seen; }
resource r:hidden { deny all; return hidden; }
resource_template "r:{x}" { deny all; return template; }
resource_template "r:{+x}" { return later; }
prompt often { rate 2r/m burst=1; return ok; }
resource r:often { rate 2r/m burst=1; return ok; }
resource r:large { exec seq 2000; }
resource r:slow { exec sleep 30; timeout 100ms; }
END

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $client = $way->client;
    my $ask = sub {
        my ($method, $params) = @_;
        return $client->rpc($method, $way->params($params // {}));
    };
    my $read = sub { return $ask->('resources/read', { uri => $_[0] }) };
    my $unknown = $era eq 'modern' ? -32602 : -32002;
    my $info = $era eq 'modern'
        ? $ask->('server/discover')->{result}{_meta}
            {'io.modelcontextprotocol/serverInfo'}
        : $tg->connect->rpc('initialize',
        { protocolVersion => '2025-11-25', capabilities => {} })
            ->{result}{serverInfo};
    is_deeply [ @$info{qw(title description websiteUrl icons)} ],
        [
            'A title', 'A description.', 'https://example.com/',
            [ { src => 'https://example.com/i.svg', sizes => ['any'] } ]
        ],
        "$era: what is said of the server" or diag explain $info;
    is join(' ', map { $_->{name} }
            @{ $ask->('prompts/list')->{result}{prompts} }),
        'seen often', "$era: the prompts that one may use";
    is join(' ', map { $_->{uri} }
            @{ $ask->('resources/list')->{result}{resources} }),
        'r:seen r:often r:large r:slow', "$era: and resources";
    is join(' ', map { $_->{uriTemplate} }
            @{ $ask->('resources/templates/list')->{result}
                {resourceTemplates} }),
        'r:{+x}', "$era: and templates";
    is $ask->('prompts/get', { name => 'hidden' })->{error}{code}, -32602,
        "$era: a hidden prompt is unknown";
    is $read->($_)->{error}{code}, $unknown, "$era: $_ is unknown"
        for qw(r:hidden r:other);
    is $read->('r:a/b')->{result}{contents}[0]{text}, 'later',
        "$era: what only the second template matches";
    is length $read->('r:large')->{result}{contents}[0]{text}, 8893,
        "$era: no preview of a resource";
    like $read->('r:slow')->{error}{message}, qr/100 ms/,
        "$era: the timeout applies";
}

my $client = $tg->connect;
my @errors = map { $client->rpc(@$_)->{error} }
    ([ 'prompts/get', { name => 'often' } ]) x 3,
    ([ 'resources/read', { uri => 'r:often' } ]) x 3;
is_deeply [ map { $_ ? $_->{code} : 'ok' } @errors ],
    [ qw(ok ok -32603), qw(ok ok -32603) ], 'rates apply';
like $errors[2]{message}, qr/rate|minute/, 'with their message';
$tg->allow_log(qr/call of "(?:r:slow|often|r:often)" failed/);

done_testing;
