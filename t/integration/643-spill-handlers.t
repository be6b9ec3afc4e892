#!/usr/bin/perl
# A large result of any handler is stored, with a preview: of an MCP server, an
# HTTP API, a backend, a library. toolgate_output reads all of it.

use Toolgate::Test qw(Backend Listed Native Way Web);

my $tg = Toolgate::Test->new(workers => 1);
my $json = 'Toolgate::Client';
my $url = Toolgate::Web->new($tg)->url;
my $far = Toolgate::Listed->new($tg, 'far');
$far->list({
    name         => 'result',
    inputSchema  => { type => 'object' },
    outputSchema => { type => 'object' },
});
my ($backend) = grep { $_->protocol eq 'jsonrpc' } Toolgate::Backend->all($tg);
Toolgate::Native->probe($tg->dir . '/probe.so', 'one');
$tg->conf(<<"END")->start;
tool_preview 1k;
tool http    { http POST $url/echo; body \$tool_arg_s; }
tool json    { http POST $url/echo; body \$tool_arg_s; output json; }
tool over    { http GET $url/bytes/9000; max_output 4k spill; }
tool whole   { http GET $url/bytes/9000; preview off; }
tool pass    { @{[ $backend->pass ]} max_output 4k; }
tool library { library probe.so probe_echo; }
mcp_server far { exec @{[ $far->command ]}; max_output 4k spill; }
END
my @ways = Toolgate::Way->all($tg);
my ($legacy) = @ways;
wait_for { $legacy->list =~ /far_result/ } 'the list of the MCP server';

my $all = join '', map {"line $_, na\x{ef}ve\n"} 1 .. 800;

# Returns all of a stored output, by its pages; and the key in a text.
sub key_of {
    my ($text) = @_;
    return $text =~ /toolgate_output reads the rest: \{"output":"(\w{32})"/
        ? $1
        : undef;
}

sub stored {
    my ($key) = @_;
    my ($got, $offset) = ('', 0);
    for (1 .. 100) {
        my $reply = $legacy->call('toolgate_output',
            { output => $key, offset => $offset, bytes => 30_000 });
        my ($page, $note) = map { $_->{text} } @{ $reply->{result}{content} };
        $got .= $page;
        $note =~ /continue with "offset": (\d+)/ or last;
        $offset = $1 + 0;
    }
    return $got;
}

sub is_preview {
    my ($answer, $wanted, $name) = @_;
    my $text = $answer->{text};
    my $bytes = $wanted;
    utf8::encode($bytes);
    my $size = length $bytes;
    cmp_ok length $text, '<', 1500, "$name: a part of it is shown";
    like $text, qr/\[the whole output has $size bytes in \d+ lines?;/,
        "$name: its size";
    my $key = key_of($text);
    ok $key, "$name: how to read the rest" or return diag $text;
    ok stored($key) eq $wanted, "$name: nothing of it is lost";
    return;
}

my $image = { type => 'image', data => 'AA==', mimeType => 'image/png' };
for my $way (@ways) {
    my $name = $way->name;

    my $answer = $way->call('library', { s => $all });
    ok key_of($answer->{text}), "library, $name: a part is shown";
    like stored(key_of($answer->{text})), qr/line 800/,
        "library, $name: all of it is there";

    my $call = $way->start('pass', {});
    $backend->text($backend->heard, $all);
    is_preview($way->finish($call), $all, "pass, $name");

    $answer = $way->call('http', { s => $all });
    ok key_of($answer->{text}), "http, $name: a part is shown";
    like stored(key_of($answer->{text})), qr/line 800/,
        "http, $name: all of it is there";

    is_preview($way->call('over'), 'x' x 9000,
        "more than max_output, $name");

    $answer = $way->call('far_result', { result => {
        content => [
            { type => 'text', text => $all }, $image,
            { type => 'text', text => "more\n" },
        ],
        structuredContent => { a => 1 },
        _meta             => { 'a.b/c' => 1 },
    } });
    is_preview($answer, "${all}more\nstructuredContent:\n{\"a\":1}",
        "mcp_server, $name");
    my $result = $answer->{result} or next;
    next if $name eq 'ipc';
    is_deeply $result->{content}[1], $image, "$name: an image stays as it is";
    is scalar @{ $result->{content} }, 2, "$name: beside the text";
    ok !exists $result->{structuredContent},
        "$name: what is stored is not sent";
    is $result->{_meta}{'a.b/c'}, 1, "$name: its _meta is";
}

# --- small results, and results that stay whole -----------------------------

is length $legacy->call('whole')->{text}, 9000, 'preview off: all of it';
my $small = {
    content           => [ { type => 'text', text => 'hi' } ],
    structuredContent => { a => 'x' x 100 },
};
is_deeply $legacy->call('far_result', { result => $small })
    ->{result}{structuredContent}, $small->{structuredContent},
    'a small result is whole';

# Equal JSON, as text and structured, is stored once.
my $data = { rows => [ map { { id => $_ } } 1 .. 400 ] };
my $text = $json->encode($data);
my $answer = $legacy->call('far_result', { result => {
    content           => [ { type => 'text', text => $text } ],
    structuredContent => $data,
} });
is_preview($answer, $text, 'the same JSON twice');

# A failure stays a failure, whatever its size.
$answer = $legacy->call('far_result', { result => {
    content => [ { type => 'text', text => $all } ],
    isError => JSON::PP::true(),
} });
ok $answer->{is_error}, 'an error stays one';
is_preview($answer, $all, 'an error');

# JSON is shown as text; clients do not wait for structured content.
$answer = $legacy->call('json', { s => $all });
ok key_of($answer->{text}), 'JSON: a part is shown';
ok !exists $answer->{result}{structuredContent}, 'JSON: as text';
my ($tool) = grep { $_->{name} eq 'far_result' }
    @{ $legacy->client->rpc('tools/list')->{result}{tools} };
ok !exists $tool->{outputSchema},
    'an output schema that a preview cannot match is not listed';

# --- a session that moves ---------------------------------------------------

my $call = $legacy->start('pass', {});
my $request = $backend->heard;
$tg->reload;
is length $legacy->call('whole')->{text}, 9000, 'the session continues';
$backend->text($request, $all);
is_preview($legacy->finish($call), $all, 'a call whose session has moved');

done_testing;
