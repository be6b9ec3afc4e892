#!/usr/bin/perl
# A folder that arrives with its files, although the kernel reports its move
# only after its creation (delayed by t/faults/tg_moved.c): no file is reported
# as deleted, and changes are seen. A folder that is moved away is gone.

use Toolgate::Test;

my $json = JSON::PP->new;
my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
mkdir "$dir/$_" or die for qw(src away away/staged);
$tg->file("away/staged/$_", $_) for 1 .. 3;
my $conf = <<"END";
task_agent done { exec true; default; }
task_methods on;
automation now { trigger file $dir/src debounce=0; notify "{{payload}}"; }
END
$tg->conf($conf, main => preloaded('tg_moved', 'TG_MOVED=staged'))->start;
my $c = $tg->connect;
wait_for {
    $c->result_of('daemon.status')->{subsystems}{file_watcher}{ready};
} 'files to be watched';

# Returns the events of the next files, NAME EVENT, in any number of pieces.
sub told {
    my ($n) = @_;
    my @files;
    while (@files < $n) {
        my $told = $c->recv_where(
            sub { ($_[0]{method} // '') eq 'automation.notify' });
        push @files, @{ $json->decode($told->{params}{message})->{files} };
    }
    return join ' ', map { $_->{path} =~ m{([^/]+)$}; "$1 $_->{event}" } @files;
}

# A complete file arrives: one event.
sub come {
    my ($name) = @_;
    rename $tg->file('away/one', 'x'), "$dir/src/$name" or die "rename: $!";
}

rename "$dir/away/staged", "$dir/src/staged" or die "rename: $!";
is told(3), '1 create 2 create 3 create', 'it has come';
come('other');
is told(1), 'other create', 'and nothing else has happened to it';
come('staged/4');
is told(1), '4 create', 'what comes into it is seen';
rename "$dir/src/staged", "$dir/away/staged" or die "rename: $!";
is told(4), join(' ', map {"$_ delete"} 1 .. 4), 'it goes, with all in it';

# Another one takes its place at once.
rename "$dir/away/staged", "$dir/src/staged" or die "rename: $!";
is told(4), join(' ', map {"$_ create"} 1 .. 4), 'it is back';
mkdir "$dir/next" or die;
$tg->file('next/5', 'x');
rename "$dir/src/staged", "$dir/away/staged" or die "rename: $!";
rename "$dir/next", "$dir/src/staged" or die "rename: $!";
my %told;
while (!$told{'5 create'}) {
    $told{$_}++ for told(1) =~ /(\S+ \S+)/g;
}
come('staged/6');
1 until told(1) =~ /6 create/;
pass 'another one in its place is watched, too';

done_testing;
