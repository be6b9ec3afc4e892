#!/usr/bin/perl
# Checks the documentation: its configs load, it has an entry for each directive
# and variable and no others, its limits are those of the sources, and its links
# work.

use Toolgate::Test qw(Native);

my $top = Toolgate::Test::top();
my @pages = map {s{.*/}{docs/}r} glob "$top/docs/directives-*.md";
# docs/authoring.md has its own test.
my @files = grep { $_ ne 'docs/authoring.md' }
    map {s{^\Q$top\E/}{}r} glob "$top/*.md $top/docs/*.md";
cmp_ok @files, '>', 20, 'pages are found';
my %text = map { $_ => slurp("$top/$_") // die "$_: $!\n" } @files;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
mkdir "$dir/$_" or die "$dir/$_: $!\n" for qw(lib notes schemas .aiwg
    .aiwg/daemon);
$tg->file('tools.conf', 'tool now { description "The time."; exec date; }');
$tg->file('rules.json', '[]');
$tg->file('review', "You review code.\n");
$tg->file('token', "Bearer 0123456789\n", 0600);
$tg->file($_, "$_\n" . '0' x 64 . "\n", 0600) for qw(state.key state-old.key);
$tg->file('ca.pem', "-----BEGIN CERTIFICATE-----\n");

# Certificates for a fleet.
sub openssl {
    my ($status, $out, $err) = run_command({ timeout => 60 }, 'openssl', @_);
    $status == 0 or die "openssl @_: $out$err";
}
openssl(qw(req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes
    -days 2 -subj /CN=fleet), -keyout => "$dir/front.key",
    -out => "$dir/front.pem");
$tg->file($_->[0], slurp("$dir/front.$_->[1]")) for [ 'fleet-ca.pem', 'pem' ],
    [ 'builder.pem', 'pem' ], [ 'builder.key', 'key' ];
$tg->file('index.txt', '');
$tg->file('ca.conf', <<"END");
[ca]
default_ca = fleet
[fleet]
database = $dir/index.txt
default_md = sha256
default_crl_days = 2
END
openssl(qw(ca -gencrl -config), "$dir/ca.conf", -keyfile => "$dir/front.key",
    -cert => "$dir/front.pem", -out => "$dir/fleet-crl.pem");

# --- configs ---------------------------------------------------------------

# Returns the fenced blocks of a text: [info string, line, content].
sub blocks {
    my ($text) = @_;
    my (@blocks, $block);
    my $line = 0;
    for (split /^/, $text) {
        $line++;
        if (/^```(.*)$/) {
            push @blocks, $block if $block;
            $block = $block ? undef : [ $1, $line, '' ];
        } elsif ($block) {
            $block->[2] .= $_;
        }
    }
    return @blocks;
}

# Libraries in the examples, and a page's own.
Toolgate::Native->build("docs/examples/$_.c", "$dir/lib/$_.so")
    for qw(primes text_stats);
for my $block (blocks($text{'docs/native.md'})) {
    my ($info, undef, $content) = @$block;
    next if $info !~ /^c (\w+)\.c$/;
    Toolgate::Native->build($tg->file("$1.c", $content), "$dir/lib/$1.so");
}

# Replaces the readers' paths and hosts by those of the test.
sub localize {
    my ($config) = @_;
    my $runner = $tg->runner_path;
    $config =~ s{^\s*load_module\s.*\n}{}mg;
    $config =~ s{/(?:run|var/log|var/lib|etc|home/ann)/toolgate\b}{$dir}g;
    $config =~ s{\buser\s+toolgate;}{user $tg->{user} $tg->{group};};
    $config =~ s{/srv/notes\b}{$dir/notes}g;
    # An agent, and a project.
    $config =~ s{\bexec    claude -p\b}{exec echo}g;
    $config =~ s{/srv/project\b}{$dir}g;
    $config =~ s{/usr/local/lib/toolgate\b}{$dir/lib}g;
    $config =~ s{/usr/local/bin/toolgate-runner\b}{$runner}g;
    # Addresses where nobody listens, and a test may.
    $config =~ s{\b10\.0\.0\.(\d+)\b}{127.0.0.$1}g;
    $config =~ s{\bann\b}{$tg->{user}}g;
    $config =~ s{\bdev\b}{$tg->{group}}g;
    return $config;
}

# A whole nginx.conf, or a stream block; missing parts are added.
sub test_whole {
    my ($config) = @_;
    my $head = join '', map {"load_module $_;\n"} grep { defined && length }
        @Toolgate::Util::BUILD_ENV{qw(stream_module module)};
    my %lack = (
        user      => $> == 0 ? "user $tg->{user} $tg->{group};\n" : '',
        pid       => "pid nginx.pid;\n",
        error_log => "error_log test.log;\n",
        events    => "events { }\n",
    );
    for my $name (sort keys %lack) {
        $head .= $lack{$name} if $config !~ /^\s*$name\b/m;
    }
    $tg->file('nginx.conf', $head . $config);
    return $tg->test_conf;
}

sub test_block {
    my ($config) = @_;
    return test_whole($config) if $config =~ /^stream\s*\{/m;
    my $is_server = $config =~ /^server\s*\{/m;
    return $tg->test_conf($config, server => !$is_server);
}

sub loads {
    my ($config, $name) = @_;
    my ($status, $out) = test_block(localize($config));
    is $status, 0, "$name loads" or diag $out;
    unlike $out,
        qr{\[(?:error|crit|alert)\]|\[warn\].*(?:may begin with|puts the)},
        'without complaints';
}

my @examples = glob "$top/docs/examples/*.conf";
cmp_ok @examples, '>', 1, 'there are examples';
# Those of the cookbook are loaded, and called, in 792 to 794.
loads(slurp($_), $_) for grep { !m{/cookbook-} } @examples;

for my $file (@files) {
    for my $block (blocks($text{$file})) {
        my ($info, $line, $content) = @$block;
        $tg->file($1, $content) if $info =~ /^json (schemas\/\S+)$/;
        next if $info ne 'nginx';
        loads($content, "$file:$line");
    }
}

# --- dialogues -------------------------------------------------------------

# Replaces values that differ each time, or with each release.
sub ignore {
    my ($value) = @_;
    if (ref $value eq 'HASH') {
        delete @$value{qw(timestamp version)};
        ignore($_) for values %$value;
    } elsif (ref $value eq 'ARRAY') {
        ignore($_) for @$value;
    }
    return $value;
}

# "> MESSAGE" and "< MESSAGE"; an indented line continues the one before.
sub play {
    my ($name, $text, $is_ipc) = @_;
    my ($send, $receive) =
        $is_ipc ? qw(send_ipc recv_ipc) : qw(send_line recv_json);
    my $client = $tg->connect;
    $text =~ s/\n +/ /g;
    for (split /\n/, $text) {
        my ($way, $message) = /^([<>]) (.*)$/ or die "$name: $_\n";
        if ($way eq '>') {
            $client->$send($message);
            next;
        }
        my $got = $client->encode(ignore($client->$receive));
        is $got, $client->encode(ignore($client->decode($message))),
            "$name: $message";
    }
    ok $client->is_silent(0.05), "$name: and nothing more";
}

my $protocols = 'docs/protocols.md';
my @blocks = blocks($text{$protocols});
my ($config) = grep { $_->[0] eq 'nginx' } @blocks;
$tg->conf($config->[2])->start;
my $played = 0;
for my $block (@blocks) {
    my ($info, $line, $content) = @$block;
    next if $info !~ /^dialogue( ipc)?$/;
    play("$protocols:$line", $content, $1);
    $played++;
}
cmp_ok $played, '>', 5, 'dialogues were played';
$tg->stop;

# --- directives and variables ----------------------------------------------

sub is_same {
    my ($got, $expected, $name) = @_;
    is join("\n", sort @$got), join("\n", sort @$expected), $name;
}

my $source = join '', map { slurp($_) } glob "$top/module/nginx/{,*/}*.c";
# Some mean the same in several blocks.
my %directive = map { $_ => 1 } map { /\{\s*ngx_string\("(\w+)"\)/g }
    $source =~ /^(?:static|const) ngx_command_t \w+\[\d*\] = \{(.*?)^\};/msg;
# The tables of module/spec, with the macros of options that several have.
my %table = map { m{/tg_(\w+)_spec\.c$} ? ($1 => slurp($_)) : () }
    glob "$top/module/spec/*.c";
my %shared = map { /^#define (TG_\w+_OPTION)\s+(.*?)(?<!\\)\n/msg }
    map { slurp($_) } glob "$top/module/spec/tg_*_spec.h";
s/\b(TG_[A-Z]+(?:_[A-Z]+)?_OPTION)\b(?!\()/$shared{$1}/g for values %table;
# [directive, default of a server] of each option of a table.
sub options {
    my ($text) = @_;
    return map { my ($tool, $name, $rest) = @$_;
        [ $name, $tool ? "tool_$name" : $rest =~ /\.inherited = "(\w+)"/ ] }
        map { [ /^(TOOL_)?OPTION\([\s\\]*(?:"(\w+)"|NULL)(.*)/s ] }
        grep { /^(?:TOOL_)?OPTION/ } split /\bTG_(?=\w+\()/, $text;
}
$directive{$_} = 1 for grep { defined } map { @$_ } map { options($_) }
    values %table;
my @commands = keys %directive;
push @commands, map {"tool_pass_ssl$_"}
    slurp("$top/module/nginx/upstream/ngx_tg_tls.h") =~
    /NGX_TG_TLS_COMMAND\("(\w*)"/g;
# One with different meanings in two blocks has a section in two pages.
my @entries;
for my $page (@pages) {
    my @sections = $text{$page} =~ /^## (\w+)\n(.*?)(?=^## |\z)/msg;
    push @entries, [ $page, splice @sections, 0, 2 ] while @sections;
}
my %entry = map { $_->[1] => 1 } @entries;
cmp_ok @commands, '>', 10, 'directives are found in the sources';
is_same [ keys %entry ], \@commands, 'each directive has its entry';

# The tables of module/spec have the context of each option.
my %context;
for (@entries) {
    my (undef, $name, $section) = @$_;
    $context{$name} .= ", $1" if $section =~ /^Context:  (.*?)\n```/ms;
}
my %block = (exec => 'tool', file => 'tool', http => 'tool',
    mcp_server => 'mcp_server', agent => 'task_agent', task => 'server',
    job => 'tool', output => 'tool', rule => 'automation');
is_same [ keys %block ], [ keys %table ], 'each table has its block';
for my $feature (sort keys %block) {
    for my $option (options($table{$feature})) {
        my ($name, $inherited) = @$option;
        like $context{$name}, qr/\b$block{$feature}\b/,
            "$name: its context has $block{$feature}" if defined $name;
        is $context{$inherited}, ', stream, server', "$inherited: its context"
            if $inherited;
    }
}

my (@rows_expected, %default);
for (@entries) {
    my ($page, $name, $section) = @$_;
    my ($head, @rest) = blocks($section);
    like $head->[2], qr/^Syntax:   \Q$name\E\b/, "$name: its syntax";
    like $head->[2], qr/^Default:  \S/m, "$name: its default";
    like $head->[2], qr/^Context:  \S/m, "$name: its context";
    ok scalar(grep { $_->[0] eq 'nginx' && $_->[2] =~ /\b$name[\s;]/ } @rest),
        "$name: its example";
    like $section, qr/\A\n```\n.*?^```\n\n[A-Z][a-z]+s /ms,
        "$name: begins with what it does";
    my ($context) = $head->[2] =~ /^Context:  (.*)\n\z/ms;
    push @rows_expected, join ' ', "$page#$name", split ' ', $context;
    $default{"$page#$name"} = $1 eq 'none' ? $1 : "`$2`"
        if $head->[2] =~ /^Default:  (none|$name ([^\n]*);)\nContext/m;
}
cmp_ok scalar keys %default, '>', 100, 'defaults of one line';
my @index = $text{'docs/directives.md'} =~ /^## All directives\n(.*)/ms;
@index = $index[0] =~ /^\| (.*\]\(.*) \|$/mg;
is_same [ map {
        my ($name, $does, $default, $context) = split / \| /;
        like $does, qr/^[A-Z][a-z]+s /, "$name: what it does";
        my ($link) = $name =~ /\]\((.*)\)/;
        is $default, $default{"docs/$link"}, "$name: its default"
            if $default{"docs/$link"};
        "docs/$link $context";
    } @index ], \@rows_expected, 'and its row in the index';

my @variables = map { /_$/ ? "${_}NAME" : $_ }
    $source =~ /NGX_TG_VARIABLE\("(\w+)"/g;
cmp_ok @variables, '>', 10, 'variables are found in the sources';
is_same [ $text{'docs/variables.md'} =~ /^\| `\$(tool_\w+)` \|/mg ],
    \@variables, 'each variable has its row';

# --- the public headers ------------------------------------------------------

# Returns the names of headers, except tags and the guard, and the number of
# each function's parameters.
sub header {
    my (@paths) = @_;
    my $text = join '', map { slurp("$top/module/api/$_") } @paths;
    $text =~ s{/\*.*?\*/}{}gs;
    $text =~ s/^#(?:ifndef|define) TOOLGATE\w*_H$//mg;
    my %name = map { $_ => 1 } grep { !/_s$/ } $text =~ /\b(toolgate_\w+)/gi;
    my %function = $text =~ /\bTOOLGATE_API [^;(]*?(\w+)\(([^;]*)\);/g;
    $_ = /^void$/ ? 0 : 1 + tr/,// for values %function;
    my @members = map { /\(\*(\w+)\)\(/g, /\b(\w+);/g }
        $text =~ /\{([^{}]*?;\s*)\}/g;
    return (\%name, \%function, \@members);
}

# Returns a part of a page, by its heading.
sub section {
    my ($page, $title) = @_;
    return $text{$page} =~ /^## \Q$title\E\n(.*?)(?=^## |\z)/ms ? $1 : '';
}

{
    my ($page, %elsewhere) =
        ('docs/library.md', map { $_ => 1 } qw(TOOLGATE_CA TOOLGATE_LIBRARY));
    my ($names, $functions) = header('toolgate.h', 'toolgate_client.h');
    cmp_ok scalar keys %$functions, '>', 40, 'functions are in toolgate.h';
    is_same [ grep { !$elsewhere{$_} && !/_$/ } keys %{ {
            map { $_ => 1 } $text{$page} =~ /\b(toolgate_\w+)/gi } } ],
        [ keys %$names ], "$page has each name of toolgate.h, and no other";
    my $table = section($page, 'Every function');
    my %shown = map { /\b(toolgate_\w+)\(([^)]*)\)/g }
        $table =~ /^\| ([^|]*) \|/mg;
    is_same [ keys %shown ], [ keys %$functions ],
        'each function is in its table';
    is $shown{$_} eq '' ? 0 : 1 + $shown{$_} =~ tr/,//, $functions->{$_},
        "$_ has so many parameters"
        for grep { ($shown{$_} // '…') !~ /…|\xe2/ } sort keys %$functions;

    # Its options.
    my %source = ('a server' => 'server', 'a tool' => 'tool',
        'a client' => 'client');
    for my $whose (sort keys %source) {
        my $name = $source{$whose};
        my ($list) = slurp("$top/module/lib/tg_$name.c")
            =~ /\btg_${name}_options\[\w*\] = \{(.*?)\};/s;
        my $rows = section($page, "Options of $whose");
        # Prompts and resources have a table of their own.
        $rows .= section($page, 'Options of a prompt or resource')
            if $name eq 'tool';
        my %row = map { $_ => 1 } map { /`(\w+)`/g }
            $rows =~ /^\| (`[^|]*) \|/mg;
        is_same [ keys %row ], [ $list =~ /"(\w+)"/g ],
            "each option of $whose has its row";
    }
}
{
    my $page = 'docs/native.md';
    my ($names, undef, $members) = header('toolgate_handler.h');
    my $table = section($page, 'Every name of the header');
    my %shown = map { $_ => 1 } map { /(\w+)/g } $table =~ /`([^`]*)`/g;
    cmp_ok scalar @$members, '>', 20, 'members are in toolgate_handler.h';
    is join(' ', grep { !$shown{$_} } sort(keys %$names), @$members), '',
        "$page has each name of toolgate_handler.h";
    # The default of SYMBOL is not in the header.
    is join(' ', grep { !$names->{$_} && $_ ne 'toolgate_handler' }
            $text{$page} =~ /\b(toolgate_\w+)/gi), '', 'and no other';
}

# --- limits ----------------------------------------------------------------

my %unit = (
    ''  => 1,
    B   => 1,
    KiB => 1024,
    MiB => 1024 * 1024,
    GiB => 1024 * 1024 * 1024,
    ms  => 1,
    s   => 1000,
    h   => 3_600_000,
);

# Converts "10 MiB" to bytes, "60 s" to milliseconds.
sub number {
    my ($value) = @_;
    my ($n, $unit) = $value =~ /^([\d,]+)(?: (\w+))?$/ or return $value;
    $n =~ tr/,//d;
    return $n * ($unit{ $unit // '' } // die "no such unit: $value\n");
}

my %defined;
for my $path (glob "$top/module/{*,*/*}/*.[ch]") {
    my $sources = slurp($path);
    $defined{$1} = $2
        while $sources =~ /^#define\s+(N?[TG]\w+)\s+(.*?)\s*$/mg;
}

# Evaluates a number, or an expression of numbers and other limits.
sub evaluate {
    my ($expression) = @_;
    1 while $expression =~ s/\b([TN]G\w+)\b/$defined{$1} \/\/ 'x'/e;
    $expression =~ s/\b(\d+)u\b/$1/g;
    return $expression =~ m{^[\d\s()*+-]+$} ? eval $expression : $expression;
}

# A row has a limit, or several with their values in this order.
my @limits;
my $name = qr/`[A-Z]\w+`/;
while ($text{'docs/limits.md'} =~ /^\| ($name(?:, $name)*) \| ([^|]+?) \|/mg) {
    my ($names, @values) = ($1, split /, /, $2);
    my @names = $names =~ /(\w+)/g;
    is scalar @values, scalar @names, "$names: a value for each";
    push @limits, map { $_ => shift @values } @names;
}
cmp_ok @limits, '>', 800, 'limits are documented';
while (my ($name, $value) = splice @limits, 0, 2) {
    if (!defined $defined{$name}) {
        fail "$name is in the sources";
        next;
    }
    my $actual = evaluate($defined{$name});
    # Seconds or milliseconds: the sources have both.
    $actual *= 1000 if $value =~ / s$/ && $actual * 1000 == number($value);
    is $actual, number($value), "$name is $value";
}

# --- links and commands ----------------------------------------------------

# Returns the anchors that usual renderers make of headings.
sub anchors {
    my ($markdown) = @_;
    return $markdown =~ /<a id="([\w-]+)">/g,
        map { s/[^\w\- ]//gr =~ tr/ A-Z/\-a-z/r } $markdown =~ /^#+ (.*)$/mg;
}

my %links;
for my $file (@files) {
    (my $folder = $file) =~ s{[^/]*$}{};
    (my $prose = $text{$file}) =~ s/^```.*?^```//msg;
    while ($prose =~ /\]\(([^)]*)\)/g) {
        my ($path, $anchor) = split /#/, $1, 2;
        next if $path =~ /^https?:/;
        my $target = length $path ? "$folder$path" : $file;
        1 while $target =~ s{[^/]+/\.\./}{};
        $links{$file}{$target} = 1;
        ok -e "$top/$target", "$file: $target is there";
        next if !defined $anchor;
        my $markdown = $text{$target} // slurp("$top/$target") // '';
        ok scalar(grep { $_ eq $anchor } anchors($markdown)),
            "$file: $target has #$anchor";
    }
}

# Each page is linked from the README, directly or indirectly.
my (%is_reached, @queue);
@queue = 'README.md';
while (defined(my $page = shift @queue)) {
    push @queue, keys %{ $links{$page} // {} } if !$is_reached{$page}++;
}
is join(' ', grep { !$is_reached{$_} } @files), '', 'every page is reached';

# Comments and tests cite only pages that readers have.
{
    my @all = split /\n/, `cd '$top' && find module t docs config build.sh \\
        *.md -type f -not -path '*/node_modules/*'`;
    my %is_there = map { s{.*/}{}r => 1 } @all, 'SKILL.md';
    my @cites;
    for my $file (@all) {
        next if $file =~ m{\.corpus$|package-lock} || !-T "$top/$file";
        my $content = slurp("$top/$file") // next;
        push @cites, map {"$file: $_"} grep { !$is_there{$_} }
            $content =~ /\b([\w-]+\.md)\b/g;
        push @cites, "$file: $1" while $content =~ /\b(seeds? 00\d)/gi;
    }
    is join("\n", @cites), '', 'every page that is cited is here';
}

# architecture.md cites existing files, and lint's include directions.
{
    my $page = 'docs/architecture.md';
    my @files = $text{$page} =~ m{`(\w+/[\w/]+\.[ch])`}g;
    cmp_ok @files, '>', 20, "$page cites files";
    my @gone = grep {
        my $file = $_;
        !/NAME/ && !grep { -e "$top/$_/$file" } qw(. module module/nginx);
    } @files;
    is "@gone", '', 'which are there';
    my %direction = slurp("$top/t/lint/check.pl")
        =~ m{^ +'((?:nginx|runner|tasks)/\w+)' +=> \[(?:qw\()?(.*?)\)?\]}mg;
    my %shown;
    for my $folder (qw(nginx runner tasks)) {
        my ($table) = $text{$page}
            =~ /^The folders of `$folder\/`[^\n]*:\n\n(.*?)\n\n/ms;
        my %row = $table =~ m{^\| `(\w+)/` \| [^|]* \| ?([^|]*?) ?\|}mg;
        $shown{"$folder/$_"} = $row{$_} =~ tr/,//dr for keys %row;
    }
    is_deeply \%shown, \%direction, 'and has the directions of folders';
}

# versions.md has the numbers of the sources.
my @numbers = $text{'docs/versions.md'} =~ /^\| [^|]+ \| (\d+) \| `(\w+)`/mg;
cmp_ok @numbers, '>=', 10, 'versions.md has numbers';
while (my ($number, $name) = splice @numbers, 0, 2) {
    is $defined{$name}, $number, "$name is $number";
}

# Each claim of security.md names tests by their numbers.
my %test = map { m{/(\d{3})-} ? ($1 => 1) : () } glob "$top/t/integration/*.t";
my @claims = map { /\d{3}/g }
    $text{'docs/security.md'} =~ /\((\d{3}(?:,\s+\d{3})*)[,)]/g;
cmp_ok @claims, '>', 40, 'claims name tests';
is join(' ', grep { !$test{$_} } @claims), '', 'which are there';

# Each range of test numbers has a row in the README.
my @rows = slurp("$top/t/integration/README.md")
    =~ /^\| (\d{3}(?:\xe2\x80\x93\d{3})?) \|/mg;
my @strays = grep {
    my $n = $_;
    !grep { my ($from, $to) = /(\d{3})/g; $n >= $from && $n <= ($to // $from) }
        @rows;
} sort keys %test;
cmp_ok @rows, '>', 20, 'groups of tests are explained';
is join(' ', @strays), '', 'all of them';

my ($status, $help) = run_command({}, "$top/build.sh", 'help');
my %command = map { $_ => 1 } $help =~ /^  ([a-z]+)\b/mg;
my %named;
for my $file (@files) {
    $named{$_}{$file} = 1 for $text{$file} =~ m{\./build\.sh ([a-z]+)\b}g;
}
for my $name (sort keys %named) {
    ok $command{$name}, "./build.sh $name is a command"
        or diag join ' ', keys %{ $named{$name} };
}

done_testing;
