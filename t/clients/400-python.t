#!/usr/bin/perl
# libtoolgate from Python: the package of docs/examples, copied as a user
# would; its example with an agent; all that library.py tries; its types.

use Toolgate::Test plain_too => 'Python preloads the sanitizers';
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $top = Toolgate::Test::top();
my $build = Toolgate::Test::build_dir();
my %env = (
    %{ $tg->san_env('detect_leaks=0') },
    PYTHONPATH              => "$dir/python",
    PYTHONDONTWRITEBYTECODE => 1,
    TMPDIR                  => $dir,
    TOOLGATE_LIBRARY        => "$build/libtoolgate.so",
    XDG_RUNTIME_DIR         => undef,
);
if ($BUILD_ENV{san}) {
    # Python itself is built without.
    $env{LD_PRELOAD} = join ':', sanitizers();
}
system('cp', '-r', "$top/docs/examples/python", $dir) == 0 or die 'cp';
my @python = 'python3';

sub left { return join ' ', glob "$dir/claudecode_ipc* $dir/toolgate*" }

# --- the example, with an agent ---

my $host = $tg->spawn({ env => \%env }, @python, "$dir/python/host.py");
my ($entry) = values %{ decode_json($host->recv_line)->{mcpServers} };
my $agent = $tg->spawn({}, $entry->{command}, @{ $entry->{args} });
is $agent->rpc('initialize', {
    protocolVersion => '2025-11-25', capabilities => {},
    clientInfo      => { name => 'agent', version => '1' },
})->{result}{instructions}, 'Counts words, and waits.',
    'an agent is greeted by a program in Python';
my $text = sub { $agent->call_tool(@_)->{result}{content}[0]{text} };
is $text->('count', { text => "a b\nc" }), 3, 'a tool';
is $text->('count', { text => "a b\nc", what => 'lines' }), 2,
    'with another argument';
like $text->('count', { text => 'a', what => 'bytes' }), qr/words/,
    'its types hold';
is $text->('wait', { seconds => 0.01 }), 'done', 'one that waits';
my $prompt = $agent->rpc('prompts/get',
    { name => 'plan', arguments => { day => 'monday' } });
like $prompt->{result}{messages}[0]{content}{text},
    qr/^Plan my monday with a focus on the most important task/, 'a prompt';
my $read = sub { $agent->rpc('resources/read', { uri => "notes:///$_[0]" }) };
is $read->('tuesday')->{result}{contents}[0]{text}, 'Write the report.',
    'a resource';
is_deeply $read->('sunday')->{error}{data}, { uri => 'notes:///sunday' },
    'one that there is not';
$agent->request('tools/call', { name => 'wait',
    arguments => { seconds => 3600 }, _meta => { progressToken => 'p' } });
like $agent->recv_json->{params}{message}, qr/ s left/, 'says how long';
$host->shutdown_write;
is $host->wait_exit, 0, 'the host ends with a call under way';
is left(), '', 'and leaves nothing';
$agent->stop;

# --- all of it ---

my ($status, $out, $err) = run_command({ env => \%env, timeout => 300 },
    @python, "$top/t/clients/library.py", "$build/toolgate-bridge");
is $status, 0, 'library.py ends well' or diag $err;
is $err, '', 'without a word';
my @told = split /\n/, $out;
cmp_ok scalar @told, '>', 45, 'all of it was tried';
while (defined(my $line = shift @told)) {
    ok $line =~ /^ok - /, $line =~ s/^(?:not )?ok - //r
        or diag shift @told // '';
}
is left(), '', 'it leaves nothing';

# --- its types ---

($status, $out) = run_command({
        cwd => "$dir/python", timeout => 300, env => { MYPYPATH => '.' },
    },
    qw(mypy --strict --cache-dir), "$dir/mypy", qw(toolgate host.py),
    "$top/t/clients/library.py");
is $status, 0, 'mypy --strict finds nothing' or diag $out;

# --- what goes wrong at once ---

(undef, undef, $err) = run_command({
        env => { %env, TOOLGATE_LIBRARY => "$dir/none.so" },
    }, @python, '-c', 'import toolgate');
like $err, qr/ImportError: .*none\.so.*install Toolgate, or name the file in/,
    'a library that is not there';

done_testing;
