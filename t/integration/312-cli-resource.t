#!/usr/bin/perl
# toolgate resources and read, with the test as the server.

use MIME::Base64 qw(encode_base64);
use Toolgate::Test qw(Command Terminal);
use Toolgate::Parent qw(answer give refuse request);

my $tg = Toolgate::Test->new;
my $parent = Toolgate::Parent->new($tg->socket_path);
my $codec = 'Toolgate::Client';

sub start {
    my $cli = Toolgate::Command::start($tg, @_);
    return ($cli, greet($parent));
}

my @resources = ({
        uri         => 'file:///notes/a.txt',
        name        => 'a.txt',
        mimeType    => 'text/plain',
        size        => 12_345,
        description => "What \e[1m we know\nand more",
    },
    { uri => 'x:1', name => 'one', title => 'The first' },
    { uri => 'x:2', name => 'two', size => 0 },
);
my @templates = (
    { uriTemplate => 'note:///{+path}', name => 'note' },
);

# --- resources ------------------------------------------------------------

my ($cli, $conn) = start('resources');
give($conn, 'resources/list',
    { resources => [ $resources[0] ], nextCursor => 'n' });
my $page = request($conn, 'resources/list');
is_deeply $page->{params}, { cursor => 'n' }, 'pages are followed';
answer($conn, $page, { resources => [ @resources[ 1, 2 ] ] });
give($conn, 'resources/templates/list', { resourceTemplates => \@templates });
ends($cli, 'resources', 0, <<'END', '');
RESOURCE             TYPE         SIZE  DESCRIPTION
file:///notes/a.txt  text/plain  12 kB  What \u001b[1m we know…
x:1                  -               -  The first
x:2                  -               0  two

TEMPLATE         TYPE  DESCRIPTION
note:///{+path}  -     note
END

($cli, $conn) = start('resources', '--json');
give($conn, 'resources/list', { resources => \@resources, ttlMs => 0 });
give($conn, 'resources/templates/list', { resourceTemplates => \@templates });
my ($status, $out, $err) = finish($cli);
is_deeply $codec->decode($out),
    { resources => \@resources, resourceTemplates => \@templates },
    'resources --json';
is $out =~ tr/\n//, 1, 'resources --json: one line';

# A list that is empty, or that the server does not have.
($cli, $conn) = start('resources');
give($conn, 'resources/list', { resources => [] });
refuse($conn, request($conn, 'resources/templates/list'), -32601, 'no');
ends($cli, 'no resources', 0, '', qr/offers you no resources$/);
($cli, $conn) = start('resources');
refuse($conn, request($conn, 'resources/list'), -32601, 'no');
give($conn, 'resources/templates/list', { resourceTemplates => \@templates });
ends($cli, 'templates only', 0, qr/\ATEMPLATE .*\nnote:.*\n\z/, '');
($cli, $conn) = start('resources', '--json');
for my $method ('resources/list', 'resources/templates/list') {
    refuse($conn, request($conn, $method), -32601, 'no');
}
ends($cli, 'a server without resources, --json', 0,
    qq({"resources":[],"resourceTemplates":[]}\n), '');
($cli, $conn) = start('resources');
give($conn, 'resources/list', { resources => \@resources });
refuse($conn, request($conn, 'resources/templates/list'), -32603, 'broken');
ends($cli, 'an error', 1, '', qr/error -32603: broken$/);
($cli, $conn) = start('resources');
give($conn, 'resources/list', { resources => [] });
give($conn, 'resources/templates/list', { resourceTemplates => [1] });
ends($cli, 'an invalid list', 1, '', qr/list of resource templates is invalid/);

# --- read -----------------------------------------------------------------

my $bytes = join '', map { chr } 0 .. 255;
my $blob = {
    uri      => 'x:2',
    mimeType => 'image/png',
    blob     => encode_base64($bytes, ''),
};
my $text = { uri => 'x:1', text => "a\e[1m\x{fc}" };
my $printed = "a\e[1m\xc3\xbc";

# Reads x:1 with some contents. Returns the params and how it ended.
sub reads {
    my ($contents, @args) = @_;
    my ($cli, $conn) = start('read', 'x:1', @args);
    my $read = request($conn, 'resources/read');
    answer($conn, $read, { contents => $contents });
    return ($read->{params}, finish($cli));
}

my $params;
($params, $status, $out, $err) = reads([$text]);
is_deeply $params, { uri => 'x:1' }, 'read: the URI';
is "$status $out$err", "0 $printed", 'a text, as it is';
(undef, $status, $out) = reads([$blob]);
is $out, $bytes, 'bytes, as they are';
(undef, $status, $out) = reads([ $text, { %$text, text => "b\n" } ]);
is $out, "$printed\nb\n", 'two texts begin in two lines';
(undef, $status, $out) = reads([ { %$text, text => '' } ]);
is "$status $out", '0 ', 'an empty text';
(undef, $status, $out) = reads([ $text, $blob ], '--json');
is_deeply $codec->decode($out), { contents => [ $text, $blob ] },
    '--json: the whole result';

my $file = $tg->dir . '/saved';
for my $case ([ $text, $printed ], [ $blob, $bytes ]) {
    my ($part, $want) = @$case;
    (undef, $status, $out, $err) = reads([$part], '-o', $file);
    is "$status $out$err", '0 ', '-o prints nothing';
    is Toolgate::Util::slurp($file), $want, '-o: the contents in the file';
}
for my $case (
    [ [ $text, $blob ], qr/has 2 parts, but -o saves only one/, '-o', $file ],
    [ [$blob], qr/cannot write \S+: Not a directory/, '-o', "$file/x/y" ],
    [ [], qr/x:1 has no contents/ ],
    [ [ {} ], qr/the result cannot be read/ ],
    [ [ { blob => '!' } ], qr/invalid base64/ ])
{
    my ($contents, $why, @args) = @$case;
    (undef, $status, $out, $err) = reads($contents, @args);
    is "$status $out", '2 ', "$why: status";
    like $err, $why, "$why: why";
}

# On a terminal.
SKIP: {
    skip 'no terminals here', 4 if !Toolgate::Terminal::pair(80);
    my $shows = sub {
        my ($contents, @args) = @_;
        my ($pid, $screen) =
            Toolgate::Terminal::run($tg, 80, 'read', 'x:1', @args);
        give(greet($parent), 'resources/read', { contents => $contents });
        return Toolgate::Terminal::end($pid, $screen);
    };
    ($status, $out) = $shows->([$text]);
    is $out, "a\\u001b[1m\xc3\xbc\n", 'a terminal shows no escapes of theirs';
    ($status, $out) = $shows->([$blob]);
    is $status, 2, 'a terminal gets no bytes: status';
    $out =~ s/\s+/ /g;
    is $out, 'toolgate: x:1 is binary (image/png, 344 bytes of base64) and '
        . 'not shown on a terminal; save it with -o FILE, or redirect '
        . 'standard output ', 'a terminal gets no bytes: what to do';
    ($status, $out) = $shows->([$blob], '-o', $file);
    is $status, 0, '-o on a terminal';
}

# --- errors ---------------------------------------------------------------

my $gone = { uri => 'x:9' };
($cli, $conn) = start('read', 'x:9');
refuse($conn, request($conn, 'resources/read'), -32002, 'not found', $gone);
ends($cli, 'an unknown resource', 1, '',
    qr/unknown resource "x:9" \(toolgate resources shows all/);
($cli, $conn) = start('read', 'x:9');
refuse($conn, request($conn, 'resources/read'), -32601, 'unknown method');
ends($cli, 'a resource of a server without resources', 1, '',
    qr/offers you no resources$/);
($cli, $conn) = start('read', 'x:9', '--json');
refuse($conn, request($conn, 'resources/read'), -32002, 'not found', $gone);
ends($cli, 'an unknown resource with --json', 1,
    qq({"error":{"code":-32002,"message":"not found",)
        . qq("data":{"uri":"x:9"}}}\n));
($cli, $conn) = start('read', 'x:9');
refuse($conn, request($conn, 'resources/read'), -32603, 'exit status 1');
ends($cli, 'another error', 1, '', qr/error -32603: exit status 1$/);

($cli, $conn) = start('read', 'x:1', '--timeout', '2.5');
my $read = request($conn, 'resources/read');
ends($cli, '--timeout', 2, '', qr/within 2\.5 s; the request was cancelled/);
is $conn->notification('notifications/cancelled')->{params}{requestId},
    $read->{id}, '--timeout: cancelled';

for my $case (
    [ qr/read which resource\? \(toolgate resources shows all/, 'read' ],
    [ qr/"" is not a valid URI/, 'read', '' ],
    [ qr/"\xff" is not a valid URI/, 'read', "\xff" ],
    [ qr/takes one argument; unexpected argument "b:"/, 'read', 'a:', 'b:' ],
    [ qr/cannot be combined with --json/, 'read', 'a:', '-o', 'x', '--json' ],
    [ qr/resources takes no arguments.*toolgate read URI/, 'resources', 'x' ])
{
    my ($pattern, @args) = @$case;
    ($status, $out, $err) = $tg->cli(@args);
    is $status, 2, "'@args': status";
    like $err, $pattern, "'@args': why";
}

# --- watch ----------------------------------------------------------------

# Answers the subscriptions of `toolgate watch`.
sub subscribes {
    my ($conn, @uris) = @_;
    give($conn, 'initialize', {});
    $conn->notification('notifications/initialized');
    for my $uri (@uris) {
        my $subscribe = request($conn, 'resources/subscribe');
        is_deeply $subscribe->{params}, { uri => $uri }, "subscribes to $uri";
        answer($conn, $subscribe, {});
    }
}

($cli, $conn) = start('watch', 'x:1', 'x:2', '--json');
for my $n (1, 2) {
    subscribes($conn, 'x:1', 'x:2');
    my $updated = {
        method => 'notifications/resources/updated',
        params => { uri => "x:$n" },
    };
    $conn->send_line({ jsonrpc => '2.0', %$updated });
    is_deeply $cli->recv_json, $updated, 'a resource that has changed';
    next if $n == 2;
    $conn->close;
    $conn = greet($parent);
}
$cli->signal('INT');
is +(finish($cli))[0], 130, 'Ctrl-C';

for my $case ([ -32601, qr/does not report changes of resources/ ],
    [ -32002, qr/refuses to report changes of "x:1".*error -32002: no/s ])
{
    my ($code, $why) = @$case;
    ($cli, $conn) = start('watch', 'x:1');
    subscribes($conn);
    refuse($conn, request($conn, 'resources/subscribe'), $code, 'no');
    ends($cli, "a subscription that is refused with $code", 1, '', $why);
}

done_testing;
