#!/usr/bin/perl
# `skills`: skills/list, skills/get and resources/directory/read of the modern
# era; in the legacy era the files are ordinary resources.

use Toolgate::Test;
use Digest::SHA qw(sha256_hex);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $p = 'io.modelcontextprotocol';
my %modern = ("$p/protocolVersion" => '2026-07-28',
    "$p/clientCapabilities" => {});

mkdir "$dir/$_" or die $!
    for qw(s s/pdf s/pdf/scripts s/pdf/.git s/team s/team/git-log s/bad
    s/Big t);
my $pdf = <<'END';
---
name: pdf
description: Reads PDF files. Use it for "forms".
license: MIT
version: 1.50
count: 012
mask: 0x1F
draft: no
ready: true
nothing: ~
quoted: '12'
allowed-tools: [Read, "a, b"]
metadata:
  author: Ann
  days: {mon: 1, tue: -.5e1}
text: |
  one
  two
---
# PDF

See scripts/run.sh.
END
my %files = (
    'pdf/SKILL.md' => $pdf,
    'pdf/scripts/run.sh' => "#!/bin/sh\n",
    'pdf/a b.bin' => "\xff\0\x01",
    'team/git-log/SKILL.md' => "---\r\nname: git-log\r\n"
        . "description: Explains a log.\r\n---\r\n",
);
$tg->file("s/$_", $files{$_}) for keys %files;
$tg->file('s/pdf/.git/config', 'secret');
$tg->file('s/pdf/notes~', 'draft');
$tg->file('s/bad/SKILL.md', "# No frontmatter\n");
$tg->file('s/Big/SKILL.md', "---\nname: Big\ndescription: x\n---\n");
$tg->file('s/README.md', 'not of a skill');
$tg->allow_log(qr/a skill is left out/);

$tg->conf("skills $dir/s hide=*~;")->start;
my $client = $tg->connect;

sub ask {
    my ($method, %params) = @_;
    return $client->rpc($method, { _meta => \%modern, %params });
}

my $caps = ask('server/discover')->{result}{capabilities};
is_deeply $caps->{extensions}, { "$p/skills" => { directoryRead => \1 } },
    'the extension is declared';
ok $caps->{resources}, 'with resources';

# --- skills/list ---

sub resource {
    my ($path) = @_;
    (my $uri = "skill://$path") =~ s/ /%20/g;
    return { uri => $uri, digest => 'sha256:' . sha256_hex($files{$path}),
        size => length $files{$path} };
}

my $list = ask('skills/list')->{result};
is $list->{resultType}, 'complete', 'skills/list';
is $list->{ttlMs}, 0, 'has a lifetime';
is $list->{cacheScope}, 'private', 'and a scope';
ok !exists $list->{nextCursor}, 'is one page';
is_deeply [ map { $_->{uri} } @{ $list->{skills} } ],
    [ 'skill://pdf/SKILL.md', 'skill://team/git-log/SKILL.md' ],
    'valid skills only';
my $skill = $list->{skills}[0];
is_deeply $skill->{frontmatter}, {
    name => 'pdf',
    description => 'Reads PDF files. Use it for "forms".',
    license => 'MIT',
    version => 1.5,
    count => 12,
    mask => 31,
    draft => 'no',
    ready => \1,
    nothing => undef,
    quoted => '12',
    'allowed-tools' => [ 'Read', 'a, b' ],
    metadata => { author => 'Ann', days => { mon => 1, tue => -5 } },
    text => "one\ntwo\n",
}, 'the frontmatter has every field';
is_deeply $skill->{resources},
    [ map { resource($_) } 'pdf/SKILL.md', 'pdf/a b.bin',
        'pdf/scripts/run.sh' ],
    'each file with digest and size, and none that is hidden';
is_deeply $list->{skills}[1]{resources}, [ resource('team/git-log/SKILL.md') ],
    'a skill in a folder of skills';

for my $why ('bad/SKILL.md: it has no frontmatter; begin it with',
    'Big/SKILL.md: the folder\'s name must have')
{
    $tg->wait_log(qr/a skill is left out: \Q$dir\E\/s\/\Q$why/);
}
ask('skills/list');
ask('resources/list');
is scalar(() = slurp("$dir/error.log") =~ /a skill is left out/g), 2,
    'each invalid skill is reported once';

# --- skills/get ---

my $get = ask('skills/get', uri => 'skill://pdf/SKILL.md')->{result};
is_deeply $get->{skill}, $skill, 'skills/get';
is "$get->{resultType} $get->{ttlMs} $get->{cacheScope}",
    'complete 0 private', 'with its members';
for my $uri ('skill://none/SKILL.md', 'skill://pdf/scripts/run.sh',
    'skill://pdf', 'skill://bad/SKILL.md', 'skill://SKILL.md', 'other:x',
    'skill://pdf/%2e%2e/pdf/SKILL.md', 'skill://pdf%2f' . 'SKILL.md')
{
    my $error = ask('skills/get', uri => $uri)->{error};
    is $error->{code}, -32602, "no skill: $uri";
    is $error->{data}{uri}, $uri, 'with its URI';
}
is ask('skills/get')->{error}{code}, -32602, 'a missing URI';

# --- resources/directory/read ---

sub children {
    my ($uri) = @_;
    my $result = ask('resources/directory/read', uri => $uri)->{result};
    return [ map {
        [ $_->{uri}, $_->{name}, $_->{mimeType} ]
    } @{ $result->{resources} } ];
}

my $children = [
    [ 'skill://pdf/SKILL.md', 'pdf', 'text/markdown' ],
    [ 'skill://pdf/a%20b.bin', 'pdf/a b.bin', undef ],
    [ 'skill://pdf/scripts', 'pdf/scripts', 'inode/directory' ],
];
is_deeply children('skill://pdf'), $children, 'children of a folder';
is_deeply children('skill://pdf/'), $children, 'also with a slash';
is_deeply children('skill://pdf/scripts'),
    [ [ 'skill://pdf/scripts/run.sh', 'pdf/scripts/run.sh',
            'application/x-sh' ] ],
    'children of a subfolder';
for my $uri ('skill://pdf/SKILL.md', 'skill://none', 'skill://pdf/.git',
    'skill://', 'skill://pdf/..', 'skill://pd')
{
    is ask('resources/directory/read', uri => $uri)->{error}{code}, -32602,
        "no folder: $uri";
}

# --- resources ---

my $files = ask('resources/list')->{result}{resources};
is_deeply [ map { [ @$_{qw(uri name description mimeType size)} ] } @$files ],
    [ [ 'skill://pdf/SKILL.md', 'pdf', $skill->{frontmatter}{description},
            'text/markdown', length $pdf ],
        [ 'skill://team/git-log/SKILL.md', 'git-log', 'Explains a log.',
            'text/markdown', length $files{'team/git-log/SKILL.md'} ] ],
    'resources/list has each SKILL.md';
my $read = ask('resources/read', uri => 'skill://pdf/SKILL.md')->{result};
is_deeply $read->{contents}, [ { uri => 'skill://pdf/SKILL.md',
    mimeType => 'text/markdown', text => $pdf } ], 'which can be read';
is ask('resources/read', uri => 'skill://pdf/a%20b.bin')->{result}{contents}[0]
    {blob}, '/wAB', 'as can the other files';
is ask('resources/read', uri => 'skill://pdf/notes~')->{error}{code}, -32602,
    'but none that is hidden';

# --- cursors, the legacy era ---

for my $cursor ('x', '+9.0.x', '+0.0.%zz', "\0") {
    is ask('skills/list', cursor => $cursor)->{error}{code}, -32602,
        'a foreign cursor';
}
is ask('skills/list', cursor => 1)->{error}{code}, -32602, 'a number';
is @{ ask('skills/list', cursor => '')->{result}{skills} }, 2,
    'an empty cursor';

my $old = $tg->connect;
my $hello = $old->rpc('initialize', { protocolVersion => '2025-11-25',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });
ok !$hello->{result}{capabilities}{extensions}, 'legacy: no extension';
for my $method (qw(skills/list skills/get resources/directory/read)) {
    is $old->rpc($method, { uri => 'skill://pdf' })->{error}{code}, -32601,
        "legacy: no $method";
}
is_deeply $old->rpc('resources/list')->{result}{resources}, $files,
    'legacy: the files are resources';
is $old->rpc('resources/read', { uri => 'skill://pdf/scripts/run.sh' })
    ->{result}{contents}[0]{text}, "#!/bin/sh\n", 'which can be read';

# --- access, several folders ---

mkdir "$dir/t/one" or die $!;
$tg->file('t/one/SKILL.md', "---\nname: one\ndescription: One.\n---\n");
$tg->reload(<<"END");
skills $dir/t uri=skill://t/;
skills $dir/s hide=bad hide=Big;
END
is_deeply [ map { $_->{uri} } @{ ask('skills/list')->{result}{skills} } ],
    [ 'skill://t/one/SKILL.md', 'skill://pdf/SKILL.md',
        'skill://team/git-log/SKILL.md' ], 'two folders';
is ask('skills/get', uri => 'skill://t/one/SKILL.md')->{result}{skill}
    {frontmatter}{name}, 'one', 'each with its prefix';

$tg->reload("tool_deny all; skills $dir/s;");
is_deeply ask('skills/list')->{result}{skills}, [],
    'those who may not see the folder get an empty list';
is ask('skills/get', uri => 'skill://pdf/SKILL.md')->{error}{code}, -32602,
    'and no skill';

$tg->reload('tool hi { description "Says hi."; return hi; }');
is ask('skills/list')->{error}{code}, -32601, 'a server without skills';

my ($status, $out) = $tg->test_conf("skills $dir/s/pdf;");
like $out, qr{"$dir/s/pdf" of "skills" is a skill itself; write the folder},
    'a skill in place of the folder around it';

done_testing;
