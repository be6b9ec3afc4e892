#!/usr/bin/perl
# The start of a program: its arguments, input, environment, folder, descriptors
# and rights.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
# None of this must reach a program.
$ENV{TOOLGATE_TEST_SECRET} = 'secret';
$tg->file('said', "#!/bin/sh\nprintf '%s' \"\$SAID\"\n", 0755);
$tg->conf(<<'END', main => 'env TOOLGATE_TEST_SECRET;')->start;
tool args { exec printf '[%s]\n' a $tool_arg_x "b $tool_arg_x" $tool_arg_y; }
tool cat { exec cat; }
tool text { exec cat; stdin $tool_arg_text; max_output 16m; }
tool none { exec cat; stdin ''; }
tool deaf { exec true; }
tool_nice 3;
tool inherits { exec nice; }
tool normal { exec nice; nice 0; }
tool lowest { exec nice; nice 19; }
tool slow { exec sh -c 'sleep 0.2; wc -c'; }
tool env { exec env; }
tool more {
    exec env;
    env  LANG de_DE.UTF-8;
    env  X $tool_arg_x;
    env  _A_1 '=b="c"';
}
tool said { exec %%DIR%%/said; env SAID $tool_arg_x; }
tool here { exec pwd; }
tool there { exec pwd; cwd /usr/bin/../bin; }
tool where { exec pwd; cwd $tool_arg_path; }
tool fds { exec ls /proc/self/fd; }
tool status {
    exec grep -E '^(Sig(Blk|Ign)|NoNewPrivs|Umask):' /proc/self/status;
}
tool stat { exec cat /proc/self/stat; }
tool stdin { exec readlink /proc/self/fd/0; stdin ''; }
tool named { exec sh -c 'echo one two | cat'; }
method args { output text; exec printf '%s.' $tool_arg_x $tool_arguments; }
END
my $client = $tg->connect;

sub value {
    my ($name, $arguments) = @_;
    return text_of($client->call_tool($name, $arguments));
}

# --- arguments ------------------------------------------------------------

for my $x ('plain', '', ' ', '-n', '--version', "two\nlines\n", q('"`$(id)`"'),
    '$HOME;id|cat>x&', '*', "tab\t", '\\', "\x{e9}\x{1f600}", '%s %d')
{
    is value(args => { x => $x, y => 'c' }), "[a]\n[$x]\n[b $x]\n[c]\n",
        'as they are: ' . Toolgate::Client->encode($x);
}
is value('args'), "[a]\n[]\n[b ]\n[]\n", 'those that are missing are empty';
is value(args => { x => [ 1, 'b' ], y => JSON::PP::true }),
    "[a]\n[[1,\"b\"]]\n[b [1,\"b\"]]\n[true]\n", 'as JSON what is no string';
is value('named'), "one two\n", 'those of the config';
my $long = 'x' x 100_000;
is value(args => { x => $long, y => '' }), "[a]\n[$long]\n[b $long]\n[]\n",
    'long ones';
my $reply = $client->call_tool(args => { x => 'x' x 200_000 });
ok $reply->{result}{isError}, 'one that is too long';
like text_of($reply), qr/larger than the system allows.*standard input/,
    'says so';
$reply = $client->call_tool(args => { x => "a\0b" });
ok $reply->{result}{isError}, 'one with a NUL';
like text_of($reply), qr/NUL/, 'says so';
is $client->rpc('args', { x => 'y' })->{result}, 'y.{"x":"y"}.', 'a method';

# --- input ----------------------------------------------------------------

is value(cat => { b => 1, a => [] }), '{"a":[],"b":1}', 'the arguments';
is value('cat'), '{}', 'no arguments';
is value(text => { text => "a\n\x{e9}" }), "a\n\x{e9}", 'a text';
is value(text => { text => "a\0b" }), "a\0b", 'with a NUL';
is value('none'), '', 'nothing';
is value('slow', { x => 'y' }) + 0, length '{"x":"y"}', 'who reads late';
my $large = 'x' x 5_000_000;
ok value(text => { text => $large }) eq $large, '5 MB there and back';
is value('deaf', { x => $large }), '', '5 MB for who reads nothing';

# --- environment ----------------------------------------------------------

my $home = (getpwuid $>)[7];
my @base = (
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    "HOME=$home", 'TOOL_PROGRESS_FD=3',
);
is_deeply [ sort split /\n/, value('env') ],
    [ sort @base, 'LANG=C.UTF-8', 'TOOL_NAME=env' ], 'no other variable';
is_deeply [ sort split /\n/, value(more => { x => '1 2' }) ],
    [ sort @base, 'LANG=de_DE.UTF-8', 'TOOL_NAME=more', 'X=1 2',
    '_A_1==b="c"' ], 'those of the config';
my $said = "\n'\"\$x\n";
is value(said => { x => $said }), $said, 'a value as it is';

# --- the folder -----------------------------------------------------------

is value('here'), "/\n", 'at the root';
is value('there'), "/usr/bin\n", 'where the config says';
is value(where => { path => '/usr/lib' }), "/usr/lib\n", 'or the call';
$reply = $client->call_tool(where => { path => '/no/folder' });
ok $reply->{result}{isError}, 'in a folder that is missing';
like text_of($reply), qr{/no/folder.*No such file}s, 'says so';

# --- descriptors ----------------------------------------------------------

# Its progress goes to 3; ls itself opens 4.
is value('fds'), "0\n1\n2\n3\n4\n", 'no descriptor but its own';
like value('stdin'), qr{^/dev/null$|^pipe:}, 'no input is the end of file';
my %status = map { split /:\s+/ } split /\n/, value('status');
# glibc's posix_spawn() ignores 32 and 33, which are its own.
$status{SigIgn} =~ s/^00000001800/00000000000/;
is_deeply \%status, {
    Umask      => '0022',
    NoNewPrivs => 1,
    SigBlk     => '0' x 16,
    SigIgn     => '0' x 16,
}, 'no signal is blocked or ignored, and it gains no rights';
my @stat = value('stat') =~ /^(\d+) .*\) \S (\d+) (\d+) (\d+) (\d+)/s;
is $stat[2], $stat[0], 'its own process group';
is $stat[3], $stat[0], 'its own session';
is $stat[4], 0, 'no terminal';
ok !-e "$dir/$_" && !-e "/$_", 'no shell was there' for 'x', 'x&';

# --- priority ----------------------------------------------------------------

# The runner has this test's nice value, and the kernel's maximum is 19.
my $own = getpriority 0, 0;
for my $row ([ inherits => 3 ], [ normal => 0 ], [ lowest => 19 ]) {
    my ($name, $nice) = @$row;
    my $sum = $own + $nice;
    is value($name), ($sum < 19 ? $sum : 19) . "\n", "$name: its nice value";
}
for my $value (-1, 20, 'low') {
    my ($status, $out) = $tg->test_conf("tool t { exec true; nice $value; }");
    like $out, qr/invalid number "$value" in "nice"; write 0 to 19/,
        "nice $value is refused";
}

done_testing;
