#!/usr/bin/perl
# The transcripts about tasks, against NGINX: each method with each of its
# errors, whole and in small pieces, each on its own server and store.

use Toolgate::Test qw(Transcript);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $state = $tg->state_dir;
my $folder = Toolgate::Transcript->dir . '/tasks';
my @transcripts = Toolgate::Transcript->all('tasks');
cmp_ok @transcripts, '>', 8, 'there are some';

my (@plays, @servers);
for my $transcript (@transcripts) {
    for my $piece (undef, 5) {
        my $n = @plays;
        push @plays, [ $transcript, $piece, "$dir/t$n.sock" ];
        if (($transcript->header('store') // '') eq 'broken') {
            $tg->file("state/$n.db", 'This is no database. ' x 100);
            chown((getpwnam $tg->{user})[ 2, 3 ], "$state/$n.db");
            $tg->allow_log(qr/store cannot be opened/);
        }
        push @servers, <<"END";
server {
    listen unix:$dir/t$n.sock;
    tool_runner @{[ $tg->runner_path ]};
    tool_state_dir $state;
    task_store sqlite:$state/$n.db;
    include $folder/tasks.conf;
    @{[ $transcript->header('with') // '' ]}
}
END
    }
}
$tg->conf(join('', @servers), server => 0);
$tg->start(socket => $plays[0][2]);

for my $play (@plays) {
    my ($transcript, $piece, $socket) = @$play;
    my $why = $transcript->play($tg->connect($socket), $piece);
    ok !$why, $transcript->title . ($piece ? ' (in pieces)' : '')
        or diag($transcript->name . ": $why");
}

done_testing;
