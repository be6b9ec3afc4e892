#!/usr/bin/perl
# Loading of `library`: `nginx -t` finds errors in the file, its handler and its
# ARGUMENTs; a process that only signals does not load it; and the one public
# header compiles alone, in C and in C++.

use Toolgate::Test qw(Native);

my $top = Toolgate::Test::top();
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $so = Toolgate::Native->probe("$dir/probe.so", 'one');

# --- the header -------------------------------------------------------------

# The layout for which other libraries were built does not change.
my $layout = <<'END';
#define TOOLGATE_IS_AT(type, member, offset) \
    STATIC_ASSERT(offsetof(type, member) == (offset), #member)
STATIC_ASSERT(TOOLGATE_ABI == 1, "what follows is of version 1");
#if UINTPTR_MAX == UINT64_MAX
TOOLGATE_IS_AT(toolgate_text_t, len, 8);
TOOLGATE_IS_AT(toolgate_api_t, reply, 8);
TOOLGATE_IS_AT(toolgate_api_t, fail, 16);
TOOLGATE_IS_AT(toolgate_api_t, progress, 24);
TOOLGATE_IS_AT(toolgate_api_t, is_wanted, 32);
TOOLGATE_IS_AT(toolgate_api_t, log, 40);
TOOLGATE_IS_AT(toolgate_tool_t, api, 8);
TOOLGATE_IS_AT(toolgate_tool_t, name, 16);
TOOLGATE_IS_AT(toolgate_tool_t, args, 32);
TOOLGATE_IS_AT(toolgate_tool_t, nargs, 40);
TOOLGATE_IS_AT(toolgate_request_t, call, 8);
TOOLGATE_IS_AT(toolgate_request_t, tool, 16);
TOOLGATE_IS_AT(toolgate_request_t, state, 24);
TOOLGATE_IS_AT(toolgate_request_t, arguments, 32);
TOOLGATE_IS_AT(toolgate_request_t, args, 48);
TOOLGATE_IS_AT(toolgate_handler_t, size, 4);
TOOLGATE_IS_AT(toolgate_handler_t, check, 8);
TOOLGATE_IS_AT(toolgate_handler_t, load, 16);
TOOLGATE_IS_AT(toolgate_handler_t, unload, 24);
TOOLGATE_IS_AT(toolgate_handler_t, call, 32);
TOOLGATE_IS_AT(toolgate_handler_t, cancel, 40);
#endif
END
my $handler = <<'END';
static void
call(const toolgate_request_t *request)
{
    if (TOOLGATE_HAS(toolgate_api_t, request->tool->api, log)) {
        (void) request->tool->api->reply(request->call, LANGUAGE, 3);
    }
}
TOOLGATE_HANDLER(toolgate_handler) = { TOOLGATE_HEAD, NO, NO, NO, call, NO };
END
my %language = (
    c => [ '-std=c11', 'gcc', 'clang',
        '#define STATIC_ASSERT _Static_assert', 'NULL' ],
    cc => [ '-std=c++11', 'g++', 'clang++',
        '#define STATIC_ASSERT static_assert', 'nullptr' ],
);
my @built;
for my $ext (sort keys %language) {
    my ($std, @rest) = @{ $language{$ext} };
    my ($gnu, $clang, $define, $null) = @rest;
    my $source = $tg->file("header.$ext", join "\n",
        '#include <toolgate_handler.h>', '#include <toolgate_handler.h>',
        $define, "#define NO $null", "#define LANGUAGE \"$ext!!\"",
        $layout, $handler);
    for my $compiler ($gnu, $clang) {
        SKIP: {
            skip "no $compiler" if !grep { -x "$_/$compiler" }
                split /:/, $ENV{PATH};
            my $object = "$dir/$compiler.so";
            my ($status, $out, $err) = run_command({ timeout => 300 },
                $compiler, $std, qw(-pedantic -Wall -Wextra -Werror -shared
                    -fPIC -fvisibility=hidden), "-I$top/module/api", '-o',
                $object, $source);
            is $status, 0, "$compiler $std takes the header alone"
                or diag $out . $err;
            push @built, $compiler;
        }
    }
}
ok scalar(grep {/\+\+/} @built), 'C++ was tried';
ok scalar(grep { !/\+\+/ } @built), 'and C';

# No other header of ours is included, and no library of ours is used.
is_deeply [ grep { !/<(?:stddef|stdint)\.h>/ }
        slurp("$top/module/api/toolgate_handler.h") =~ /^#include (\S+)/mg ],
    [], 'the header includes nothing but what C has';

# --- mistakes ---------------------------------------------------------------

$tg->file('text.so', 'no library');
$tg->file('other.so', 'no library' x 100);
$tg->file('empty.so', '');
$tg->file('undefined.c',
    "int nobody_has_this(void);\nint f(void);\n"
        . "int f(void) { return nobody_has_this(); }\n");
run_command({}, qw(gcc -shared -fPIC -o), "$dir/undefined.so",
    "$dir/undefined.c");
mkdir "$dir/folder.so" or die "mkdir: $!\n";

# Arguments of `library`, and parts of the message.
my $handler_of = qq("$so" of "library" has no handler);
for my $case (
    [ 'no/such.so', qq("$dir/no/such.so" of "library" cannot be read),
        'write the full path of a shared object', '(2: No such file' ],
    [ 'folder.so', 'is not a shared object: it is not a regular' ],
    [ 'text.so', 'text.so" of "library" cannot be loaded: file too short',
        'build it with "-shared" for this machine' ],
    [ 'other.so', 'other.so" of "library" cannot be loaded: invalid ELF' ],
    [ 'empty.so', 'empty.so" of "library" cannot be loaded: file too sh' ],
    [ 'undefined.so', 'loaded: undefined symbol: nobody_has_this;' ],
    [ 'probe.so no_such', qq($handler_of "no_such"; name the one) ],
    [ 'probe.so probe_function', qq($handler_of "probe_function") ],
    [ 'probe.so probe_number', qq($handler_of "probe_number") ],
    [ 'probe.so probe_other_abi',
        qq("probe_other_abi" in "$so" was built with version 7 of ),
        'this module needs version 1; build it with the header' ],
    [ 'probe.so probe_short',
        qq("probe_short" in "$so" is not a complete handler),
        'begin it with TOOLGATE_HEAD' ],
    [ 'probe.so probe_no_call', '"probe_no_call"', 'give it a call()' ],
    [ 'probe.so probe_refuse', '"probe_refuse" in',
        'refuses: "t" has 0 arguments, the first not; write one' ],
    [ 'probe.so probe_refuse a b',
        'refuses: "t" has 2 arguments, the first known; write one' ],
    [ 'probe.so probe_refuse $tool_arg_a',
        'refuses: "t" has 1 arguments, the first not' ],
    [ 'probe.so $tool_arg_a',
        '"library" directive needs a file and a symbol without variables',
        'write "library FILE SYMBOL ARGUMENT' ],
    [ '$tool_arg_a', 'needs a file and a symbol without' ],
    [ '""', 'needs a file and a symbol without' ],
    [ 'probe.so probe_say $no_such_variable', 'no_such_variable' ],
    [ 'probe.so; return x', '"return" directive is a second handler' ],
    [ 'probe.so; stdin x', 'has no "exec", so "stdin"' ],
) {
    my ($config, @pieces) = @$case;
    my ($status, $out) = $tg->test_conf("tool t {\nlibrary $config;\n}");
    isnt $status, 0, "library $config: refused";
    for my $piece (@pieces) {
        ok index($out, $piece) >= 0, "library $config: $piece" or diag $out;
    }
    unlike $out, qr{/proc/}, 'without the name of a copy';
    like $out, qr/test\.conf:\d+/, 'and where' if $config !~ /return|stdin/;
}

# A rejected config does not change the running one.
$tg->conf("tool t { library probe.so; }\ntool n { return 1; }")->start;
my $client = $tg->connect;
is text_of($client->call_tool('t')), 'one', 'it runs';
like $tg->reload_fails('tool t { library text.so; }'),
    qr/text\.so" of "library" cannot be loaded/, 'a reload is refused';
is text_of($client->call_tool('t')), 'one', 'and it continues';
$tg->conf("tool t { library probe.so; }\ntool n { return 1; }");

# --- a process that only signals --------------------------------------------

# Its constructor records in which processes it was loaded.
$tg->file('mark.c', <<"END");
#include <toolgate_handler.h>
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void
mark(void)
{
    int fd = open("$dir/marks", O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd == -1 || write(fd, "x", 1) != 1 || close(fd) != 0) {
        _exit(99);
    }
}
static void
call(const toolgate_request_t *request)
{
    (void) request->tool->api->reply(request->call, "marked", 6);
}
TOOLGATE_HANDLER(toolgate_handler) = { TOOLGATE_HEAD, 0, 0, 0, call, 0 };
END
my ($status, $out, $err) = run_command({}, qw(gcc -shared -fPIC -o),
    "$dir/mark.so", "-I$top/module/api", "$dir/mark.c");
is $status, 0, 'a library that reports' or diag $err;
sub marks { return -s "$dir/marks" // 0 }
my $marked = "tool t { library mark.so; }\n"
    . 'tool u { library mark.so toolgate_handler a; }';
($status) = $tg->test_conf($marked);
is $status, 0, 'nginx -t';
is marks(), 1, 'has loaded it, once for both tools';
$tg->reload($marked);
is marks(), 2, 'a reload loads it once, in the master; workers inherit it';
is text_of($client->call_tool('t')), 'marked', 'and have it';
($status) = run_command({ env => $tg->nginx_env },
    $tg->nginx_command('-s', 'reopen'));
is $status, 0, 'a signal';
is marks(), 2, 'loads nothing';

# --- copies -----------------------------------------------------------------

# The copy is sealed: a worker, which has its descriptor, cannot change what the
# master runs.
my ($worker) = $tg->worker_pids;
my @copies = grep { (readlink // '') =~ m{/memfd:mark\.so} }
    glob "/proc/$worker/fd/*";
is scalar(@copies), 1, 'a worker has the descriptor of the copy';
my $is_open = open my $fh, '+<', $copies[0];
ok !($is_open && syswrite $fh, 'x'), 'and cannot write to it';

# Many configs leave as much as one.
sub mapped {
    my $n = () = (slurp('/proc/' . $tg->master_pid . '/maps') // '')
        =~ m{/memfd:}g;
    return $n;
}
$tg->reload($marked) for 1 .. 3;
my ($maps, $fds) = (mapped(), master_fds($tg));
$tg->reload($marked) for 1 .. 20;
is mapped(), $maps, 'old copies are unmapped';
is master_fds($tg), $fds, 'and closed';
$tg->reload_fails("$marked\ntool w { library probe.so probe_refuse; }");
wait_for { return mapped() == $maps } 'those of a refused config to be gone';
$tg->reload('tool n { return 2; }');
wait_for { return mapped() == 0 } 'all to be gone with the last tool';
pass 'nothing is left of libraries that are not used';
$tg->stop;

# --- load() -----------------------------------------------------------------

my $moody = Toolgate::Test->new;
Toolgate::Native->probe($moody->dir . '/probe.so', 'one');
my $file = $moody->dir . '/there';
$moody->conf("tool m { library probe.so probe_moody $file; }\n"
        . 'tool n { return fine; }')->start;
$client = $moody->connect;
my $answer = $client->call_tool('m')->{result};
ok $answer->{isError}, 'one that does not load';
is $answer->{content}[0]{text}, 'the file is missing', 'says why';
$moody->wait_log(qr/\[error\] .*"m": "probe_moody" in ".*probe\.so" cannot/);
is text_of($client->call_tool('n')), 'fine', 'others are not concerned';
$moody->file('there', '');
wait_for { return !$client->call_tool('m')->{result}{isError} }
    'it to be tried again';
is text_of($client->call_tool('m', { a => 1 })), '{"a":1}', 'then it works';

done_testing;
