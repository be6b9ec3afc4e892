#!/usr/bin/perl
# toolgate prompts, prompt, resources, read and watch against Toolgate itself.

use Toolgate::Test qw(Command);

my $tg = Toolgate::Test->new;
my $bytes = join '', map { chr } 0 .. 255;
my $file = $tg->file('bytes', $bytes);
$tg->conf(<<"END")->start;
tool hello { description "Says hello."; return hello; }
prompt review {
    description "Reviews a commit.";
    argument commit required "such as HEAD~1";
    argument focus;
    message user "Review \$tool_arg_commit: \$tool_arg_focus.";
}
prompt talk { message user a; message assistant b; }
prompt fails { exec false; }
resource notes:///today {
    description "Notes."; mime text/plain; return "caf\xc3\xa9\\n";
}
resource bytes:all { mime image/png; exec cat $file; }
resource bytes:fails { exec false; }
resource_template "notes:///{day}" {
    name day; argument day pattern=^[a-z]+\$; return "of \$tool_arg_day";
}
END

# Runs a command. Returns its status and its output.
sub cli {
    my ($status, $out, $err) = $tg->cli(@_);
    return "$status $out$err";
}

is cli('prompts'), <<'END', 'prompts';
0 review commit=TEXT [focus=TEXT]
    Reviews a commit.
    commit: such as HEAD~1
talk
fails
END
is cli('prompt', 'review', 'commit=1', 'focus=x=y'), '0 Review 1: x=y.',
    'a prompt';
is cli('prompt', 'review', '{"commit":"2"}'), '0 Review 2: .',
    'with a JSON object';
is cli('prompt', 'talk'), "0 user:\na\n\nassistant:\nb", 'two messages';
like cli('prompt', 'review'), qr/^1 .*error -32602: .*commit/,
    'a missing argument';
like cli('prompt', 'reviews'),
    qr/^1 .*unknown prompt "reviews"; did you mean review\?/,
    'an unknown prompt';
like cli('prompt', 'fails'), qr/^1 .*error -32603: /, 'a prompt that fails';

is cli('resources'), <<'END', 'resources and templates';
0 RESOURCE        TYPE        SIZE  DESCRIPTION
notes:///today  text/plain     -  Notes.
bytes:all       image/png      -  bytes:all
bytes:fails     -              -  bytes:fails

TEMPLATE        TYPE  DESCRIPTION
notes:///{day}  -     day
END
is cli('read', 'notes:///today'), "0 caf\xc3\xa9\n", 'a resource';
is cli('read', 'notes:///monday'), '0 of monday', 'of a template';
is cli('read', 'bytes:all'), "0 $bytes", 'bytes';
my $saved = $tg->dir . '/saved';
is cli('read', 'bytes:all', '-o', $saved), '0 ', 'saved';
is Toolgate::Util::slurp($saved), $bytes, 'all of them';
like cli('read', 'none:x'), qr/^1 .*unknown resource "none:x"/,
    'an unknown resource';
like cli('read', 'bytes:fails'), qr/^1 .*error -32603: /,
    'a resource that fails';
like cli('read', 'notes:///UP'), qr/^1 .*error -32602: /,
    'a value that does not match';

# A name of another kind.
for my $case (
    [ 'call review',     'review',         'a prompt',   'prompt review' ],
    [ 'call review a=b', 'review',         'a prompt',   'prompt review' ],
    [ 'help review',     'review',         'a prompt',   'prompt review' ],
    [ 'read review',     'review',         'a prompt',   'prompt review' ],
    [ 'prompt hello',    'hello',          'a tool',     'call hello' ],
    [ 'prompt hello a=b', 'hello',         'a tool',     'call hello' ],
    [ 'read hello',      'hello',          'a tool',     'call hello' ],
    [ 'call today',      'today', 'a resource',
        'read notes:///today' ],
    [ 'help today',      'today', 'a resource',
        'read notes:///today' ],
    [ 'read today',      'today', 'a resource',
        'read notes:///today' ],
    [ 'call bytes:all',  'bytes:all',      'a resource', 'read bytes:all' ],
    [ 'prompt bytes:all', 'bytes:all',     'a resource', 'read bytes:all' ],
) {
    my ($command, $name, $kind, $use) = @$case;
    is cli(split / /, $command),
        qq{1 toolgate: "$name" is $kind; use toolgate $use\n},
        "$command: the command to use";
}
like cli('call', 'none'), qr/^1 toolgate: unknown tool "none" /,
    'a name that nothing has';

# A list changes at a reload.
my $watch = Toolgate::Command::start($tg, 'watch', '--json');
wait_for { $watch->stderr =~ /watching/ } 'it to listen';
$tg->reload('tool hello { description "Says hello."; return hello; }'
    . 'prompt other { message user x; } resource a:b { return c; }');
my %changed = map { $watch->recv_json->{method} => 1 } 1, 2;
is_deeply [ sort keys %changed ], [
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
], 'watch prints changes of prompts and resources';
$watch->signal('INT');
is +(finish($watch))[0], 130, 'until Ctrl-C';
is cli('prompts'), "0 other\n", 'the new prompts';
$tg->reload('tool a { return b; }');
for my $what ('prompts', 'resources') {
    is cli($what), "0 toolgate: ${\$tg->socket_path} offers you no $what\n",
        "no $what are left";
}
is cli('prompt', 'a'), qq{1 toolgate: "a" is a tool; use toolgate call a\n},
    'the name of a tool, without prompts';

done_testing;
