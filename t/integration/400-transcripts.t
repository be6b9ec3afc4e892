#!/usr/bin/perl
# Every transcript against NGINX: on a server according to its headers, whole
# and in small pieces.

use Toolgate::Test qw(Transcript);

my $tg = Toolgate::Test->new;
my $dir = Toolgate::Transcript->dir;
my @transcripts = grep { !$_->header('only') } Toolgate::Transcript->all;

for my $name (qw(tools.conf offers.conf)) {
    (my $tools = slurp("$dir/$name")) =~ s/%%TRANSCRIPTS%%/$dir/g;
    $tg->file($name, $tools);
}

# One server for each set of headers.
my (%socket, @servers);
for my $transcript (@transcripts) {
    my $directives = $transcript->directives;
    next if $socket{$directives};
    my $socket = $tg->dir . '/t' . @servers . '.sock';
    $socket{$directives} = $socket;
    push @servers, <<"END";
server {
    listen unix:$socket;
    tool_runner @{[ $tg->runner_path ]};
    tool_state_dir @{[ $tg->state_dir ]};
    include tools.conf;
    $directives
}
END
}
$tg->conf(join('', @servers), server => 0);
$tg->start(socket => (sort values %socket)[0]);

for my $transcript (@transcripts) {
    my $socket = $socket{ $transcript->directives };
    # Pieces of large messages would only take long.
    for my $piece (undef, $transcript->header('heavy') ? () : 5) {
        my $why = $transcript->play($tg->connect($socket), $piece);
        ok !$why, $transcript->title . ($piece ? ' (in pieces)' : '')
            or diag($transcript->name . ": $why");
    }
}

done_testing;
