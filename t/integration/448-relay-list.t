#!/usr/bin/perl
# A relay client requests the list of tools without params, and gets all of it;
# a list that is too large for one message is reported at load.

use Toolgate::Test qw(Listed);

# 300 tools of some bytes each.
sub config {
    my ($size) = @_;
    my $text = 'x' x $size;
    return join '', map {"tool t$_ { description '$text'; return hi; }\n"}
        1 .. 300;
}

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(config(2600))->start;
my $client = $tg->connect;
my $ask = '{"kind":"mcp_request","id":1,"method":"tools/list"}';
$client->send_line($ask);
my $result = $client->recv_json->{result};
is scalar @{ $result->{tools} }, 300, 'relay: all of 800 KB';
ok !exists $result->{nextCursor}, 'relay: and no page after it';
unlike $tg->log, qr/the list of tools has/, 'nothing to warn of';

my $from = $tg->log_size;
$tg->conf(config(3900))->reload;
like $tg->log($from), qr/\[warn\].*list of tools has 11\d{5} bytes: .*relay/,
    'a list beyond 1 MiB is warned of';
$client = $tg->connect;
$client->send_line($ask);
my $error = $client->recv_json->{error};
is $error->{code}, -32603, 'relay: an error';
like $error->{message}, qr/fewer words/, 'relay: says what to do';
is scalar @{ $tg->connect->rpc('tools/list')->{result}{tools} }, 131,
    'others get pages';

$tg->conf('tool_protocol jsonrpc;' . config(3900));
$from = $tg->log_size;
$tg->reload;
unlike $tg->log($from), qr/the list of tools has/,
    'without relay there is nothing to warn of';

# --- the limit ------------------------------------------------------------

# 301 tools, the last one with its own texts: a text has at most 4 KB.
sub border {
    my ($size, $words) = @_;
    return config($size) . "tool last { description '"
        . 'x' x $words . "'; return hi; }";
}

# Returns the response to an id of 20 characters, the longest number.
sub answer {
    my $id = '"' . 'i' x 18 . '"';
    my $c = $tg->connect;
    $c->send_line(qq({"kind":"mcp_request","id":$id,"method":"tools/list"}));
    return $c->recv_line;
}
my $limit = 1_048_575;
my $warning = qr/\[warn\].*list of tools has (\d+) bytes: .*relay/;
$from = $tg->log_size;
$tg->conf(border(2000, 1))->reload;
my $more = $limit - length answer();
my $size = 2000 + int($more / 300);
my $words = 1 + $more % 300;
$tg->conf(border($size, $words))->reload;
is length answer(), $limit, 'relay: a message as long as one may be';
unlike $tg->log($from), $warning, 'is nothing to warn of';
$from = $tg->log_size;
$tg->conf(border($size, $words + 1))->reload;
like answer(), qr/"code":-32603/, 'relay: with one byte more, an error';
my ($said) = $tg->log($from) =~ $warning;
is $said, $limit + 1, 'which is warned of';

# --- a list that grows ----------------------------------------------------

my $far = Toolgate::Listed->new($tg, 'far');
my @small = ('set_tools', 'echo');
my @large = (@small, $far->tool('long', description => 'x' x 200_000));
my $body = config(2900) . "mcp_server far { exec @{[ $far->command ]}; }";
$far->list(@small);
$from = $tg->log_size;
$tg->conf($body)->reload;
$client = $tg->connect;

sub has {
    my ($name) = @_;
    wait_for {
        my $cursor;
        my $all = '';
        do {
            my $page = $client->rpc('tools/list',
                $cursor ? { cursor => $cursor } : {})->{result};
            $all .= " $_->{name} " for @{ $page->{tools} // [] };
            $cursor = $page->{nextCursor};
        } while $cursor;
        return $all =~ / $name /;
    } "$name in the list";
}

# Loads these, and this one as the last.
sub set {
    my (@tools) = @_;
    $far->list(@tools);
    $client->call_tool('far_set_tools',
        { tools => [ map { ref ? $_ : $far->tool($_) } @tools ] });
    has("far_$tools[-1]");
}
sub warned { return scalar(() = $tg->log($from) =~ /$warning/g) }

has('far_echo');
is warned(), 0, 'with a short list of an MCP server there is nothing to say';
set(@large, 'one');
is warned(), 1, 'one that is too long is warned of when it comes';
set(@large, 'two');
is warned(), 1, 'once';
set(@small, 'three');
set(@large, 'four');
is warned(), 2, 'and again when it has become so again';
$from = $tg->log_size;
$tg->reload;
is warned(), 1, 'a load says it of a list that was kept';

done_testing;
