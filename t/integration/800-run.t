#!/usr/bin/perl
# `./build.sh run` from its start to Ctrl-C, and its errors; `install`, and
# arguments that no command accepts. Only compiling is omitted: other tests use
# its result.

use Toolgate::Test qw(Trace),
    plain_only => 'it starts NGINX without preloading';

my $tg = Toolgate::Test->new;
my $dir = $tg->dir . '/a run';
my $sock = "$dir/tools.sock";
my $top = Toolgate::Test::top();
my %env = (
    TOOLGATE_BUILD   => Toolgate::Test::build_dir(),
    TOOLGATE_RUN_DIR => $dir,
    NGINX_BIN        => $BUILD_ENV{nginx_bin},
    STREAM_MODULE    => $BUILD_ENV{stream_module},
);

# build.sh with a find_nginx for the NGINX of these tests, and without make.
sub script {
    my ($command) = @_;
    return ('/bin/bash', '-c', <<END, 'build.sh');
. '$top/build.sh' help >/dev/null
find_nginx() { :; }
build() { :; }
$command
END
}

sub refused {
    my ($command, $pattern, $name) = @_;
    my ($status, $out, $err) = run_command({ env => \%env }, script($command));
    isnt $status, 0, "$name: refused";
    like $err, $pattern, "$name: says what is wrong";
}

# Reads the output of `run` up to its last line.
sub start {
    my ($conf) = @_;
    my $run = $tg->spawn({ env => \%env }, script("run $conf"));
    my $text = '';
    $text .= $run->recv_line . "\n" until $text =~ /Ctrl-C/;
    return ($run, $text);
}

sub stop {
    my ($run, $signal) = @_;
    kill $signal => $run->pid;
    1 while $run->fill(time + 60);
    like $run->buffered, qr/^stopped$/m, "SIG$signal: it says so";
    is $run->wait_exit, 0, "SIG$signal: exit status";
    ok !-e $sock, "SIG$signal: the socket is gone";
    ok wait_for(sub { !%{ $tg->processes } }, 'the end'),
        "SIG$signal: so is every process";
}

# --- the demo ---

my ($run, $text) = start('');
like $text, qr/answers on \Q$sock\E$/m, 'names the socket';
like $text, qr/^word_count text=STRING$/m, 'lists the tools';
for my $agent (qw(claude codex)) {
    like $text, qr{^\s+$agent mcp add toolgate -- \S+/toolgate-bridge .*tools}m,
        "how to register it with $agent";
}
is((stat $sock)[2] & 07777, 0600, 'mode of the socket');

# The printed commands.
my ($call) = $text =~ /another terminal:\n\s+(.+)/;
my ($status, $out) = run_command({}, '/bin/sh', '-c', $call);
is $status, 0, 'the printed call works';
is $out, "3\n", 'and answers';
like $text, qr/^Prompts:\n\nsummarize path=TEXT$/m, 'lists the prompt';
my ($prompt) = $text =~ /^Print a prompt:\n\s+(.+)/m;
($status, $out) = run_command({}, '/bin/sh', '-c', $prompt);
is "$status $out", '0 Summarize the file TEXT in five sentences.',
    'the command to print it';
like $text, qr{^Resources:\n\nRESOURCE .*\ndemo:///load }m,
    'lists the resource';
my ($read) = $text =~ /^Read a resource:\n\s+(.+)/m;
($status, $out) = run_command({}, '/bin/sh', '-c', $read);
like "$status $out", qr/^0 [\d.]+ [\d.]+ /, 'the command to read it';

my $tools = slurp("$dir/tools.conf");
open my $fh, '>>', "$dir/tools.conf" or die $!;
print $fh qq{tool another { description "New."; return "here"; }\n};
close $fh;
my ($reload) = $text =~ /, then run\n(\s+.+)/;
cmp_ok length $reload, '<=', 100, 'the printed reload is short';
my %other = (map({ $_ => undef } keys %env), PATH => '/usr/bin:/bin');
($status) =
    run_command({ cwd => '/', env => \%other }, '/bin/sh', '-c', $reload);
is $status, 0, 'the printed reload works in another terminal and folder';
wait_for {
    (run_command({}, "$env{TOOLGATE_BUILD}/toolgate", 'call', '--socket',
        $sock, 'another'))[1] =~ /^here/;
} 'the new tool';

refused('run', qr/it runs already, as process \d+.*TOOLGATE_RUN_DIR/,
    'a second one');
stop($run, 'INT');
isnt slurp("$dir/tools.conf"), $tools, 'the copy is left as it was edited';

# --- an own config ---------

my $own = $tg->file('my tools.conf', 'tool mine { return "own"; }');
($run, $text) = start("'$own'");
like $text, qr/^mine$/m, 'the tools of a file with a space in its name';
unlike $text, qr/prompt|resource/i, 'nothing on what it does not have';
stop($run, 'TERM');

refused('run /no/such.conf', qr{cannot read /no/such\.conf}, 'no such file');
refused('run /tmp', qr{/tmp is a folder; name a file}, 'a folder');
my $wrong = $tg->file('wrong.conf', 'tool wrong { retrun "x"; }');
refused("run $wrong", qr/unknown directive "retrun" in \Q$wrong\E:1/,
    'a mistake in the file');

# --- messages of a build -----------

# Everything that takes long comes after the first line.
($status, $out) = run_command({ env => \%env }, '/bin/bash', '-c',
    ". '$top/build.sh' help >/dev/null; require() { exit 7; }; build",
    'build.sh');
is $status, 7, 'a build whose packages are missing';
is $out, "building in $env{TOOLGATE_BUILD}\n", 'has said what it does';

my $commands = <<'END';
mkdir -p x
gcc -O2 -c -o build/obj/module/base/a.o module/base/a.c
gcc -O2 -c -o build/obj/module/base/b.o module/base/b.c
gcc -c -pipe \
    -o objs/addon/call/c.o \
    TOP/module/nginx/call/c.c
gcc -o build/toolgate module/base/a.o -luv
END
$commands =~ s/TOP/$top/;
($status, $out) = run_command({ env => \%env, stdin => $commands },
    script('show_progress'));
is $out, "compiling module/base\ncompiling module/nginx/call\n",
    'each folder is named when its files are compiled';

# A checkout without a blank, with a build folder with one; and vice versa.
for my $case ([ 'tree', 'b d' ], [ 'a tree', 'build' ], [ '(tree', 'build' ]) {
    my ($tree, $folder) = @$case;
    mkdir $tg->dir . "/$_" or die "$_: $!\n"
        for $tree, "$tree/module", "$tree/module/build";
    for my $file ('build.sh', map {s{^\Q$top/\E}{}r} <$top/module/build/*.sh>) {
        $tg->file("$tree/$file", slurp("$top/$file"), 0755);
    }
    for my $command (qw(build run)) {
        ($status, $out, my $err) = run_command(
            { env => { %env, TOOLGATE_BUILD => $folder } },
            $tg->dir . "/$tree/build.sh", $command);
        is $status, 1, "$command in $tree/$folder: refused";
        like $err, qr/cannot build in "\S*( \w|\()[^"]*": .*symbolic link/,
            "$command in $tree/$folder: says why, and what to do";
        is $out, '', "$command in $tree/$folder: before anything is done";
    }
}

# --- packages ---

# A machine without the headers of msgpack-c.
sub packages {
    my ($command) = @_;
    return run_command({ env => \%env }, script(<<"END"));
has_header() { [ "\$1" != msgpack.h ]; }
apt_install() { say "apt: \$*"; }
$command
END
}
my $can = 'can_install() { true; };';
my $cannot = 'can_install() { false; };';
($status, $out) = packages("$can require build");
like $out, qr/^apt: libmsgpack-dev$/m, 'a build gets what traces need';
($status, $out) = packages("$can require build test lint san");
like $out, qr/^apt: .*\blibmsgpack-dev\b/m, 'deps, too';
($status, $out) = packages("$cannot require build; say goes on");
is "$status $out", "0 goes on\n", 'a build continues without it';
($status, $out, my $why) = packages("$cannot require build test");
is $status, 1, 'deps does not';
like $why, qr/apt-get install .*\blibmsgpack-dev\b/, 'and says what to install';

# --- a server of another checkout ---

for my $case (
    [ 'Angie/1.7.0', "Angie version: Angie/1.7.0\nnginx version: nginx/"
        . $BUILD_ENV{nginx_version} ],
    [ 'nginx/9.9.9',       'nginx version: nginx/9.9.9 (Other)' ],
    [ 'of no version', 'something else' ])
{
    my ($is, $says) = @$case;
    my $other = $tg->file('other', "#!/bin/sh\ncat <<END\n$says\nEND\n", 0755);
    ($status, $out, my $err) = run_command(
        { env => { %env, NGINX_BIN => $other } }, '/bin/bash', '-c',
        ". '$top/build.sh' help >/dev/null; find_nginx", 'build.sh');
    is $status, 1, "$is: refused";
    like $err, qr{ is nginx/\S+ but \Q$other\E is \Q$is\E: .*matching pair},
        "$is: named as what it is";
}

# --- install ---

my $root = $tg->dir . '/root';
my @install = (DESTDIR => $root, PREFIX => '/opt/tg');
($status, $out) = run_command({ env => { %env, @install } },
    script('install_all'));
is $status, 0, 'install';
for my $file (qw(toolgate toolgate-bridge toolgate-runner)) {
    ok -x "$root/opt/tg/bin/$file", "installs $file";
}
my $so = '/opt/tg/lib/nginx/modules/ngx_stream_toolgate_module.so';
ok -s "$root$so", 'installs the module';
is slurp("$root/opt/tg/include/toolgate_handler.h"),
    slurp("$top/module/api/toolgate_handler.h"), 'installs the header';
like $out, qr/^\s+load_module \Q$so\E;$/m, 'and says how to load it';
my @traces = $out =~ /^(installed without traces.*)$/mg;
is scalar @traces, has_msgpack() ? 0 : 1, 'and what it lacks';

# What was built without msgpack-c.
mkdir $tg->dir . '/plain' or die $!;
$tg->file("plain/$_", '')
    for qw(toolgate toolgate-bridge toolgate-runner libtoolgate.so.1),
    'libtoolgate.a';
$tg->file('plain/ngx_stream_toolgate_module.so',
    'which was made without msgpack-c; run');
($status, $out) = run_command(
    { env => { %env, DESTDIR => "$root-plain",
            TOOLGATE_BUILD => $tg->dir . '/plain' } },
    script('install_all'));
like $out, qr/^installed without traces; .*apt-get install libmsgpack-dev/m,
    'how to get traces is said on one line';

# The same as make has it: nothing may end up in the live system.
$root .= '2';
($status, $out) = run_command({ env => \%env }, "$top/build.sh", 'install',
    "DESTDIR=$root", 'PREFIX=/opt/tg');
is $status, 0, 'install DESTDIR=… PREFIX=…';
ok -x "$root/opt/tg/bin/toolgate", 'installs there';
ok -s "$root$so", 'the module, too';

# --- unknown arguments ---

my $build = $tg->dir . '/build';
mkdir $build or die "$build: $!";
for my $case (
    [ qr/^usage:/, 0, 'clean', '--help' ],
    [ qr/^usage:/, 0, 'install', '-h' ],
    [ qr/no such option: --force/, 2, 'clean', '--force' ],
    [ qr/clean does not take build/, 2, 'clean', 'build' ],
    [ qr/no such setting: DESTDIRS/, 2, 'install', 'DESTDIRS=/x' ],
    [ qr/DESTDIR=\/x is for install/, 2, 'build', 'DESTDIR=/x' ],
    [ qr/install does not take \/x/, 2, 'install', '/x' ],
    [ qr/DESTDIR=pkg must be a full path/, 2, 'install', 'DESTDIR=pkg' ],
    [ qr/PREFIX=usr must be a full path/, 2, 'install', 'DESTDIR=/x',
        'PREFIX=usr' ],
    [ qr/MODULES_DIR=m must be a full path/, 2, 'install', 'MODULES_DIR=m' ],
    [ qr/run does not take b/, 2, 'run', 'a', 'b' ],
    [ qr/no such tests: units/, 2, 'test', 'units' ],
    [ qr/no such target: nothing/, 2, 'fuzz', '5', 'nothing' ],
    [ qr/no such row of the bench: nothing/, 2, 'bench', 'nothing' ],
    [ qr/soak takes seconds, not 1h/, 2, 'soak', '1h' ],
    [ qr/no such command: instal/, 2, 'instal' ])
{
    my ($pattern, $want, @args) = @$case;
    ($status, $out, my $err) =
        run_command({ env => { %env, TOOLGATE_BUILD => $build } },
            "$top/build.sh", @args);
    is $status, $want, "@args: status";
    like $want ? $err : $out, $pattern, "@args: why";
}
ok -d $build, 'and nothing was removed';

done_testing;
