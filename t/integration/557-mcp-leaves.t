#!/usr/bin/perl
# An MCP server that exits after one call: each call starts it again at once,
# and a call that it has not read is not lost.

use Toolgate::Test qw(Listed);

my $tg = Toolgate::Test->new;
my $far = Toolgate::Listed->new($tg, 'far', 'leaves')->list('pid');
$tg->conf("mcp_server far { exec @{[ $far->command ]}; }")->start;
my $client = $tg->connect;
my %pids;
my $began = time;
for my $n (1 .. 20) {
    my $text = text_of($client->call_tool('far_pid'));
    like $text, qr/^\d+$/, "call $n is answered";
    $pids{$text}++;
}
is scalar(keys %pids), 20, 'each by a process of its own';
# With a failed server's delays it would take more than five minutes.
cmp_ok time - $began, '<', 240, 'which starts at once';

unlike $tg->log, qr/\[error\].*mcp_server far/, 'and no error is logged';

done_testing;
