#!/usr/bin/perl
# Event values in prompts and messages are only text, whatever they contain; a
# pattern that takes too long ends with an error.

use Toolgate::Test;

my $json = JSON::PP->new->canonical;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->file('rules.json', $json->encode([ {
    id => 'slow', trigger => { type => 'task.completed' },
    conditions => [
        { field => 'metadata.slow', operator => 'exists' },
        { field => 'metadata.slow', operator => 'matches',
            value => '^(a|a?)+$' },
    ],
    action => { type => 'notify', message => 'never' },
}, {
    id => 'slow_trigger',
    trigger => { type => 'task.failed', pattern => '^(.|.?)+[!?]$' },
    action => { type => 'notify', message => 'never' },
} ]));
my $parts = join ' ', qw({{type}} {{payload.metadata.list.1}}
    {{metadata.list}} {{pid}} {{none.of.it}}), '{{ id }}',
    qw({{}} {{{id}}} {{metadata.n}});
$tg->conf(<<'END' =~ s/%%PARTS%%/"$parts"/r)->start;
task_agent done { exec true; default; }
task_agent args { exec printf "%s" $task_prompt; }
task_agent stdin { exec cat; stdin $task_prompt; }
task_agent fail { exec false; }
task_methods on;
automation args {
    trigger event type=task.completed;
    when    metadata.to eq args;
    agent   args "<{{metadata.text}}>";
}
automation stdin {
    trigger event type=task.completed;
    when    metadata.to eq stdin;
    agent   stdin "<{{metadata.text}}>";
}
automation tell {
    trigger event type=task.completed;
    when    metadata.to eq tell;
    notify  "<{{metadata.text}}>";
}
automation parts {
    trigger event type=task.completed;
    when    metadata.to eq parts;
    notify  %%PARTS%%;
}
automation_file %%DIR%%/rules.json;
END
my $c = $tg->connect;
my $hears = $tg->connect;
$hears->rpc('ping');

sub submit {
    my (%metadata) = @_;
    return $c->result_of('task.submit', prompt => 'x',
        metadata => \%metadata)->{taskId};
}
sub told {
    my ($method, $rule) = @_;
    return $hears->recv_where(sub {
        return ($_[0]{method} // '') eq $method
            && $_[0]{params}{ruleId} eq $rule;
    }, 60, "$method of $rule")->{params};
}

my @texts = (
    [ "\$(touch $dir/pwned); `touch $dir/pwned` & | > $dir/pwned" =>
            'metacharacters of a shell' ],
    [ "' \" '\"'\"' \\ \\\\ \\n %s %n \$task_prompt \${task_prompt}" =>
            'quotes, variables, formats' ],
    [ "--help" => 'an option' ],
    [ "one\ntwo\r\nthree\n\n" => 'newlines' ],
    [ '{{metadata.to}} {{payload}} }} {{' => 'other fields' ],
    [ "\",\"ruleId\":\"x\",\"y\":\"" => 'pieces of JSON' ],
    [ "\t\x{1}\x{1b}[31m\x{7f}\x{85}\x{2028}" => 'control characters' ],
    [ "\x{20ac}\x{1f600}\x{e4}" => 'characters of all lengths' ],
    [ "a\0b" => 'a NUL', "a\x{fffd}b" ],
    [ '' => 'nothing' ],
);
for (@texts) {
    my ($text, $what, $want) = @$_;
    $want //= $text;
    submit(to => 'tell', text => $text);
    is told('automation.notify', 'tell')->{message}, "<$want>",
        "$what: in a message";
    for my $agent (qw(args stdin)) {
        submit(to => $agent, text => $text);
        my $id = told('automation.fired', $agent)->{taskId};
        my $task;
        wait_for {
            $task = $c->result_of('task.get', taskId => $id);
            return $task->{completedAt};
        } "$id to end";
        is $task->{prompt}, "<$want>", "$what: in a prompt";
        is $task->{output}, "<$want>", "$what: what the program gets ($agent)";
    }
}
ok !-e "$dir/pwned", 'nothing of it was done';

# A large value: as much of it as allowed, and the rest of the text.
submit(to => 'tell', text => "\x{e4}" x 40000);
my $long = told('automation.notify', 'tell')->{message};
is $long, '<' . "\x{e4}" x 32768 . '>', 'what is long is cut, at a character';

my $id = submit(to => 'parts', list => [ 1, { a => 'x' } ], n => 1.5);
is told('automation.notify', 'parts')->{message},
    qq(task.completed {"a":"x"} [1,{"a":"x"}] )
    . qq(null {{none.of.it}} {{ id }} {{}} {$id} 1.5),
    'parts, numbers, and what there is not';

# --- a pattern that takes too long

submit(slow => ('a' x 5000) . '!');
my $fired = told('automation.fired', 'slow');
is $fired->{status}, 'error', 'a pattern that takes too long is no match';
like $fired->{error}, qr/takes too many steps.*simplify it/, 'it says so';
submit(slow => 'b');
submit(slow => 'aaa');
is told('automation.notify', 'slow')->{message}, 'never',
    'another text is none of its business, and the right one is';

$c->result_of('task.submit', prompt => 'x', agent => 'fail');
$fired = told('automation.fired', 'slow_trigger');
is $fired->{status}, 'error', 'nor does the pattern of a trigger match';
like $fired->{error}, qr/takes too many steps.*simplify it/, 'it says so';
is $c->result_of('ping')->{pong}, JSON::PP::true, 'it continues';

done_testing;
