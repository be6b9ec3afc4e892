#!/usr/bin/perl
# Completion of arguments in both eras: values, programs, files, access, rates.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $log = $tg->dir . '/calls.log';
my $notes = $tg->dir . '/notes';
mkdir $notes or die $!;
mkdir "$notes/a" or die $!;
$tg->file("notes/$_", 'x') for qw(today.txt tomorrow.txt .hidden a/b.txt);
symlink '/etc/passwd', "$notes/topasswd" or die $!;
my $many = join '', map {"complete$_;"} (' count ' . join ' ', 1 .. 1100);

sub body {
    my ($more) = @_;
    return <<"END";
tool_log $log;
prompt review {
    argument      branch required;
    argument      commit;
    argument      count;
    argument      none;
    complete      branch main Feature/x feature/y "old feature"
                  \$tool_arg_commit;
    complete      commit exec printf %s\\\\n "\$tool_value"
                  "\$tool_arg_branch" a1;
    $many
    complete_rate 1000r/s burst=1000;
    return        "\$tool_arg_branch";
    rate          1r/m;
}
prompt slow {
    argument x; complete x a b; complete_rate 1r/m burst=1; return ok;
}
prompt default_rate { argument x; complete x a; return ok; }
prompt fails { argument x; complete x exec false; return ok; }
prompt secret { deny all; argument x; complete x a; return ok; }
resource_template "notes:///{+path}" {
    file $notes/\$tool_arg_path; root $notes; complete path files;
}
resource_template "flat:///{name}{?lang}" {
    file \$tool_arg_name; root $notes; complete name files; complete lang de en;
}
$more
END
}
$tg->conf(body(''))->start;

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    my $client = $way->client;
    my $ask = sub {
        my ($ref, $name, $value, $context) = @_;
        return $client->rpc('completion/complete', $way->params({
            ref => ref $ref                ? $ref
            : $ref =~ /:/ ? { type => 'ref/resource', uri => $ref }
            : { type => 'ref/prompt', name => $ref },
            argument => { name => $name, value => $value },
            $context ? (context => { arguments => $context }) : (),
        }));
    };
    my $values = sub {
        my $reply = $ask->(@_);
        return $reply->{result}
            ? join ' ', @{ $reply->{result}{completion}{values} }
            : $reply->{error}{code};
    };

    is $values->('review', 'branch', ''),
        'main Feature/x feature/y old feature',
        "$era: no text yields all values in order";
    is $values->('review', 'branch', 'FEA'), 'Feature/x feature/y old feature',
        "$era: values that begin with the text come first";
    is $values->('review', 'branch', '', { commit => 'c0' }),
        'main Feature/x feature/y old feature c0',
        "$era: a value may depend on the other arguments";
    is $values->('review', 'branch', 'zzz'), '', "$era: no value matches";

    my $reply = $ask->('review', 'count', '1')->{result};
    is scalar @{ $reply->{completion}{values} }, 100, "$era: 100 values";
    is $reply->{completion}{total}, 372, "$era: and how many there are";
    ok $reply->{completion}{hasMore}, "$era: and that there are more";
    $reply = $ask->('review', 'count', '')->{result}{completion};
    ok !exists $reply->{total} && $reply->{hasMore},
        "$era: the total of very many is not known";
    $reply = $ask->('slow', 'nosuch', '');
    is $reply->{error}{code}, -32602, "$era: an unknown argument";

    is $values->('review', 'commit', "a'\$x"), "a'\$x",
        "$era: a program gets the text as it is";
    is $values->('review', 'commit', '', { branch => 'dev' }), 'dev a1',
        "$era: and the other arguments";
    is $values->('fails', 'x', ''), -32603, "$era: a program fails";
    is $values->('review', 'none', ''), '',
        "$era: an argument without suggestions has none";
    is $values->('nosuch', 'x', ''), -32602, "$era: an unknown prompt";
    is $values->('secret', 'x', ''), -32602, "$era: a prompt that is denied";
    is $values->('no:such', 'x', ''), -32602, "$era: an unknown template";
    is $values->({ type => 'x' }, 'x', ''), -32602, "$era: an unknown ref";

    is $values->('notes:///{+path}', 'path', ''),
        'a/b.txt today.txt tomorrow.txt',
        "$era: files of the folder, not hidden ones and links to outside";
    is $values->('notes:///{+path}', 'path', 'to'), 'today.txt tomorrow.txt',
        "$era: files that begin with the text";
    is $values->('notes:///{+path}', 'path', 'T'),
        'today.txt tomorrow.txt a/b.txt',
        "$era: then files that contain it, upper and lower case alike";
    is $values->('notes:///{+path}', 'path', 'MORR'), 'tomorrow.txt',
        "$era: files that contain the text";
    is $values->('notes:///{+path}', 'path', 'hid'), '', "$era: none hidden";
    is $values->('notes:///{+path}', 'path', '../'), '', "$era: none outside";
    is $values->('notes:///{+path}', 'path', "a\0"), '', "$era: no NUL";
    is $values->('flat:///{name}{?lang}', 'name', ''), 'today.txt tomorrow.txt',
        "$era: a variable of one segment has no subfolders";
    is $values->('flat:///{name}{?lang}', 'lang', 'D'), 'de',
        "$era: a query parameter";
}

# Completions do not use up the rate of their block.
my $client = $tg->connect;
$client->rpc('initialize', {
    protocolVersion => '2025-06-18',
    capabilities    => {},
    clientInfo      => { name => 'c', version => '1' },
});
my $get = sub {
    return $client->rpc('prompts/get',
        { name => 'review', arguments => { branch => 'b' } });
};
is $get->()->{result}{messages}[0]{content}{text}, 'b', 'a prompt is served';
like $get->()->{error}{message}, qr/rate 1r\/m/, 'and then has its own rate';
my $complete = sub {
    return $client->rpc('completion/complete', {
        ref      => { type => 'ref/prompt', name => $_[0] },
        argument => { name => 'x', value => '' },
    });
};
is_deeply $complete->('slow')->{result}{completion}{values}, [qw(a b)],
    'a rare completion' for 1 .. 2;
like $complete->('slow')->{error}{message}, qr/complete_rate 1r\/m, burst=1/,
    'and then too many';
my $n = grep { $complete->('default_rate')->{result} } 1 .. 400;
ok $n >= 41, 'there is a default rate';
ok $n < 400, 'and it is a limit' or diag $n;
wait_for { slurp($log) =~ /completion="prompt slow x".*rule=complete_rate/ }
    'completions to be logged';

# A reload replaces the suggestions of open connections.
my $way = Toolgate::Way->new('legacy', $tg->connect);
$tg->reload(body('') =~ s/complete x a b/complete x c/r
        =~ s/complete_rate 1r\/m burst=1;//r);
is_deeply $way->client->rpc('completion/complete', {
    ref      => { type => 'ref/prompt', name => 'slow' },
    argument => { name => 'x', value => '' },
})->{result}{completion}{values}, ['c'], 'a reload brings new suggestions';
done_testing;
