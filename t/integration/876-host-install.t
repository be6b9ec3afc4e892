#!/usr/bin/perl
# The installed library: only the header, in C and C++; the two examples, built
# with pkg-config and with the archive; the exports; and a change of the
# interface is detected.

use Toolgate::Test plain_too => 'sanitizers add libraries to a link';
use File::Basename qw(dirname);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $top = Toolgate::Test::top();
my $build = Toolgate::Test::build_dir();
my $cc = "$BUILD_ENV{cc} $BUILD_ENV{san}";
my $libraries = join ':', "$dir/usr/lib", map { dirname($_) } sanitizers();

# --- installed ---

my ($status, $out, $err) = run_command({
        cwd => $top,
        env => {
            TOOLGATE_BUILD => $build,
            PREFIX         => "$dir/usr",
            STREAM_MODULE  => $BUILD_ENV{stream_module},
        },
    },
    '/bin/bash', '-c',
    ". ./build.sh help >/dev/null; find_nginx() { :; }; install_all");
is $status, 0, 'it is installed' or diag $err;
ok -s "$dir/usr/$_", $_
    for qw(include/toolgate.h include/toolgate_client.h lib/libtoolgate.so
    lib/libtoolgate.so.1 lib/libtoolgate.a lib/pkgconfig/toolgate.pc
    bin/toolgate-bridge);

sub shell {
    my ($line, %env) = @_;
    my ($status, $out, $err) = run_command({
            cwd     => $dir,
            timeout => 300,
            env     => {
                PKG_CONFIG_PATH => "$dir/usr/lib/pkgconfig",
                LD_LIBRARY_PATH => $libraries,
                %env,
            },
        },
        '/bin/sh', '-c', $line);
    return $status == 0 ? $out . $err : "status $status: $out$err";
}

my ($version) = slurp("$top/module/base/tg_base.h")
    =~ /TG_VERSION "(.*)"/;
is shell('pkg-config --modversion toolgate'), "$version\n",
    'pkg-config knows its version';

# --- the header ---

$tg->file('alone.c', "#include <toolgate.h>\nint alone(void);\n"
    . "int alone(void) { return TOOLGATE_ERR_IPC; }\n");
my $flags = "-Wall -Wextra -pedantic -Werror -Iusr/include -c -o alone.o";
is shell("gcc -std=c11 $flags alone.c"), '', 'the header alone, in C11';
is shell("gcc -std=c11 -DTOOLGATE_UV $flags alone.c"), '', 'and with libuv';
is shell("g++ -std=c++$_ $flags -x c++ alone.c"), '', "in C++$_"
    for qw(98 11 20);

# --- the examples ---

# Plays an example's agent, by the config that it prints.
sub agent {
    my ($host, $what) = @_;
    my $config = decode_json($host->recv_line)->{mcpServers};
    my ($entry) = values %$config;
    is $entry->{command}, "$dir/usr/bin/toolgate-bridge",
        "$what: its bridge is the installed one";
    ok -S $entry->{args}[0], "$what: its socket is there";
    my $agent = $tg->spawn({}, $entry->{command}, @{ $entry->{args} });
    ok $agent->rpc('initialize', {
        protocolVersion => '2025-11-25', capabilities => {},
        clientInfo      => { name => 'agent', version => '1' },
    })->{result}{capabilities}{tools}, "$what: the agent is greeted";
    return ($agent, $entry->{args});
}

sub text { return $_[0]{result}{content}[0]{text} }

my %play = (
    host_loop => sub {
        my ($host, $what) = @_;
        my ($agent, $files) = agent($host, $what);
        is text($agent->call_tool('word_count', { text => ' one  two 3 ' })),
            3, "$what: counts";
        like text($agent->call_tool('word_count', { text => 3 })),
            qr/expected string/, "$what: its schema holds";
        return @$files;
    },
    host_threads => sub {
        my ($host, $what) = @_;
        my ($agent, $files) = agent($host, $what);
        my $client = Toolgate::Client->connect($files->[0]);
        my %primes = (0 => 0, 3 => 1, 100 => 25, 100_000 => 9592);
        is text($client->call_tool('primes', { below => $_ })), $primes{$_},
            "$what: primes below $_" for sort { $a <=> $b } keys %primes;
        $client->request('tools/call', {
            name => 'primes', arguments => { below => 1_000_000_000 },
            _meta => { progressToken => 'p' },
        }) for 1 .. 8;
        is $client->recv_json->{params}{message}, 'counting',
            "$what: says how far it is";
        $client->close;
        is text($agent->call_tool('primes', { below => 10 })), 4,
            "$what: who has gone is worked for no more";
        return @$files;
    },
);

sub example {
    my ($name, $line, $what) = @_;
    system('cp', "$top/docs/examples/$name.c", $dir) == 0 or die 'cp';
    is shell($line), '', "$what: is built without a warning" or return;
    my $host = $tg->spawn({
        env => {
            LD_LIBRARY_PATH => $libraries,
            PATH            => "$dir/usr/bin:$ENV{PATH}",
            XDG_RUNTIME_DIR => undef,
            TMPDIR          => $dir,
        },
    }, "$dir/$name");
    my @files = $play{$name}->($host, $what);
    $host->stop;
    is $host->wait_exit, 0, "$what: ends well";
    ok !-e $_, "$what: $_ is gone" for @files;
}

for my $name (sort keys %play) {
    my $source = slurp("$top/docs/examples/$name.c");
    my ($line) = $source =~ m{^ \*     (cc -o (?:.*\\\n)*.*)$}m;
    $line =~ s/^ \* +//mg;
    like $line, qr/\Q$name\E\.c /, "$name: one line";
    like $line, qr/pkg-config --cflags --libs toolgate/, 'with pkg-config';
    $line =~ s/^cc /$cc -Wall -Wextra -Wno-unused-parameter -Werror /;
    example($name, $line, $name);
    unlike shell("readelf -d $name"), qr/R(?:UN)?PATH/, "$name: as is usual";
    (my $static = $line) =~ s{\$\(pkg-config .*}
        {\$(pkg-config --cflags toolgate) usr/lib/libtoolgate.a -luv}s;
    $static .= ' -lpcre2-8 -lpthread -ldl';
    example($name, $static, "$name, from the archive");
    unlike shell("ldd $name"), qr/libtoolgate/, "$name: has it inside";
}

# --- exports ---------------------------------

is shell("cd $top && perl t/lint/abi.pl $build"), '',
    'the libraries export what the header has, and nothing else';
mkdir "$dir/$_" or die "$_: $!\n"
    for qw(tree tree/module tree/module/api tree/module/lib);
for my $file (qw(api/toolgate.h api/toolgate_client.h lib/toolgate.abi
    lib/toolgate.map))
{
    $tg->file("tree/module/$file", slurp("$top/module/$file"));
}
is shell("cd tree && perl $top/t/lint/abi.pl"), '', 'a copy of it is the same';

sub broken {
    my ($file, $from, $to, $pattern, $name) = @_;
    my $text = slurp("$top/module/$file");
    (my $changed = $text) =~ s/$from/$to/ or die "$from is not in $file\n";
    $tg->file("tree/module/$file", $changed);
    like shell("cd tree && perl $top/t/lint/abi.pl"), $pattern, $name;
    $tg->file("tree/module/$file", $text);
}

broken('api/toolgate.h', qr/toolgate_reply\(toolgate_call_t call, const/,
    'toolgate_reply(toolgate_call_t call, int flags, const',
    qr/lacks or changes what TOOLGATE_1 has: function int toolgate_reply/,
    'a function with one more argument is noticed');
broken('api/toolgate.h', qr/TOOLGATE_ERR_GONE = -10/, 'TOOLGATE_ERR_GONE = -12',
    qr/changes what TOOLGATE_1 has: constant TOOLGATE_ERR_GONE = -10/,
    'so is a number that is another one');
broken('api/toolgate.h', qr/typedef uint64_t toolgate_call_t/,
    'typedef uint32_t toolgate_call_t', qr/type uint64_t toolgate_call_t/,
    'and a type');
broken('lib/toolgate.map', qr/ +toolgate_stop;\n/, '',
    qr/toolgate\.map: lacks toolgate_stop/, 'and a symbol that is gone');
broken('api/toolgate.h', qr/(?=TOOLGATE_API int toolgate_stop)/,
    "TOOLGATE_API int toolgate_new(void);\n",
    qr/lacks "function int toolgate_new\(void\)"; perl t\/lint\/abi/,
    'what is new has to be added');

done_testing;
