#!/usr/bin/perl
# Transcripts of MCP through the bridge: an agent behind it has the same
# conversations as a client of NGINX.

use Toolgate::Test qw(Transcript);

my $tg = Toolgate::Test->new;
my $dir = Toolgate::Transcript->dir;
# The bridge answers elements of a batch in another order, and notifies an
# agent that has not got a list.
my %other = map { $_ => 1 } qw(mcp-cursor-batch mcp-version-2025-03-26);
my @transcripts = grep {
    $_->name =~ /^mcp-/
        && !$other{ $_->name }
        && !$_->header('only')
        && !$_->header('offers')
} Toolgate::Transcript->all;

(my $tools = slurp("$dir/tools.conf")) =~ s/%%TRANSCRIPTS%%/$dir/g;
$tg->conf($tools)->start;

for my $transcript (@transcripts) {
    my $bridge = $tg->bridge;
    my $why = $transcript->play($bridge);
    ok !$why, $transcript->title
        or diag($transcript->name . ": $why");
    $bridge->stop;
}

done_testing;
