#!/usr/bin/perl
# Bounds of skills: many in pages, too many files, too many bytes, hostile
# frontmatters, links that lead out.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $p = 'io.modelcontextprotocol';
my %modern = ("$p/protocolVersion" => '2026-07-28',
    "$p/clientCapabilities" => {});

sub skill {
    my ($name, $more, $body) = @_;
    mkdir "$dir/skills/$name" or die $!;
    $tg->file("skills/$name/SKILL.md", "---\nname: $name\n"
        . ($more // "description: $name.\n") . "---\n" . ($body // ''));
}

mkdir "$dir/skills" or die $!;
$tg->file('secret', 'secret');
skill(sprintf 's%03d', $_) for 1 .. 250;
skill('full');
$tg->file("skills/full/$_", '') for 1 .. 511;
skill('large', undef, 'x' x (16 * 1024 * 1024 - 200));

skill('many');
$tg->file("skills/many/$_", '') for 1 .. 512;
skill('huge');
$tg->file("skills/huge/$_", 'x' x (9 * 1024 * 1024)) for 1, 2;
skill('linked');
symlink '../../secret', "$dir/skills/linked/out" or die $!;
symlink 'SKILL.md', "$dir/skills/linked/in" or die $!;

# Each frontmatter, and why it is left out.
my %bad = (
    twice => [ "description: a\ndescription: b\n",
        'line 3 of its YAML: the key is there' ],
    alias => [ "description: &a x\nb: *a\n", 'line 3 of its YAML: an alias' ],
    broken => [ "description: a: b\n", 'line 2 of its YAML: mapping values' ],
    tagged => [ "description: !x y\n", 'line 2 of its YAML: a tag' ],
    deep => [ 'description: ' . '[' x 40 . ']' x 40 . "\n",
        'line 2 of its YAML: it is nested' ],
    long => [ 'description: ' . 'x' x 70_000 . "\n", 'its frontmatter has' ],
    empty => [ "description: ''\n", 'it has no text as "description"' ],
    listed => [ "description: [a]\n", 'it has no text as "description"' ],
    latin => [ "description: \xe9\n", 'it is not UTF-8' ],
    keyed => [ "description: a\n[a]: b\n",
        'line 3 of its YAML: a key is not a text' ],
);
skill($_, $bad{$_}[0]) for keys %bad;
skill('renamed');
rename "$dir/skills/renamed", "$dir/skills/moved" or die $!;
mkdir "$dir/skills/$_" or die $! for qw(scalar none a--b -a);
$tg->file('skills/scalar/SKILL.md', "---\nhello\n---\n");
$tg->file('skills/none/SKILL.md', "---\nname: none\n");
$tg->file("skills/$_/SKILL.md", "---\nname: $_\ndescription: x\n---\n")
    for qw(a--b -a);
$tg->allow_log(qr/a skill is left out/);

$tg->conf("skills $dir/skills max=1000000;")->start;
my $client = $tg->connect;
my (@skills, $cursor, $pages);
do {
    my $result = $client->rpc('skills/list', { _meta => \%modern,
        defined $cursor ? (cursor => $cursor) : () })->{result};
    push @skills, @{ $result->{skills} };
    $cursor = $result->{nextCursor};
    $pages++;
} while (defined $cursor && $pages < 100);
cmp_ok $pages, '>', 2, "$pages pages";
is_deeply [ map { $_->{frontmatter}{name} } @skills ],
    [ 'full', 'large', 'linked', map { sprintf 's%03d', $_ } 1 .. 250 ],
    'every valid skill once, in order';
my %skill = map { $_->{frontmatter}{name} => $_ } @skills;
is @{ $skill{full}{resources} }, 512, '512 files';
cmp_ok $skill{large}{resources}[0]{size}, '>', 16 * 1024 * 1024 - 201,
    'a large file';
is_deeply [ map { $_->{uri} } @{ $skill{linked}{resources} } ],
    [ 'skill://linked/SKILL.md', 'skill://linked/in' ],
    'a link that leads out is not followed';

my %why = (map({ ("$_/SKILL.md" => $bad{$_}[1]) } keys %bad),
    'many/SKILL.md' => 'it has more than 512 files',
    'huge/SKILL.md' => 'it has more than 16 MiB',
    'moved/SKILL.md' => 'its "name" must be that of the folder; write '
        . '"name: moved"',
    'scalar/SKILL.md' => 'line 1 of its YAML: it is not a mapping',
    'none/SKILL.md' => 'it has no frontmatter',
    'a--b/SKILL.md' => 'the folder\'s name must have',
    '-a/SKILL.md' => 'the folder\'s name must have');
$tg->wait_log(qr/a skill is left out: \Q$dir\E\/skills\/\Q$_: $why{$_}/)
    for sort keys %why;

# The call stops with its client, and the runner goes on.
my $gone = $tg->connect;
$gone->send_line({ jsonrpc => '2.0', id => 1, method => 'skills/list',
    params => { _meta => \%modern } });
$gone->close;
is $client->rpc('skills/get', { uri => 'skill://large/SKILL.md',
    _meta => \%modern })->{result}{skill}{frontmatter}{name}, 'large',
    'the next call is answered';

# A folder of many children is read in pages.
my (@children, $next);
do {
    my $result = $client->rpc('resources/directory/read', { _meta => \%modern,
        uri => 'skill://many', defined $next ? (cursor => $next) : () })
        ->{result};
    push @children, @{ $result->{resources} };
    $next = $result->{nextCursor};
} while (defined $next && @children < 1000);
is @children, 513, 'children in pages';

# The folder has gone.
rename "$dir/skills", "$dir/gone" or die $!;
$tg->allow_log(qr/cannot list the files of \Q$dir\E\/skills/);
is_deeply $client->rpc('skills/list', { _meta => \%modern })->{result}{skills},
    [], 'a folder that has gone has no skills';
is $client->rpc('skills/get', { uri => 'skill://full/SKILL.md',
    _meta => \%modern })->{error}{code}, -32602, 'nor a skill';

done_testing;
