#!/usr/bin/perl
# Transcripts of MCP through the bridge: an agent behind it has the same
# conversations as a client of NGINX.

use Toolgate::Test qw(Transcript);

my $tg = Toolgate::Test->new;
my $dir = Toolgate::Transcript->dir;
# The bridge answers elements of a batch in another order, and notifies an
# agent that has not got a list. It acknowledges a subscription before the
# server has said which of its resources exist.
my %other = map { $_ => 1 }
    qw(mcp-cursor-batch mcp-listen-resources mcp-version-2025-03-26);
my @transcripts = grep {
    $_->name =~ /^mcp-/ && !$other{ $_->name } && !$_->header('only')
} Toolgate::Transcript->all;

my %file = map {
    my $text = slurp("$dir/$_.conf");
    $text =~ s/%%TRANSCRIPTS%%/$dir/g;
    $_ => $text
} qw(tools offers);

# One server with tools only, and one that offers more.
my @sockets = map { $tg->dir . "/$_.sock" } qw(tools offers);
my @bodies = ($file{tools}, "$file{tools}$file{offers}");
$tg->conf(join('', map {<<"END"} 0, 1), server => 0);
server {
    listen unix:$sockets[$_];
    tool_runner @{[ $tg->runner_path ]};
    tool_state_dir @{[ $tg->state_dir ]};
    $bodies[$_]
}
END
$tg->start(socket => $sockets[0]);

for my $transcript (@transcripts) {
    my $bridge = $tg->bridge(
        [ $sockets[ $transcript->header('offers') ? 1 : 0 ] ]);
    my $why = $transcript->play($bridge);
    ok !$why, $transcript->title
        or diag($transcript->name . ": $why");
    $bridge->stop;
}

done_testing;
