#!/usr/bin/perl
# ./build.sh structure: its numbers for a tree of three files, and a circle,
# which fails lint in a folder that must have none.

use File::Path qw(make_path);
use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $tree = $tg->dir . '/tree';
my $objects = "$tree/build/obj/module/core";
my $script = Toolgate::Test::top() . '/module/build/structure.pl';
my $cc = $ENV{CC} // 'gcc';
make_path("$tree/module/core", $objects);

sub source {
    my ($name, $text) = @_;
    $tg->file("tree/module/core/$name.c", $text);
    my ($status, $out, $err) = run_command({}, $cc, '-c', '-o',
        "$objects/$name.o", "$tree/module/core/$name.c");
    is $status, 0, "$name compiles" or diag $err;
}

sub structure {
    my @args = @_;
    return run_command({}, 'perl', $script, @args);
}

source('a', <<'END');
/*
 * Four lines
 * of comment.
 */
int b(int n);
int a(int n);
int d(void);
int xa_module;

int
a(int n)
{
    return n ? b(n - 1) : d();
}
END
source('b', "int c(int n);\nint\nb(int n)\n{\n\treturn c(n);\n}\n");
source('c', <<'END');
extern int xa_module;
int
c(int n)
{
    return xa_module;
}
END
source('d', "int\nd(void)\n{\n" . "\t;\n" x 60 . "\treturn 1;\n}\n");

my ($status, $out) = structure('--circles', $tree, "$tree/build", 'core');
is $status, 0, 'no circle: to know a module is none';
is $out, '', 'and nothing to say';

# Folder, files, lines, comment, their median and maximum, number of too long
# ones; functions, their median, maximum and too long ones; circles, files.
my $row = qr/^core +4 +91 +4% +14 +65 +0 +4 +4 +64 +1 +0 +0$/m;
($status, $out) = structure($tree, "$tree/build");
is $status, 0, 'the table';
like $out, $row, 'its numbers';
like $out, qr{/core/d\.c:2: d has 64 lines$}m, 'what is too long';

source('c', "int a(int n);\nint\nc(int n)\n{\n\treturn a(n);\n}\n");
($status, $out) = structure('--circles', $tree, "$tree/build", 'core');
is $status, 1, 'a circle fails';
is $out, <<'END', 'and says whose';
module/core: a circle of 3 files:
    a needs b
    b needs c
    c needs a
END
($status, $out) = structure($tree, "$tree/build", $tree, "$tree/build");
like $out, qr/^core +4 +91 .* 1 +3$/m, 'it is in the table, of two trees, too';

unlink "$objects/a.o" or die $!;
($status, $out, my $err) =
    structure('--circles', $tree, "$tree/build", 'core');
isnt $status, 0, 'the structure of a missing build is an error';
like $err, qr/core has not been built/, 'and that is said';

done_testing;
