#!/usr/bin/perl
# Prompts and notes for a team's agents: a prompt with files and suggestions, a
# folder of notes, and a template for its paths, as a config of a team has them.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $notes = $tg->dir . '/notes';
mkdir $_ or die "$_: $!\n" for $notes, "$notes/sub";
$tg->file('review', "Our rules.\n");
$tg->file('notes/today.txt', "Today.\n");
$tg->file('notes/sub/old.txt', "Old.\n");
$tg->file('notes/.secret', "Secret.\n");
$tg->file('outside', "Outside.\n");
$tg->conf(<<"END")->start;
prompt review {
    description "Reviews a commit by our rules.";
    argument    commit required "such as HEAD~1";
    complete    commit exec printf 'abc1\\nabc2\\ndef3\\n';
    message     user file=review;
    message     user "Commit: \$tool_arg_commit";
}
resource_files    $notes match=*.txt uri=notes:///;
resource_template more:///{+path} { name note; mime text/markdown;
    file $notes/\$tool_arg_path; root $notes; complete path files; }
END

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $ask = sub {
        my ($method, $params) = @_;
        return $way->client->rpc($method, $way->params($params // {}));
    };
    my $read = sub { return $ask->('resources/read', { uri => $_[0] }) };

    my $result = $ask->('prompts/get',
        { name => 'review', arguments => { commit => 'HEAD~2' } })->{result};
    is_deeply [ map { $_->{content}{text} } @{ $result->{messages} } ],
        [ "Our rules.\n", 'Commit: HEAD~2' ], "$era: the prompt";
    my $suggest = sub {
        my ($ref, $name, $value) = @_;
        my $reply = $ask->('completion/complete', {
            ref => $ref, argument => { name => $name, value => $value } });
        return join ' ', @{ $reply->{result}{completion}{values} };
    };
    is $suggest->({ type => 'ref/prompt', name => 'review' }, 'commit', 'ab'),
        'abc1 abc2', "$era: suggestions for its argument";
    is $suggest->(
        { type => 'ref/resource', uri => 'more:///{+path}' }, 'path', 'su'),
        'sub/old.txt', "$era: suggestions for a path";

    is join(' ', map { $_->{uri} }
            @{ $ask->('resources/list')->{result}{resources} }),
        'notes:///today.txt', "$era: the notes";
    is $read->('notes:///today.txt')->{result}{contents}[0]{text}, "Today.\n",
        "$era: a note";
    is_deeply $read->('more:///sub/old.txt')->{result}{contents}, [ {
        uri      => 'more:///sub/old.txt',
        mimeType => 'text/markdown',
        text     => "Old.\n",
    } ], "$era: a note by its path";
    for my $uri (map { ("notes:///$_", "more:///$_") }
        '../outside', '%2e%2e/outside', '..%2foutside', 'none.txt', '.secret',
        'sub/../today.txt', '%00today.txt')
    {
        my $error = $read->($uri)->{error};
        is $error->{code}, $era eq 'modern' ? -32602 : -32002,
            "$era: no $uri" or diag explain $error;
        is_deeply $error->{data}, { uri => $uri }, 'with the URI';
    }
}

done_testing;
