#!/usr/bin/perl
# Server messages cannot take control of a terminal.

use Toolgate::Test qw(Command Terminal);
use Toolgate::Parent qw(answer give refuse request text_result);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);

# Returns toolgate's output on a terminal of some width; $serve answers it.
sub show {
    my ($columns, $serve, @args) = @_;
    my ($pid, $screen) = Toolgate::Terminal::run($tg, $columns, @args);
    $serve->(greet($parent));
    return Toolgate::Terminal::end($pid, $screen);
}

plan(skip_all => 'no terminals here') if !Toolgate::Terminal::pair(80);

my $evil = "a\e]0;x\a\e[2J\r\x{9b}31m\x{202e}b\tc\x7f";
my $tame = 'a\u001b]0;x\u0007\u001b[2J\u000d\u009b31m\u202eb'
    . "\tc" . '\u007f';

sub call {
    my ($result) = @_;
    return sub {
        my ($conn) = @_;
        give($conn, 'tools/call', $result);
    };
}

sub screen {
    my ($text) = @_;
    # The terminal may expand tabs.
    $text =~ s/[ \t]+/ /g;
    return $text;
}

my ($status, $text) =
    show(80, call(text_result("$evil\x{fc}")), 'call', 'x');
is $status, 0, 'call: status';
is screen($text), screen("$tame\xc3\xbc\n"),
    'call: visible, with a newline at the end';
($status, $text) = show(
    80,
    call({ %{ text_result($evil) }, isError => \1 }),
    'call', 'x');
is $status, 1, 'isError: status';
is screen($text), screen("$tame\n"), 'isError: visible';

($status, $text) =
    show(80, call(text_result($evil)), 'call', 'x', '--json');
like $text, qr/u009b31m\\u202eb/, '--json: visible, and still JSON';
is +Toolgate::Client->decode($text)->{content}[0]{text}, $evil,
    '--json: the same text';

($status, $text) = show(
    80,
    sub {
        my ($conn) = @_;
        refuse($conn, request($conn, 'm'), -1, $evil);
    },
    'call', '--method', 'm');
is screen($text),
    screen("toolgate: the server answered with error -1: $tame\n"),
    'an error: visible';

($status, $text) = show(
    44,
    sub {
        my ($conn) = @_;
        my $description = join(' ', ('word') x 20) . "\n  kept   as it is\n";
        give($conn, 'tools/list', {
                tools => [
                    Toolgate::Parent::tool("a\e[1m", description => $evil),
                    Toolgate::Parent::tool('b', description => $description),
                ],
            });
    },
    'list');
my $line = '    ' . join(' ', ('word') x 8) . "\n";
is screen($text),
    screen("a\\u001b[1m\n    $tame\nb\n" . $line x 2
        . "    word word word word\n      kept   as it is\n"),
    'list: visible, and no wider than the terminal';

sub submitted {
    my ($conn) = @_;
    give($conn, 'task.submit', { taskId => $evil, state => 'queued' });
}
($status, $text) = show(80, \&submitted, 'task', 'submit', 'x');
is screen($text), screen("$tame\n"), 'the id of a task: visible';

# A list without tools is requested once.
sub hollow {
    my ($conn) = @_;
    give($conn, 'task.output', { taskId => 'task-0000', state => 'completed',
            offset => 0, output => '', next => 0, size => 10 });
}
($status, $text) = show(80, \&hollow, 'task', 'output', 'task-0000');
is "$status$text", '0', 'an output that does not come ends';

# Progress: a line that is redrawn, and finally erased.
my ($asked, $meta);
sub progress {
    my ($conn) = @_;
    $asked = request($conn, 'tools/call');
    $meta = $asked->{params}{_meta};
    for my $params (
        { progress => 1, total => 3, message => "one\e[2J" },
        { progress => 2, total => 3, message => 'x' x 200 },
        { progress => 'no' })
    {
        $conn->send_line({
            jsonrpc => '2.0',
            method  => 'notifications/progress',
            params  => {
                progressToken => $asked->{params}{_meta}{progressToken},
                %$params,
            },
        });
    }
    answer($conn, $asked, text_result('done'));
}
($status, $text) = show(40, \&progress, 'call', 'x');
is $status, 0, 'progress: status';
is $text, "\r\e[K1/3 one\\u001b[2J\r\e[K2/3 " . 'x' x 35 . "\r\e[Kdone\n",
    'progress: one line, as wide as the terminal';
ok defined $meta->{progressToken}, 'it is asked for';

# A terminal of unknown size has the usual width.
($status, $text) = show(
    0,
    sub {
        my ($conn) = @_;
        give($conn, 'tools/list', { tools => [
            Toolgate::Parent::tool('b', description => 'word ' x 40) ] });
    },
    'list');
is screen($text),
    screen(join '', "b\n", map { '    ' . join(' ', ('word') x $_) . "\n" }
        15, 15, 10), 'a terminal of size 0';
($status, $text) = show(0, \&progress, 'call', 'x');
is $text, "\r\e[K1/3 one\\u001b[2J\r\e[K2/3 " . 'x' x 75 . "\r\e[Kdone\n",
    'its progress';

# A terminal without a cursor gets only text.
{
    local $ENV{TERM} = 'dumb';
    ($status, $text) = show(40, \&progress, 'call', 'x');
    is $text, "done\n", 'TERM=dumb: no progress';
    ok !defined $meta, 'TERM=dumb: none is asked for';

    my %status = (version => 1, servers => [], runners => [], calls => []);
    for my $args ([qw(ps)], [qw(status)], [qw(task list)]) {
        my ($pid, $screen) =
            Toolgate::Terminal::run($tg, 40, @$args, '--watch');
        my $conn = greet($parent);
        give($conn, "@$args" eq 'task list' ? 'task.list' : 'toolgate.status',
            "@$args" eq 'task list' ? [] : \%status) for 1 .. 2;
        my $first;
        wait_for {
            $screen->fill(time + 1);
            ($first) = $screen->buffered =~ /^(\S+ +.*)\r\n/;
            return $first && $screen->buffered =~ /\n\r\n\Q$first\E\r\n/;
        } "@$args to be shown twice, with an empty line between";
        kill INT => $pid;
        ($status, $text) = Toolgate::Terminal::end($pid, $screen);
        unlike $text, qr/\e/, "TERM=dumb: @$args --watch moves no cursor";
    }
}

# Pipes get no progress, which is not requested either.
{
    open my $cli, '-|', 'sh', '-c', 'exec "$@" 2>/dev/null', 'sh', 'env',
        'TOOLGATE_SOCKET=' . $tg->socket_path,
        Toolgate::Test::build_dir() . '/toolgate', 'call', 'x'
        or die "fork: $!";
    my $conn = greet($parent);
    my $request = request($conn, 'tools/call');
    ok !exists $request->{params}{_meta}, 'not where there is no terminal';
    answer($conn, $request, text_result('done'));
    is join('', <$cli>), 'done', 'the result is the same';
    close $cli;
}

done_testing;
