#!/usr/bin/perl
# A relay client asks for the list of tools without params, so that it gets
# all of it at once; one that no message carries is told of at load.

use Toolgate::Test;

# 300 tools of so many bytes each.
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
is scalar @{ $tg->connect->rpc('tools/list')->{result}{tools} }, 132,
    'others get pages';

$tg->conf('tool_protocol jsonrpc;' . config(3900));
$from = $tg->log_size;
$tg->reload;
unlike $tg->log($from), qr/the list of tools has/,
    'without relay there is nothing to warn of';

done_testing;
