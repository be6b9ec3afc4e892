#!/usr/bin/perl
# `library` in prompts, resources and templates: a shared object answers at
# once or from a thread, with text, bytes or a whole result, in both eras.

use Toolgate::Test qw(Native Way);

my $tg = Toolgate::Test->new;
Toolgate::Native->probe($tg->dir . '/probe.so', 'one');

$tg->conf(<<'END')->start;
prompt echo { argument commit required; library probe.so probe_echo; }
prompt whole {
    argument json required; output result;
    library probe.so probe_echo_argument $tool_arg_json;
}
prompt failed { library probe.so probe_fail; }
prompt late {
    argument seconds required;
    timeout 600s;
    library probe.so probe_later $tool_arg_seconds key;
}
resource x:text { library probe.so; }
resource x:image { mime image/png; library probe.so; }
resource x:bytes { library probe.so probe_not_utf8; }
resource x:large { library probe.so probe_bytes 2000; max_output 1k; }
resource_template "note:///{+path}" {
    mime application/json; library probe.so probe_echo;
}
END

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $ask = sub {
        my ($method, %params) = @_;
        my $answer = $way->client->rpc($method, $way->params(\%params));
        return $answer->{result} // $answer->{error};
    };
    my $get = sub {
        my ($name, %arguments) = @_;
        return $ask->(
            'prompts/get', name => $name, arguments => \%arguments);
    };
    my $text = sub {
        return join ' ', map { "$_->{role}:$_->{content}{text}" }
            @{ $get->(@_)->{messages} };
    };
    is $text->('echo', commit => '1'), 'user:{"commit":"1"}',
        "$era: a text is one message of the user";
    is $get->('echo')->{code}, -32602, 'a missing argument';
    my $json = '{"messages":[{"role":"assistant","content":'
        . '{"type":"text","text":"a"}}],"description":"b"}';
    is $text->('whole', json => $json), 'assistant:a', 'a whole result';
    is $get->('whole', json => $json)->{description}, 'b', 'all of it';
    like $get->('whole', json => '{}')->{message}, qr/array "messages"/,
        'a result that is not one of a prompt';
    my $failed = $get->('failed');
    is $failed->{code}, -32603, 'a prompt that fails: the code';
    like $failed->{message}, qr/^no:\n/, 'a prompt that fails: why';
    like $text->('late', seconds => '0'), qr/^user:./,
        'a thread answers';

    my $read = sub { return $ask->('resources/read', uri => $_[0]) };
    my $content = sub { return $read->($_[0])->{contents}[0] };
    is $content->('x:text')->{text}, 'one', 'a text';
    is $content->('x:image')->{blob}, 'b25l', 'a type that is not text';
    is $content->('x:bytes')->{blob}, '/w==', 'bytes that are not UTF-8';
    is $content->('note:///a/b')->{text}, '{"path":"a/b"}',
        'the variables of a template';
    is $content->('note:///a')->{mimeType}, 'application/json', 'its type';
    is $read->('x:large')->{code}, -32603, 'max_output holds';
}

done_testing;
