#!/usr/bin/perl
# Access, rate, concurrency, timeout and size of an MCP server's tools, for all
# of them or for one by a block; and results that are too large.

use Toolgate::Test qw(Listed);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 2);
my $far = Toolgate::Listed->new($tg, 'far');
$far->list(qw(echo sleep big params pid count), $far->tool('result',
    outputSchema => { type => 'object', required => ['n'] }));
my $nobody = 4294967294;

sub block { return 'mcp_server far { exec ' . $far->command . "; $_[0] }\n" }
sub names { return $_[0]->tool_names }
sub word { return text_of($_[0]->call_tool(@_[1 .. $#_])) // '' }

# Returns a client of a worker that knows the list.
sub client {
    my $client = $tg->connect;
    wait_for { names($client) =~ /far_/ } 'the list';
    return $client;
}

# --- access -----------------------------------------------------------------

$tg->conf(block("deny uid=$>; tool echo { allow all; } tool sleep { }"))->start;
my $client = client();
is names($client), 'far_echo', 'a rule about one stands before that of all';
is word($client, 'far_echo', { text => 'x' }), 'x',
    'what is seen can be called';
like $client->call_tool('far_count')->{error}{message}, qr/Unknown tool/,
    'what is not cannot';
$tg->reload("tool_deny all;\n" . block('tool echo { allow uid=' . $> . '; }'));
is names(client()), 'far_echo', 'also before the list of the server';
$tg->reload("tool_deny all;\n" . block('allow all; tool echo { deny all; }'));
is names(client()), 'far_sleep far_big far_params far_pid far_count '
    . 'far_result', 'and the block\'s between both';

# --- rate -------------------------------------------------------------------

$tg->reload(block('rate 1r/m burst=2; tool echo { rate 1r/m; }'));
$client = client();
is word($client, 'far_echo', { text => 'x' }), 'x', 'one call of a tool';
like word($client, 'far_echo'), qr/^This tool may be called .* \(rate 1r\/m/,
    'the second is too many';
like word($client, 'far_pid'), qr/^\d+$/, 'not of another';
like word($client, 'far_pid'), qr/^\d+$/, 'twice';
like word($client, 'far_count'),
    qr/^The tools of this MCP server may be called .*rate of its mcp_server/,
    'all of them together may be called so often';

# --- concurrency ------------------------------------------------------------

$tg->reload(block('concurrency 2; tool sleep { concurrency 1; }'));
$client = client();
my $first = $client->request('tools/call',
    { name => 'far_sleep', arguments => { s => 600, text => 'first' } });
wait_for {
    grep { ($_->[1]{params}{arguments}{text} // '') eq 'first' }
        $far->told('tools/call')
} 'it to run';
like word(client(), 'far_sleep', { s => 0 }), qr/1 call runs \(concurrency 1\)/,
    'one at once, over all workers';
is word($client, 'far_echo', { text => 'x' }), 'x', 'two of all of them';
$client->notify('notifications/cancelled', { requestId => $first });
wait_for { word($client, 'far_sleep', { s => 0, text => 'y' }) eq 'y' }
    'the next one';

# --- timeout ----------------------------------------------------------------

$tg->reload(block('timeout 10m; tool sleep { timeout 300ms; }'));
$client = client();
my $before = $far->told('notifications/cancelled');
like word($client, 'far_sleep', { s => 600 }), qr/300 ms|time/,
    'a deadline of one tool';
wait_for { $far->told('notifications/cancelled') > $before }
    'its server to be notified';
pass 'its server is notified';

# --- size -------------------------------------------------------------------

$tg->reload(block('max_output 1k; tool echo { max_output 8k; }'));
$client = client();
is length word($client, 'far_big', { size => 900 }), 900, 'a result that fits';
like word($client, 'far_big', { size => 2000 }), qr/max_output|1024/,
    'one that does not is an error that says so';
is length word($client, 'far_echo', { text => 'x' x 2000 }), 2000,
    'a tool of its own measure';

# --- results of another shape -----------------------------------------------

$tg->reload(block(''));
$client = client();

sub result {
    my ($result) = @_;
    return $client->call_tool('far_result', { result => $result })->{result};
}
my $good = { content => [], structuredContent => { n => 1 } };
is $json->encode(result($good)), $json->encode($good), 'a result that fits';
for my $bad ({ content => [], structuredContent => { m => 1 } },
    { content => [] })
{
    my $got = result($bad);
    ok $got->{isError}, 'one that does not is an error';
    like $got->{content}[0]{text}, qr/output schema.*error of the tool/,
        'of the tool';
}
my $no = { content => [], isError => $json->decode('true') };
is $json->encode(result($no)), $json->encode($no), 'who says no need not fit';
$tg->reload(block('validate off;'));
$client = client();
is $json->encode(result({ content => [] })), '{"content":[]}',
    'nor where nothing is to be checked';

done_testing;
