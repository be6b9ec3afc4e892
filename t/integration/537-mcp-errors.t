#!/usr/bin/perl
# An MCP server answers a call with a JSON-RPC error: clients of both eras get
# its code, message and data, by stdio or URL.

use Toolgate::Test qw(McpWeb Way);

my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $json = 'Toolgate::Client';
my $web = Toolgate::McpWeb->new($tg, 'modern');
$tg->conf(<<"END")->start;
mcp_server old { exec $^X $top/t/servers/mcp.pl legacy; }
mcp_server new { exec $^X $top/t/servers/mcp.pl modern; }
mcp_server web { url @{[ $web->url ]}; max_output 4k; }
END

my @servers = qw(old new web);
my $client = $tg->connect;
wait_for {
    my $tools = $client->rpc('tools/list')->{result}{tools};
    @servers == grep { $_->{name} =~ /_error$/ } @$tools;
} 'the tools of all';

my @errors = (
    { code => -32042, message => 'Open this first.', data => {
        elicitations => [ { mode => 'url', elicitationId => 'e1',
            url => 'https://example.org/', message => 'Sign in.' } ] } },
    { code => -32021, message => 'Elicitation is needed.',
        data => { requiredCapabilities => { elicitation => {} } } },
    { code => -32602, message => "The requestState is expired.\n\x{e9}" },
    { code => -32601, message => 'no such method', data => undef },
    { code => 7, message => '%s', data => [ 1.50, 'x' ] },
    { code => 0, message => 'it is zero', data => { a => 1 } },
);
my @ways = Toolgate::Way->all($tg);
for my $way (@ways) {
    for my $server (@servers) {
        for my $error (@errors) {
            my $what = $way->name . ", $server: $error->{code}";
            my $answer = $way->call("${server}_error", { error => $error });
            ok $answer->{is_error}, "$what: an error";
            if ($way->name =~ /legacy|modern/) {
                is $json->encode($answer->{raw}{error}), $json->encode($error),
                    "$what: it is the server's, as it came";
            } else {
                is $answer->{text}, $error->{message}, "$what: its message";
            }
        }
    }
}

# Our error for a request that was not started would make a bridge send the call
# again.
my $leaving = { code => -32090, message => 'gone', data => 'toolgate' };
is $client->call_tool('old_error', { error => $leaving })->{error}{code},
    -32603, 'only a server of ours can say that a request was not started';

my $large = { code => -32000, message => 'much', data => 'x' x 5000 };
like text_of($client->call_tool('web_error', { error => $large })),
    qr/more than 4096 bytes \(max_output\)/, 'data counts for max_output';
is text_of($client->call_tool('web_echo')), 'echo', 'and the next call is fine';

done_testing;
