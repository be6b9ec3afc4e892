#!/usr/bin/perl
# The command line with the real server: the three commands, and calls during
# reloads.

use Toolgate::Test qw(Command);

my $tg = Toolgate::Test->new;
my $tools = <<'END';
tool word_count {
    description  "Counts the words of a text.";
    input_schema '{"type":"object","properties":{"text":{"type":"string"},
                  "times":{"type":"integer"}},"required":["text"]}';
    exec         wc -w;
    stdin        $tool_arg_text;
}
tool greet { description "Greets."; return "hello $tool_arg_name"; }
tool fail  { description "Fails."; exec sh -c "echo oh no >&2; exit 3"; }
tool sleep { description "Sleeps."; exec sleep 600; timeout 700s; }
method build.status { return '{"ok":true}'; output json; }
END
$tg->conf("tool_server_name demo;\n$tools")->start;

my ($status, $out, $err) = $tg->cli('ping');
is $status, 0, 'ping: status';
like $out, qr/^demo \S+ answered on /, 'ping: the server\'s name';

($status, $out) = $tg->cli('list');
is $status, 0, 'list: status';
like $out, qr/^word_count text=STRING \[times=INTEGER\]\n    Counts the words/,
    'list: a tool';
is scalar(() = $out =~ /^\w/mg), 4, 'list: tools, and no methods';

($status, $out, $err) = $tg->cli('call', 'word_count', 'text=one two three');
is $status, 0, 'call: status';
like $out, qr/^\s*3$/, 'call: a program\'s output';
is $err, '', 'call: nothing on stderr';
($status, $out) =
    $tg->cli({ stdin => '{"text":"a b"}' }, 'call', 'word_count', '-');
like $out, qr/^\s*2$/, 'call: arguments from standard input';
($status, $out) = $tg->cli('call', 'greet', 'name=A');
is $out, 'hello A', 'call: text as it is';
($status, $out) = $tg->cli('call', 'greet', 'name=A', '--json');
is(Toolgate::Client->decode($out)->{content}[0]{text}, 'hello A',
    'call --json: the result');

($status, $out, $err) = $tg->cli('call', 'fail');
is $status, 1, 'a failing program: status';
like $err, qr/status 3.*oh no/s, 'a failing program: why';
($status, $out, $err) = $tg->cli('call', 'word_count', 'text=a', 'times=true');
is $status, 1, 'arguments that do not fit: status';
like $err, qr/times/, 'arguments that do not fit: which';
($status, $out, $err) = $tg->cli('call', 'wordcount');
is $status, 1, 'an unknown tool: status';
like $err, qr/did you mean word_count\?/, 'an unknown tool: what was meant';
($status, $out) = $tg->cli('call', '--method', 'build.status', '--json');
is $out, qq({"ok":true}\n), 'a method';
($status, $out, $err) = $tg->cli('call', '--method', 'build.start');
is $status, 1, 'an unknown method: status';
like $err, qr/error -32601/, 'an unknown method: said so';

# Ctrl-C stops the tool's program.
my $cli = Toolgate::Command::start($tg, 'call', 'sleep');
my $sleeper = wait_for {
    my $processes = $tg->processes;
    return (grep { $processes->{$_} =~ /sleep 600$/ } keys %$processes)[0];
} 'the tool to start';
$cli->signal('INT');
($status) = Toolgate::Command::finish($cli);
is $status, 130, 'Ctrl-C: status';
ok wait_for(sub { !is_alive($sleeper) }, 'the tool to end'),
    'Ctrl-C: the tool has ended';

# Reloads during calls: none is lost, none fails.
my $pid = fork // die "fork: $!";
if ($pid == 0) {
    my $ok = eval {
        $tg->reload for 1 .. 8;
        1;
    };
    print STDERR $@ if !$ok;
    POSIX::_exit(!$ok);
}
my ($calls, @failed) = (0);
while (waitpid($pid, POSIX::WNOHANG()) == 0) {
    ($status, $out, $err) = $tg->cli('call', 'greet', "name=$calls");
    push @failed, "$status $out $err" if $out ne "hello $calls";
    $calls++;
}
is $?, 0, 'eight reloads';
is_deeply \@failed, [], "$calls calls during them";

is $tg->stop, 0, 'NGINX stops';
($status, $out, $err) = $tg->cli('list');
is $status, 2, 'and the server no longer runs';

done_testing;
