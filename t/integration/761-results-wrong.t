#!/usr/bin/perl
# Output that does not match `output`: the tool's error in each dialect, with
# the tool, the error and the beginning of the output.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $conf = '';
for my $output (qw(json result)) {
    $conf .= "tool $output.return { output $output; return \$tool_arg_text; }\n"
        . "tool $output.exec { output $output; exec cat; "
        . "stdin \$tool_arg_text; }\n"
        . "method $output.return { output $output; return \$tool_arg_text; }\n";
}
$conf .= <<'END';
tool bytes { exec printf "a\\377b"; }
tool half  { exec printf "a\\303"; }
tool much  { exec head -c 2000 /dev/zero; max_output 1k; }
tool json.bytes { output json; exec printf "\"\\377\""; }
END
$tg->conf($conf)->start;

my @ways = Toolgate::Way->all($tg);
my %kind = (
    legacy => 'result',
    modern => 'result',
    relay  => 'result',
    ipc    => 'ValueError',
);
my $deep = '[' x 126 . ']' x 126;
my $no_json = qr/is not one valid JSON value\. It (?:is|begins)(?:: | empty)/;
my @json = (
    [ '',            $no_json ],
    [ '  ',          $no_json ],
    [ 'hi',          $no_json ],
    [ '{"a":1} x',   $no_json ],
    [ '{} {}',       $no_json ],
    [ '{"a":1',      $no_json ],
    [ "{'a':1}",     $no_json ],
    [ 'NaN',         $no_json ],
    [ '[1,]',        $no_json ],
    [ '"\ud800"x',   $no_json ],
    [ $deep,         qr/nests deeper than the 125 levels/ ],
);
my $block = sub {qq({"content":[$_[0]]})};
my @result = (
    @json,
    [ '[]',                    qr/not an object with an array "content"/ ],
    [ '"text"',                qr/not an object with an array "content"/ ],
    [ '{}',                    qr/not an object with an array "content"/ ],
    [ '{"content":"text"}',    qr/not an object with an array "content"/ ],
    [ $block->('"text"'),      qr/not an object with a "type"/ ],
    [ $block->('{}'),          qr/not an object with a "type"/ ],
    [ $block->('{"type":7}'),  qr/is none of text, image, audio/ ],
    [ $block->('{"type":"video"}'), qr/is none of text, image, audio/ ],
    [ $block->('{"type":"text"}'),  qr/text block needs a string "text"/ ],
    [
        $block->('{"type":"text","text":"ok"},{"type":"text","text":7}'),
        qr/text block needs a string "text"/
    ],
    [
        $block->('{"type":"image","data":"AA=="}'),
        qr/"data" \(base64\) and "mimeType"/
    ],
    [
        $block->('{"type":"audio","mimeType":"audio/wav"}'),
        qr/"data" \(base64\) and "mimeType"/
    ],
    [
        $block->('{"type":"resource_link","uri":"file:///a"}'),
        qr/resource_link block needs the strings "uri" and "name"/
    ],
    [
        $block->('{"type":"resource","resource":{}}'),
        qr/"resource" with a string "uri"/
    ],
    [ '{"content":[],"isError":"yes"}', qr/"isError" is neither/ ],
    [ '{"content":[],"structuredContent":[]}',
        qr/"structuredContent" is not an object/ ],
);

my %cases = (json => \@json, result => \@result);
for my $output (sort keys %cases) {
    for my $case (@{ $cases{$output} }) {
        my ($text, $pattern) = @$case;
        my $shown = length $text > 70 ? 'a deep one' : $text;
        my %said;
        for my $way (@ways) {
            for my $how (qw(return exec)) {
                my $answer = $way->call("$output.$how", { text => $text });
                is Toolgate::Way::kind($answer), $kind{ $way->name },
                    "$output '$shown', $how, " . $way->name;
                $answer->{text} =~ s/^\Q$output.$how\E: //
                    or fail "$output.$how is named: $answer->{text}";
                $said{ $answer->{text} }++;
            }
        }
        my @said = keys %said;
        is scalar @said, 1, "$output '$shown': always the same";
        like $said[0], $pattern, "$output '$shown': what is wrong";
    }
}

# Methods: -32603; their `result` is any JSON.
my $c = $tg->connect;
for my $output (qw(json result)) {
    for my $case (@json) {
        my $error = $c->rpc("$output.return", { text => $case->[0] })->{error};
        is $error->{code}, -32603, "a method's $output";
        like $error->{message}, $case->[1], 'what is wrong';
    }
}
is_deeply $c->rpc('result.return', { text => '[]' })->{result}, [],
    'a method has no MCP results';

# Bytes that no dialect can carry, and more than allowed.
for my $way (@ways) {
    my $name = $way->name;
    for my $case (
        [ bytes        => qr/output of bytes is.* UTF-8.*offset 1 of 3/ ],
        [ half         => qr/output of half is.* UTF-8.*offset 1 of 2/ ],
        [ 'json.bytes' => qr/UTF-8/ ],
        [ much         => qr/^much printed.* 1024.*max_output/ ],
        )
    {
        my ($tool, $pattern) = @$case;
        my $answer = $way->call($tool);
        is Toolgate::Way::kind($answer), $kind{$name}, "$tool, $name";
        like $answer->{text}, $pattern, "$tool: what to do, $name";
    }
}

done_testing;
