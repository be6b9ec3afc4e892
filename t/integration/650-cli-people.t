#!/usr/bin/perl
# The command line for people: a tool's parameters, arguments from files and for
# arrays, results into files, sockets that are found.

use Toolgate::Test;

use IO::Socket::UNIX;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $bytes = join '', map {chr} 0 .. 255;
$tg->file('bytes', $bytes);
$tg->file('text', "from a \"file\"\n");
$tg->conf(<<"END")->start;
tool search {
    description "Searches.";
    input_schema '{"type":"object","properties":{
        "pattern":{"type":"string","description":"What to look for."},
        "kind":{"type":"string","enum":["text","code"],"default":"text"},
        "paths":{"type":"array","items":{"type":"string"}},
        "sizes":{"type":"array","items":{"type":"integer","enum":[1,2]}},
        "limit":{"type":"integer","minimum":3}},
        "required":["pattern","kind","limit"],
        "additionalProperties":false}';
    return \$tool_arguments;
}
tool loose {
    input_schema '{"type":"object","properties":{"path":{"type":"string"}}}';
    return \$tool_arguments;
}
tool keyed {
    input_schema '{"type":"object","properties":{
        "when":{"type":"string","pattern":"^[0-9]{4}\$"},
        "at":{"type":"string","enum":["\@here"]},
        "size":{"\$ref":"#/\$defs/size"},
        "level":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}},
        "patternProperties":{"^x-":{"type":"string"}},
        "required":["when","at","size"],"additionalProperties":false,
        "\$defs":{"size":{"type":"integer","description":"In bytes."}}}';
    return \$tool_arguments;
}
tool image { exec cat $dir/bytes; output image image/png; }
tool file  { exec cat $dir/bytes; output file a/b; }
tool hi    { return hi; }
tool fails { exec false; output image image/png; }
END

my ($status, $out, $err);
sub cli { ($status, $out, $err) = $tg->cli(@_); return $out }

# --- list ------------------------------------------------------------------

like cli('list'), qr/^search\ pattern=STRING\ kind=text\|code
    \ \[paths=STRING\.\.\.\]\ \[sizes=1\|2\.\.\.\]\ limit=INTEGER\n/x,
    'list: enums and arrays';

# --- help TOOL -------------------------------------------------------------

cli('help', 'search');
is $status, 0, 'help: status';
like $out, qr/^search\n    Searches\.\n/, 'help: what it is';
like $out, qr/^  pattern  string, required\n      What to look for\.\n/m,
    'help: an argument, and what it is for';
like $out, qr/^  kind  string, one of text, code, required, default text\n/m,
    'help: an enum and a default';
like $out, qr/^  paths  array of string\n/m, 'help: an array';
like $out, qr/^  sizes  array of integer, one of 1, 2\n/m,
    'help: an array of an enum';
my ($example) = $out =~ /^  toolgate call (.*)$/m;
is $example, 'search pattern=text kind=text limit=3', 'help: an example';
cli('call', split / /, $example);
is $status, 0, 'help: which works';
cli('help', 'keyed');
like $out, qr/^  size  integer, required\n      In bytes\.\n/m,
    'help: what a $ref leads to';
like $out, qr/^  level  integer, default null\n/m, 'help: an alternative';
like $out, qr/^  toolgate call keyed when=text 'at:="\@here"' size=1$/m,
    'help: a text that would be a file';
like $out, qr{^replace the example value: /when: must match the pattern}m,
    'help: what does not fit is said';
like cli('list'),
    qr/^keyed when=STRING at=\@here size=INTEGER \[level=INTEGER\]/m,
    'list: the same';
cli('call', 'keyed', 'when=2026', 'at:="@here"', 'size=3', 'x-a=1');
is $out, '{"when":"2026","at":"@here","size":3,"x-a":"1"}',
    'call: what a pattern of names allows is none that is unknown';
cli('help', 'serch');
is $status, 2, 'help of nothing: status';
like $err, qr/did you mean search\?/, 'help of nothing: what was meant';
cli('lst');
is $status, 2, 'no command: status';
like $err, qr/unknown command "lst"; did you mean list\?/, 'and what was meant';
cli('list', '--sokcet', 'x');
like $err, qr/unknown option --sokcet; did you mean --socket\?/,
    'and of an option';
cli('help', 'call');
like $out, qr/^usage: toolgate call/, 'help of a command is as ever';

# --- arguments -------------------------------------------------------------

sub search {
    cli('call', 'search', 'pattern=p', 'kind=text', 'limit=3', @_);
    return $status == 0 ? Toolgate::Client->decode($out) : undef;
}
is search("pattern\@=1"), undef, 'no key';
cli('call', 'search', "pattern=\@$dir/text", 'kind=text', 'limit=3');
is(Toolgate::Client->decode($out)->{pattern}, "from a \"file\"\n",
    'key=@FILE: the text of a file');
cli({ stdin => 'from there' }, 'call', 'search', 'pattern=-', 'kind=code',
    'limit=3');
is(Toolgate::Client->decode($out)->{pattern}, 'from there',
    'key=-: standard input');
cli('call', 'search', "pattern=\@$dir/no", 'kind=text', 'limit=3');
is $status, 2, 'a file that is not there: status';
like $err, qr{cannot read \Q$dir\E/no: No such file}, 'and why';
is_deeply search('paths+=a', 'paths+=b')->{paths}, [qw(a b)], 'key+=VALUE';
is_deeply search('paths=a', 'paths=b', 'paths=c')->{paths}, [qw(a b c)],
    'a key again, where the schema wants an array';
is_deeply search('paths=a')->{paths}, ['a'], 'and once';
is_deeply search('paths=["x","y"]')->{paths}, [qw(x y)], 'or all as JSON';
is_deeply search('sizes=1', 'sizes=2')->{sizes}, [ 1, 2 ],
    'elements have the type of items';
search('kind=code');
is $status, 2, 'what is no array is given once: status';
like $err, qr/kind is given twice/, 'and why';
cli('call', 'search', 'patern=p');
is $status, 2, 'a key that is unknown: status';
like $err, qr/unknown argument "patern"; did you mean pattern\?/,
    'and what was meant';
cli('call', 'loose', 'pat=1');
is $status, 0, 'a tool may take more than it says';
like $err, qr/note: .*"pat"; did you mean path\?/, 'but it is remarked';
cli('call', 'loose', 'other=1');
is $err, '', 'not where nothing is near';

# --- results into files ----------------------------------------------------

for my $tool (qw(image file)) {
    cli('call', $tool, '-o', "$dir/got");
    is $status, 0, "-o of $tool: status";
    ok slurp("$dir/got") eq $bytes, "-o of $tool: its bytes";
    is $out, '', "-o of $tool: nothing else";
    unlink "$dir/got";
}
cli('call', 'hi', "--output=$dir/got");
is slurp("$dir/got"), "hi", '-o of a text';
cli('call', 'fails', '-o', "$dir/none");
is $status, 1, '-o of a failure: status';
ok !-e "$dir/none", 'no file is made';
cli('call', 'hi', '-o', "$dir/no/such");
is $status, 2, 'a file that cannot be written: status';
like $err, qr{cannot write \Q$dir\E/no/such: No such file}, 'and why';

for my $how ([ '--json', 'hi' ], [ '--method', 'tools/list' ]) {
    cli('call', @$how, '-o', "$dir/none");
    is $status, 2, "-o with $how->[0]: status";
    like $err, qr/-o .* cannot be combined with $how->[0]/, 'and why';
    ok !-e "$dir/none", 'no file is made';
}

# --- options and sockets ---------------------------------------------------

my %none = (TOOLGATE_SOCKET => undef, XDG_RUNTIME_DIR => undef);
cli({ env => \%none }, 'call', 'hi', '-s', $tg->socket_path, '-t', 5, '-j');
is $status, 0, 'short options';
like $out, qr/^\{"content"/, 'are what the long ones are';
mkdir "$dir/run";
symlink $tg->socket_path, "$dir/run/toolgate.sock" or die $!;
cli({ env => { %none, XDG_RUNTIME_DIR => "$dir/run" } }, 'call', 'hi');
is $out, 'hi', 'the socket of the user is found';
cli({ env => { TOOLGATE_SOCKET => "$dir/x", XDG_RUNTIME_DIR => "$dir/run" } },
    'call', 'hi');
like $err, qr{nothing listens on \Q$dir\E/x: .*There is no such file},
    'unless another one is named, which is not there';
cli({ env => \%none }, 'call', 'hi');
like $err, qr{no socket given\..* nor /run/toolgate/tools\.sock},
    'else it is said where it was looked for'
    if !-e '/run/toolgate/tools.sock';
IO::Socket::UNIX->new(Local => "$dir/left", Listen => 1)->close;
cli('ping', '-s', "$dir/left");
like $err, qr{nothing listens on .*left behind by a server that was killed},
    'a socket that was left behind';

done_testing;
