#!/usr/bin/perl
# The module's file is replaced by a rename, as packages do, while clients call,
# and the module is loaded from elsewhere: sessions move from the old shared
# object to the new one, and back.

use Toolgate::Test qw(Storm);

use File::Copy qw(copy);

use constant CLIENTS => 20;

my $rounds = 4;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $built = $BUILD_ENV{module};

sub install {
    my ($path) = @_;
    copy($built, "$path.new") or die "$path.new: $!";
    chmod 0644, "$path.new";
    rename "$path.new", $path or die "$path: $!";
}

sub inode { return (stat $_[0])[1] }

# Returns how many files of the module a worker has loaded.
sub objects {
    my ($pid) = @_;
    my %path = map { m{^\S+ \S+ \S+ \S+ (\d+) +(\Q$dir\E/.*\.so.*)}
            ? ("$1 $2" => 1) : () }
        split /\n/, slurp("/proc/$pid/maps") // '';
    my @paths = sort keys %path;
    return @paths;
}

install("$dir/a.so");
$BUILD_ENV{module} = "$dir/a.so";
my $storm = Toolgate::Storm->new($tg)->start(CLIENTS);
for my $round (1 .. $rounds) {
    my $inode = inode("$dir/a.so");
    install("$dir/a.so");
    isnt inode("$dir/a.so"), $inode, 'another file under the same name';
    $storm->reload;
    $storm->pass(0.1);

    install("$dir/b$round.so");
    $BUILD_ENV{module} = "$dir/b$round.so";
    $storm->reload;
    $storm->pass(0.1);
    ok grep({m{/b$round\.so$}} objects($_)), 'a worker has the other object'
        for $storm->newest_pids;

    $BUILD_ENV{module} = "$dir/a.so";
    $storm->reload;
    $storm->pass(0.1);
    is scalar($storm->clients), CLIENTS, "round $round: no client is lost";
}
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'all answered, once, by the right ones';
is scalar(objects($_)), 1, 'a worker has one object only'
    for $storm->newest_pids;
$storm->leave;

done_testing;
