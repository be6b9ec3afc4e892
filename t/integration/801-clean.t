#!/usr/bin/perl
# `./build.sh clean` removes the folder of a build below its checkout, and
# nothing else, however the path is written; nothing is built among sources.

use Toolgate::Test;

use Cwd qw(realpath);

my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $tree = $tg->dir . '/tree';

# A checkout with build.sh, with sources and a folder beside it.
mkdir $tg->dir . "/$_" or die "$_: $!\n"
    for qw(tree tree/module tree/module/build tree/docs victim);
for my $file ('build.sh', map { s{^\Q$top\E/}{}r } <$top/module/build/*.sh>) {
    $tg->file("tree/$file", slurp("$top/$file"), 0755);
}
$tg->file("$_/kept", 'text') for qw(tree/docs victim);
symlink $tree, $tg->dir . '/link' or die "link: $!\n";
symlink '../victim', "$tree/out" or die "out: $!\n";

# The first and the last file of a build.
sub built {
    my ($folder, $file) = @_;
    mkdir "$tree/$folder" or die "$folder: $!\n";
    $tg->file("tree/$folder/$_", '') for $file, 'module.so';
}

sub clean {
    my ($folder, $from) = @_;
    return run_command({ env => { TOOLGATE_BUILD => undef } },
        ($from // $tree) . '/build.sh', 'clean',
        defined $folder ? "TOOLGATE_BUILD=$folder" : ());
}

my $beside = qr/which is not below \S+: remove it by hand/;
my $sources = qr/nothing was built: give TOOLGATE_BUILD=DIR the folder of a/;
for my $file (qw(.lock build.env)) {
    # As if it contained a build: its place decides.
    $tg->file("$_/$file", '') for qw(victim tree);
    for my $case (
        (map { [ $_, $beside ] } '../victim', 'docs/../../victim', 'out',
            $tg->dir . '/victim', "$tree/../victim", '.', './', 'docs/..',
            $tree, "$tree/", '..', '/'),
        (map { [ $_, $sources ] } 'docs', './docs/', "$tree/docs", 'module',
            'module/build', 'build.sh'))
    {
        my ($folder, $why) = @$case;
        my ($status, undef, $err) = clean($folder);
        is $status, 2, "$folder: refused";
        like $err, qr/^build\.sh: will not remove \S+, .*$why/,
            "$folder: it says why, and what to do";
    }
    ok -e $tg->dir . "/$_", "$_ is left"
        for qw(victim/kept tree/docs/kept tree/build.sh tree/module/build);

    for my $case (
        [ build => undef ],
        [ other => 'other' ],
        [ other => './docs/../other/' ],
        [ other => "$tree/other" ],
        [ other => 'other', $tg->dir . '/link' ],
        [ other => realpath($tree) . '/other', $tg->dir . '/link' ])
    {
        my ($folder, @args) = @$case;
        my $name = join ' of ', map { $_ // 'the default' } @args;
        built($folder, $file);
        my ($status, $out, $err) = clean(@args);
        is $status, 0, "$name with $file: status" or diag $err;
        ok !-e "$tree/$folder", "$name with $file: removed";
        is +(clean(@args))[0], 0, "$name: once more, there is nothing to do";
    }
}

for my $folder ('docs', './docs/x', "$tree/module", 't', '.', "$tree/") {
    my ($status, undef, $err) = run_command({},
        "$tree/build.sh", 'build', "TOOLGATE_BUILD=$folder");
    is $status, 2, "build into $folder: refused";
    like $err, qr/^build\.sh: will not build into \S+, where sources are;/m,
        "$folder: it says why";
}
ok !-e "$tree/docs/.lock", 'nothing was made there';

done_testing;
