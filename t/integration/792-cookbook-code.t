#!/usr/bin/perl
# Calls the cookbook's tools for a project: real git, grep, make, unittest and
# others, in a project of the test.

use Toolgate::Test qw(Cookbook);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $project = "$dir/project";
mkdir $_ or die "$_: $!\n" for $project, "$project/src";
$tg->file('secret', "the secret of others\n");
$tg->file('project/README', "A project.\nIt adds.\n");
$tg->file('project/src/sums.py', <<'E');
import os


def add(a, b):
    return a + b
E
$tg->file('project/test_sums.py', <<'E');
import unittest

from src.sums import add


class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(add(1, 2), 3)

    def test_wrong(self):
        self.assertEqual(add(1, 2), 4, 'as it should be')
E
$tg->file('project/run.sh', "#!/bin/sh\necho \$1\n", 0755);
$tg->file('project/Makefile', <<"E");
all: sums.txt
sums.txt: src/sums.py
\twc -l src/sums.py >\$@
\t\@echo made it
broken:
\t\@echo first on stdout
\t\@echo then on stderr >&2; exit 3
E
$tg->file('project/.gitignore', "__pycache__\nignored.txt\n");
$tg->file('project/ignored.txt', "add nothing\n");

sub git {
    my ($status, $out, $err) = run_command({ cwd => $project }, 'git',
        qw(-c user.name=Ann -c user.email=ann@example.com),
        qw(-c commit.gpgsign=false), @_);
    $status == 0 or die "git @_: $out$err";
    return $out;
}
git(qw(init -q -b main));
git(qw(add .));
git(qw(commit -q -m), 'Begin');
$tg->file('project/README', "A project.\nIt adds numbers.\n");
git(qw(commit -q -a -m), 'Say what it adds');

my $cook = Toolgate::Cookbook->new($tg, 'cookbook-code.conf',
    replace => [ [ '/srv/project' => $project ] ])->start;
sub call { return $cook->call(@_) }
my $refused = qr{^ERROR: /\S+: must match the pattern };

# Checks all path and revision arguments, with forbidden values.
sub is_bounded {
    my ($tool, $name, %more) = @_;
    for my $value ('../secret', "$dir/secret", '--help', 'src/../../secret',
        '..', '') {
        my $is_list = $name =~ /s\z/;
        like call($tool, %more, $name => $is_list ? [$value] : $value),
            $refused, "$tool: $name is not '$value'";
    }
}

$cook->recipe(git_status => sub {
    is call('git_status'), "## main\n", 'nothing is changed';
    $tg->file('project/README', "A project.\nIt adds numbers, fast.\n");
    $tg->file('project/new.txt', "new\n");
    is call('git_status'), "## main\n M README\n?? new.txt\n",
        'what is changed, and what is new';
    like call('git_status', all => \1), qr/^ERROR: \/all: /, 'it is closed';
});
$cook->recipe(git_log => sub {
    my @log = split /\n/, call('git_log');
    is scalar @log, 2, 'two commits';
    like $log[0], qr/^[0-9a-f]{7,} \d{4}-\d\d-\d\d Ann: Say what it adds$/,
        'the newest first';
    like call('git_log', limit => 1), qr/\A.*Say.*\n\z/, 'one of them';
    like call('git_log', paths => ['src']), qr/\A.*Begin\n\z/, 'of a folder';
    like call('git_log', revision => 'HEAD~1'), qr/\A.*Begin\n\z/, 'older';
    like call('git_log', revision => 'HEAD~1..HEAD'), qr/\A.*Say.*\n\z/, 'A..B';
    is call('git_log', author => 'Bob'), '', 'of nobody';
    like call('git_log', message => 'what it', files => \1),
        qr/Say what it adds\n\n README \| 2 \+-\n/, 'with files';
    like call('git_log', since => '2 weeks ago'), qr/Say.*\n.*Begin\n/, 'since';
    like call('git_log', revision => '--output=x'), $refused, 'no option';
    like call('git_log', author => '--output=x'), qr/\A\z/, 'nor there';
    like call('git_log', revision => 'nowhere'),
        qr/^ERROR: git_log exited with status 128: .*nowhere/s, 'no such one';
    is_bounded('git_log', 'paths');
});
$cook->recipe(git_diff => sub {
    like call('git_diff'), qr/^-It adds numbers\.\n\+It adds numbers, fast\.$/m,
        'what is changed';
    is call('git_diff', staged => \1), '', 'nothing is staged';
    like call('git_diff', stat => \1), qr/^ README \| 2 \+-$/m, 'how much';
    like call('git_diff', from => 'HEAD~1'), qr/^-It adds\.$/m, 'since then';
    like call('git_diff', from => 'HEAD~1', context => 0), qr/^\@\@ -2 \+2/m,
        'without context';
    is call('git_diff', paths => ['src']), '', 'of a folder';
    is call('git_diff', paths => ['*']), '', 'a name is no glob';
    is_bounded('git_diff', 'paths');
    # Neither an external diff nor a textconv is run.
    $tg->file('project/evil', "#!/bin/sh\ntouch $dir/ran\n", 0755);
    git('config', 'diff.external', "$project/evil");
    git('config', 'diff.x.textconv', "$project/evil");
    git('config', 'core.fsmonitor', "$project/evil");
    $tg->file('project/.gitattributes', "README diff=x\n");
    like call('git_diff'), qr/fast/, 'with programs in the config';
    like call('git_show'), qr/numbers/, 'likewise';
    call('git_blame', path => 'README');
    call('git_status');
    ok !-e "$dir/ran", 'none was run';
    git('config', '--unset', $_) for qw(diff.external diff.x.textconv
        core.fsmonitor);
    unlink map {"$project/$_"} qw(evil .gitattributes);
});
$cook->recipe(git_show => sub {
    like call('git_show'), qr/^Author: Ann .*Say what it adds.*^\+It adds n/ms,
        'a commit';
    like call('git_show', revision => 'HEAD~1'), qr/Begin/, 'another one';
});
$cook->recipe(git_blame => sub {
    like call('git_blame', path => 'src/sums.py', first => 4, lines => 1),
        qr/\A\S+ \(Ann +\d{4}-\d\d-\d\d 4\) def add\(a, b\):\n\z/, 'whose line';
    is_bounded('git_blame', 'path');
});

for my $tool (qw(search search_rg)) {
    $cook->recipe($tool => sub {
        my $text = call($tool, pattern => 'add\(1');
        $text =~ s{^\./}{}mg;
        is $text, "test_sums.py:8:        self.assertEqual(add(1, 2), 3)\n"
            . "test_sums.py:11:        self.assertEqual(add(1, 2), 4, "
            . "'as it should be')\n", "$tool: lines";
        is call($tool, pattern => 'never to be found'), '',
            "$tool: nothing is no error";
        is $cook->result->{_meta}{'toolgate/exitStatus'}, 1,
            "$tool: its status";
        like call($tool, pattern => 'A PROJECT', ignore_case => \1),
            qr/README:1:A project\./, "$tool: either case";
        is call($tool, pattern => 'A PROJECT', ignore_case => \0), '',
            "$tool: false is not there";
        like call($tool, pattern => 'A project', context => 1),
            qr/README-2-It adds/, "$tool: context";
        is call($tool, pattern => 'add', globs => [ '*.sh', '*.mk' ]), '',
            "$tool: globs";
        like call($tool, pattern => 'def', globs => ['*.py'],
            paths => ['src']), qr{^src/sums.py:4:def add}, "$tool: both";
        is call($tool, pattern => '--files'), '', "$tool: no option";
        like call($tool, pattern => '('), qr/^ERROR: .*status 2/,
            "$tool: a mistake is one";
        like call($tool, patern => 'x'), qr/^ERROR: /, "$tool: a closed schema";
        is_bounded($tool, 'paths', pattern => 'x');
    });
}
$cook->recipe(search => sub {
    like call('search', pattern => '(a, b)', literal => \1), qr/def add/,
        'a text as it stands';
    like call('search', pattern => 'add nothing'), qr/ignored/, 'every file';
});
$cook->recipe(search_rg => sub {
    is call('search_rg', pattern => 'add nothing'), '', 'but what git ignores';
});
$cook->recipe(find_files => sub {
    is join(' ', sort split /\n/, call('find_files', name => '*.py')),
        './src/sums.py ./test_sums.py', 'by name';
    unlike call('find_files'), qr/\.git\//, 'without those of git';
    is call('find_files', name => '-delete'), '', 'a name is no option';
    utime 1, 1, "$project/run.sh";
    unlike call('find_files', newer_than_minutes => 60), qr/run\.sh/, 'new';
    like call('find_files'), qr/run\.sh/, 'it is there still';
});
$cook->recipe(read_lines => sub {
    is call('read_lines', path => 'src/sums.py', first => 4, last => 4),
        "4: def add(a, b):\n", 'a line';
    $tg->file('project/first=9', "a name with =\n");
    is call('read_lines', path => 'first=9'), "1: a name with =\n",
        'a file is no setting of awk';
    unlink "$project/first=9";
    is_bounded('read_lines', 'path');
});
$cook->recipe(diff_files => sub {
    is call('diff_files', a => 'README', b => 'README'), '', 'the same';
    like call('diff_files', a => 'README', b => 'run.sh'),
        qr/^-A project\.$/m, 'another one';
    like call('diff_files', a => 'README', b => 'nowhere'),
        qr/^ERROR: .*status 2/, 'what is not there';
    $tg->file('project/spaced', "A  project.\nIt adds  numbers, fast.\n");
    is call('diff_files', a => 'README', b => 'spaced', ignore_space => \1), '',
        'but for spaces';
    is_bounded('diff_files', 'a', b => 'README');
    is_bounded('diff_files', 'b', a => 'README');
});

$cook->recipe(apply_patch => sub {
    my $patch = <<'E';
--- a/README
+++ b/README
@@ -1,2 +1,2 @@
-A project.
+The project.
 It adds numbers, fast.
E
    like call('apply_patch', patch => $patch, try => \1),
        qr/Checking patch README\.\.\./, 'it would fit';
    like slurp("$project/README"), qr/^A project/, 'nothing is changed yet';
    like call('apply_patch', patch => $patch), qr/Applied patch README/, 'fits';
    like slurp("$project/README"), qr/^The project/, 'it is changed';
    like call('apply_patch', patch => $patch), qr/^ERROR: .*does not apply/s,
        'not twice';
    call('apply_patch', patch => $patch, reverse => \1);
    like slurp("$project/README"), qr/^A project/, 'and back';
    for my $name ('../secret', '.git/hooks/pre-commit', "$dir/secret") {
        my $evil = "--- /dev/null\n+++ b/$name\n\@\@ -0,0 +1 \@\@\n+evil\n";
        like call('apply_patch', patch => $evil), qr/^ERROR: .*\Q$name\E/s,
            "not $name";
    }
    symlink $dir, "$project/out" or die $!;
    my $evil = "--- /dev/null\n+++ b/out/x\n\@\@ -0,0 +1 \@\@\n+evil\n";
    like call('apply_patch', patch => $evil), qr/^ERROR: .*symbolic link/s,
        'nor beyond a link';
    unlink "$project/out";
    is slurp("$dir/secret"), "the secret of others\n", 'that is as it was';
});

$cook->recipe(run_tests => sub {
    my $text = call('run_tests');
    unlike $text, qr/^ERROR/, 'a test that fails is a result';
    like $text, qr/test_right .*\.\.\. ok$/m, 'one is right';
    like $text, qr/as it should be/, 'one is wrong, and why';
    like $text, qr/^FAILED \(failures=1\)$/m, 'in sum';
    is $cook->result->{_meta}{'toolgate/exitStatus'}, 1, 'its status';
    like call('run_tests', names => ['test_sums.Sums.test_right']),
        qr/^Ran 1 test .*^OK$/ms, 'one by its name';
    like call('run_tests', only => 'wrong', stop_early => \1),
        qr/^Ran 1 test .*^FAILED/ms, 'by a part of it';
    like call('run_tests', names => ['-h']), $refused, 'no option';
});
$cook->recipe(lint_python => sub {
    like call('lint_python'), qr{sums\.py:1:1:? 'os' imported but unused},
        'an unused import';
    is call('lint_python', paths => ['test_sums.py']), '', 'nothing wrong';
    is_bounded('lint_python', 'paths');
});
$cook->recipe(lint_shell => sub {
    like call('lint_shell', paths => ['run.sh']),
        qr/^run\.sh:2:6: note: .*quote.*\[SC2086\]$/m, 'quotes are missing';
    is_bounded('lint_shell', 'paths');
});
$cook->recipe(build => sub {
    like call('build'), qr/^wc -l .*^made it$/ms, 'it builds';
    is slurp("$project/sums.txt"), "5 src/sums.py\n", 'it is there';
    my $text = call('build', target => 'broken');
    like $text, qr/^ERROR: build exited with status 2$/m, 'it fails';
    like $text, qr/then on stderr/, 'what was on stderr';
    like $text, qr/first on stdout/, 'and on stdout';
    like call('build', target => 'SHELL=/bin/ls'), $refused, 'no setting';
    like call('build', target => '--eval'), $refused, 'no option';
});

# A large output is stored, and read on.
$tg->file('project/large.txt', join '', map {"line $_\n"} 1 .. 20000);
my $large = call('read_lines', path => 'large.txt', last => 20000);
cmp_ok length $large, '<', 17000, 'a large result is shown in part';
my ($key) = $large =~ /"output":"(\w+)"/;
is $tg->connect->call_tool('toolgate_output',
    { output => $key, pattern => '^1234: ' })->{result}{content}[0]{text},
    "1234:1234: line 1234\n", 'and searched';

# Another user's folder, as in the first lines of the file.
SKIP: {
    skip 'only root has other users', 2 if $> != 0;
    my $other = Toolgate::Test->new(workers => 1, user => 'nobody');
    my $conf = $cook->{conf};
    $other->conf($conf)->start;
    like text_of($other->connect->call_tool('git_status')),
        qr/dubious ownership/, 'git refuses a folder of somebody else';
    my $lines = join "\n", $conf =~ /^#     (tool_env .*)$/mg;
    $other->reload("$lines\n$conf");
    like text_of($other->connect->call_tool('git_status')), qr/^## main$/m,
        'until the config sets tool_env';
}

cmp_ok $cook->is_done, '>=', 14, 'there are many';

done_testing;
