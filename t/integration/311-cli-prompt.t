#!/usr/bin/perl
# toolgate prompts and prompt, with the test as the server.

use Toolgate::Test qw(Command);
use Toolgate::Parent qw(answer give lacks refuse request);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $codec = 'Toolgate::Client';

sub start {
    my $cli = Toolgate::Command::start($tg, @_);
    return ($cli, greet($parent));
}

my @prompts = ({
        name        => 'review',
        description => "Reviews a commit\nby our \e[31mrules.",
        arguments   => [
            {
                name        => 'commit',
                required    => \1,
                description => 'such as HEAD~1',
            },
            { name => 'focus', title => 'What to look at' },
        ],
    },
    { name => 'hello', title => 'Says hello' },
    { name => "od\nd" },
);

# --- prompts --------------------------------------------------------------

my ($cli, $conn) = start('prompts');
give($conn, 'prompts/list', { prompts => [ $prompts[0] ], nextCursor => 'x' });
my $page = request($conn, 'prompts/list');
is_deeply $page->{params}, { cursor => 'x' }, 'pages are followed';
answer($conn, $page, { prompts => [ @prompts[ 1, 2 ] ] });
ends($cli, 'prompts: no escape of theirs', 0, <<'END', '');
review commit=TEXT [focus=TEXT]
    Reviews a commit
    by our \u001b[31mrules.
    commit: such as HEAD~1
    focus: What to look at
hello
    Says hello
od\u000ad
END

($cli, $conn) = start('prompts', '--json');
give($conn, 'prompts/list', { prompts => \@prompts, ttlMs => 0 });
my ($status, $out, $err) = finish($cli);
is $status, 0, 'prompts --json: status';
is_deeply $codec->decode($out), { prompts => \@prompts },
    'prompts --json: the prompts';

($cli, $conn) = start('prompts');
give($conn, 'prompts/list', { prompts => [] });
ends($cli, 'no prompts', 0, '', qr/offers you no prompts$/);

# A server that has no prompts does not know the method.
($cli, $conn) = start('prompts');
refuse($conn, request($conn, 'prompts/list'), -32601, 'unknown method');
ends($cli, 'a server without prompts', 0, '', qr/offers you no prompts$/);
($cli, $conn) = start('prompts', '--json');
refuse($conn, request($conn, 'prompts/list'), -32601, 'unknown method');
ends($cli, 'a server without prompts, --json', 0, qq({"prompts":[]}\n), '');

($cli, $conn) = start('prompts');
refuse($conn, request($conn, 'prompts/list'), -32603, 'broken');
ends($cli, 'an error', 1, '',
    "toolgate: the server answered with error -32603: broken\n");
($cli, $conn) = start('prompts');
give($conn, 'prompts/list', { prompts => [1] });
ends($cli, 'an invalid list', 1, '', qr/list of prompts is invalid/);
($cli, $conn) = start('prompts');
give($conn, 'prompts/list', { tools => [] });
ends($cli, 'a list of something else', 1, '', qr/list of prompts is invalid/);

# --- prompt ---------------------------------------------------------------

sub message {
    my ($role, $text) = @_;
    return { role => $role, content => { type => 'text', text => $text } };
}

# Runs a command. Returns the params of prompts/get, and how it ended.
sub get {
    my ($messages, @args) = @_;
    my ($cli, $conn) = start('prompt', @args);
    give($conn, 'prompts/list', { prompts => \@prompts })
        if grep { /=/ } @args;
    my $get = request($conn, 'prompts/get');
    answer($conn, $get, { messages => $messages });
    return ($get->{params}, finish($cli));
}

my $params;
($params, $status, $out, $err) =
    get([ message(user => "Hi \e[1m.") ], 'hello');
is_deeply $params, { name => 'hello' }, 'a prompt without arguments';
is "$status $out$err", "0 Hi \e[1m.", 'one message: its text, as it is';

my $file = $tg->file('text', "of a file\n");
($params, $status, $out) = get(
    [ message(user => "a\n"), message(assistant => 'b'), message(user => 'c') ],
    'review', 'commit=1', "focus=\@$file");
is_deeply $params,
    {
    name      => 'review',
    arguments => { commit => '1', focus => "of a file\n" },
    },
    'arguments are texts';
is $out, <<'END' =~ s/\n\z//r, 'several messages, each with its role';
user:
a

assistant:
b

user:
c
END

($params) = get([ message(user => 'x') ], 'review', '{"commit": "HEAD"}');
is_deeply $params->{arguments}, { commit => 'HEAD' }, 'a JSON object';
(undef, $status, $out) = get([ message(assistant => 'x') ], 'hello');
is $out, "assistant:\nx", 'one message of the assistant';
my $image = { type => 'image', mimeType => 'image/png', data => 'AAAA' };
(undef, undef, $out) =
    get([ message(user => 'See:'), { role => 'user', content => $image } ],
    'hello');
is $out, <<'END', 'an image';
user:
See:

user:
[content of type image image/png, 4 bytes of base64; --json shows it]
END
(undef, $status, $out) =
    get([ { role => 'user', content => $image } ], 'hello', '--json');
is_deeply $codec->decode($out),
    { messages => [ { role => 'user', content => $image } ] },
    '--json: the whole result';
(undef, $status, $out, $err) = get([], 'hello');
is $status, 2, 'no messages: status';
like $err, qr/the prompt has no messages/, 'no messages: why';
(undef, $status, undef, $err) = get([1], 'hello');
is $status, 0, 'a message that is none';

# --- errors ---------------------------------------------------------------

($cli, $conn) = start('prompt', 'reviwe', 'commit=1');
give($conn, 'prompts/list', { prompts => \@prompts });
lacks($conn, 'tools', 'resources');
ends($cli, 'an unknown prompt with arguments', 1, '',
    qr/unknown prompt "reviwe"; did you mean review\? \(toolgate prompts /);
($cli, $conn) = start('prompt', 'hello');
refuse($conn, request($conn, 'prompts/get'), -32601, 'unknown method');
lacks($conn, 'tools', 'resources');
ends($cli, 'a prompt of a server without prompts', 1, '',
    qr/offers you no prompts$/);
for my $name ('helo', 'nosuch') {
    ($cli, $conn) = start('prompt', $name);
    refuse($conn, request($conn, 'prompts/get'), -32602, 'unknown');
    give($conn, 'prompts/list', { prompts => \@prompts });
    lacks($conn, 'tools', 'resources');
    ends($cli, "an unknown prompt $name", 1, '', qr/: unknown prompt "$name"/);
}
($cli, $conn) = start('prompt', 'review');
refuse($conn, request($conn, 'prompts/get'), -32602, 'commit is missing');
give($conn, 'prompts/list', { prompts => \@prompts });
ends($cli, 'a missing argument', 1, '',
    "toolgate: the server answered with error -32602: commit is missing\n");
($cli, $conn) = start('prompt', 'review', '--json');
refuse($conn, request($conn, 'prompts/get'), -32602, 'no', [1]);
ends($cli, 'an error with --json', 1,
    qq({"error":{"code":-32602,"message":"no","data":[1]}}\n));
($cli, $conn) = start('prompt', 'review', 'comit=1');
give($conn, 'prompts/list', { prompts => \@prompts });
ends($cli, 'an unknown argument', 2, '',
    qr/unknown argument "comit"; did you mean commit\?/);

($cli, $conn) = start('prompt', 'hello', '--timeout', '2.5');
my $get = request($conn, 'prompts/get');
ends($cli, '--timeout', 2, '', qr/within 2\.5 s; the request was cancelled/);
is $conn->notification('notifications/cancelled')->{params}{requestId},
    $get->{id}, '--timeout: cancelled';

for my $case (
    [ qr/print which prompt\? \(toolgate prompts shows all/, 'prompt' ],
    [ qr/"" is not a valid name/, 'prompt', '' ],
    [ qr/"\xff" is not a valid name/, 'prompt', "\xff" ],
    [ qr/must be a JSON object/, 'prompt', 'x', '[1]' ],
    [ qr/argument of the prompt is written focus=x/, 'prompt', 'x',
        '--focus', 'x' ],
    [ qr/prompts takes no arguments.*toolgate prompt NAME/, 'prompts', 'x' ])
{
    my ($pattern, @args) = @$case;
    ($status, $out, $err) = $tg->cli(@args);
    is $status, 2, "'@args': status";
    like $err, $pattern, "'@args': why";
}

($status, $out) = $tg->cli('help', 'prompt');
like $out, qr/^usage: toolgate prompt NAME .*KEY=VALUE   a text/s,
    'help of prompt';

done_testing;
