#!/usr/bin/perl
# Prompts in both eras: lists, messages, handlers, arguments, errors.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $rules = $tg->file('rules.txt', "caf\xc3\xa9 \"rules\"\n");
my $bytes = $tg->file('bytes', "\xff");
my $large = $tg->file('large', 'x' x 1000);
my $gone = $tg->file('gone', 'x');
$tg->conf(<<"END" . <<'END')->start;
prompt files { description "F."; argument x default=5;
               message user file=$rules; message user "Then \$tool_arg_x.";
               message assistant file=rules.txt; timeout 30s; }
prompt binary { message user file=$bytes; }
prompt large { message user file=$rules; message user file=$large;
               max_output 1000; }
prompt gone { message user file=$gone; }
END
prompt review {
    description "Reviews a commit.";
    title       Review;
    argument    commit required "such as HEAD~1";
    argument    depth default=3;
    icon        https://a.b/c.png image/png 48x48 any dark;
    meta        example.com/team '"pay"';
    message     user "Commit \"$tool_arg_commit\",\nlevel $tool_arg_depth.";
    message     assistant "Costs $$5.";
}
prompt plain { return "It is $tool_name: $tool_arg_x$tool_has_x."; argument x; }
prompt whole {
    output result;
    return '{"description":"D","messages":[{"role":"user","content":
             {"type":"text","text":"hi"}}],"ttlMs":5}';
}
prompt program { argument word default=w; exec echo $tool_arg_word; }
prompt fails { exec false; }
prompt wrong { exec echo '{}'; output result; }
prompt printed {
    output result;
    exec   echo '{"messages":[{"role":"assistant",
                   "content":{"type":"text","text":"p"}}]}';
}
tool t { description "T."; return t; }
END

unlink $gone or die "$gone: $!\n";

# Returns the texts of a result with their roles.
sub texts {
    my ($reply) = @_;
    my $result = $reply->{result} or return Toolgate::Client->encode($reply);
    return join '|', map {"$_->{role}: $_->{content}{text}"}
        @{ $result->{messages} };
}

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $client = $way->client;
    my $is_modern = $era eq 'modern';
    my $ask = sub {
        my ($method, $params) = @_;
        return $client->rpc($method, $way->params($params // {}));
    };
    my $get = sub {
        my ($name, $arguments) = @_;
        return $ask->('prompts/get',
            { name => $name, $arguments ? (arguments => $arguments) : () });
    };

    my $list = $ask->('prompts/list')->{result};
    my %prompt = map { $_->{name} => $_ } @{ $list->{prompts} };
    is join(' ', map { $_->{name} } @{ $list->{prompts} }),
        'files binary large gone '
        . 'review plain whole program fails wrong printed',
        "$era: all prompts in order";
    is_deeply $prompt{review}, {
        name        => 'review',
        title       => 'Review',
        description => 'Reviews a commit.',
        arguments   => [
            {
                name        => 'commit',
                description => 'such as HEAD~1',
                required    => Toolgate::Json::decode('true'),
            },
            { name => 'depth', required => Toolgate::Json::decode('false') }
        ],
        icons => [ {
            src      => 'https://a.b/c.png',
            mimeType => 'image/png',
            theme    => 'dark',
            sizes    => [qw(48x48 any)],
        } ],
        _meta => { 'example.com/team' => 'pay' },
    }, "$era: a whole entry" or diag explain $prompt{review};
    ok !exists $prompt{whole}{arguments}, "$era: no arguments";
    is defined $list->{ttlMs} ? 1 : 0, $is_modern ? 1 : 0, "$era: ttl of list";

    my $reply = $get->('review', { commit => 'a"b', depth => '1' });
    is texts($reply),
        qq{user: Commit "a"b",\nlevel 1.|assistant: Costs \$5.},
        "$era: messages";
    is $reply->{result}{description}, 'Reviews a commit.',
        "$era: with the description";
    is $reply->{result}{resultType} // '', $is_modern ? 'complete' : '',
        "$era: the result's type";
    like texts($get->('review', { commit => 'x' })), qr/level 3\./,
        "$era: the default";
    is texts($get->('plain')), 'user: It is plain: .', "$era: no argument";
    is texts($get->('plain', { x => 'y' })), 'user: It is plain: y1.',
        "$era: one argument";
    $reply = $get->('whole');
    is texts($reply), 'user: hi', "$era: a whole result";
    is $reply->{result}{description}, 'D', "$era: with its description";
    is texts($get->('program', { word => 'a b' })), "user: a b\n",
        "$era: a program";
    is texts($get->('printed')), 'assistant: p', "$era: a printed result";
    my $rules_text = "caf\x{e9} \"rules\"\n";
    $reply = $get->('files', { x => '"6' });
    is texts($reply),
        "user: $rules_text|user: Then \"6.|assistant: $rules_text",
        "$era: files";
    is $reply->{result}{description}, 'F.', "$era: with a description";

    for my $bad (
        [ 'nosuch', undef, -32602, qr/nosuch/ ],
        [ 't', undef, -32602, qr/t/ ],
        [ 'review', undef, -32602, qr/commit/ ],
        [ 'review', { commit => 5 }, -32602, qr/commit/ ],
        [ 'plain', { z => 'z' }, -32602, qr/z/ ],
        [ 'fails', undef, -32603, qr/status 1/ ],
        [ 'wrong', undef, -32603, qr/"messages"/ ],
        [ 'binary', undef, -32603, qr/not UTF-8/ ],
        [ 'large', undef, -32603, qr/more than max_output/ ],
        [ 'gone', undef, -32603, qr/does not exist/ ],
    ) {
        my ($name, $arguments, $code, $text) = @$bad;
        $reply = $get->($name, $arguments);
        is $reply->{error}{code}, $code, "$era: error of $name"
            or diag explain $reply;
        like $reply->{error}{message}, $text, 'which says why';
    }
}
$tg->allow_log(qr/call of "(?:fails|wrong|binary|large|gone)" failed/);

done_testing;
