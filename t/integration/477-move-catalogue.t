#!/usr/bin/perl
# A moved session uses the new config: a removed tool is unknown, and other
# handlers, schemas or rules apply. A running call ends as it began, even
# without its tool; a batch is answered as a whole.

use Toolgate::Test qw(Hang Move Way);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $handler = $hang->handler;
my $hangs = "tool hang { description \"Hangs.\"; $handler } "
    . "method hang { $handler output text; } ";
my %gone = (legacy => -32602, modern => -32602, relay => 'result',
    ipc => 'ToolNotFoundError');

$tg->conf(<<"END")->start;
$hangs
tool static { description "S."; return before; }
tool program { description "P."; exec echo before; }
tool both { description "B."; return before; }
tool strict { description "T."; return ok; }
tool mine { description "M."; return ok; }
tool gone { description "G."; return ok; }
method name { return '"before"'; }
method gone { return 1; }
END

my @ways = Toolgate::Way->all($tg);
my $rpc = $tg->connect;
for my $way (@ways) {
    my $name = $way->name;
    is $way->call('static')->{text}, 'before', "$name: a value";
    is $way->call('program')->{text}, "before\n", "$name: a program";
    is $way->call('both')->{text}, 'before', "$name: a value";
    is $way->call($_)->{text}, 'ok', "$name: $_" for qw(strict mine gone);
    is $way->call('new')->{is_error}, 1, "$name: not there yet";
}
is $rpc->rpc('name')->{result}, 'before', 'a method';
is $rpc->rpc('gone')->{result}, 1, 'a method that will go';

# Running calls of tools that will change or be removed.
my @busy = map { Toolgate::Way->new($_, $tg->connect) } @Toolgate::Way::ALL;
$_->{call} = $_->start('hang', { key => $_->name }) for @busy;
my $batch = $tg->connect;
$batch->send_line('[' . join(',',
        '{"jsonrpc":"2.0","id":1,"method":"name"}',
        '{"jsonrpc":"2.0","id":2,"method":"hang","params":{"key":"b2"}}',
        '{"jsonrpc":"2.0","method":"name"}',
        '{"jsonrpc":"2.0","id":3,"method":"none"}',
        '{"jsonrpc":"2.0","id":4,"method":"hang","params":{"key":"b4"}}')
    . ']');
$hang->started($_) for qw(b2 b4), map { $_->name } @busy;

move($tg, <<"END");
tool static { description "S."; return after; }
tool program { description "P."; exec echo after; }
tool both { description "B."; exec echo after; }
tool strict {
    description "T.";
    input_schema '{"type":"object","required":["x"]}';
    return ok;
}
tool mine { description "M."; deny all; return ok; }
tool new { description "N."; return new; }
method name { return '"after"'; }
END

for my $way (@ways) {
    my $name = $way->name;
    is $way->call('static')->{text}, 'after', "$name: another value";
    is $way->call('program')->{text}, "after\n", "$name: another program";
    is $way->call('both')->{text}, "after\n", "$name: another handler";
    like $way->call('strict')->{text}, qr/x/, "$name: another schema";
    is $way->call('strict', { x => 1 })->{text}, 'ok', "$name: which it fits";
    is Toolgate::Way::kind($way->call($_)), $gone{$name}, "$name: no $_"
        for qw(gone mine hang);
    is $way->call('new')->{text}, 'new', "$name: a new one";
}
is $rpc->rpc('name')->{result}, 'after', 'another method';
is $rpc->rpc('gone')->{error}{code}, -32601, 'a method that is gone';

for my $way (@busy) {
    my $name = $way->name;
    $hang->finish($name);
    my $answer = $way->finish($way->{call});
    is $answer->{text}, "done $name\n", "$name: what ran ends as it began";
    ok !$answer->{is_error}, "$name: well";
    is Toolgate::Way::kind($way->call('hang')), $gone{$name},
        "$name: but runs no more";
}

# --- a batch, half of it answered, over two reloads -----------------------

$hang->finish('b4');
$hang->wait_gone('b4');
move($tg, 'method name { return 1; }');
ok $batch->is_silent(0), 'a batch is answered as a whole';
$hang->finish('b2');
my %answer = map { $_->{id} => $_ } @{ $batch->recv_json };
is join(' ', sort keys %answer), '1 2 3 4', 'with one answer for each';
is $answer{1}{result}, 'before', 'of before';
is $answer{2}{result}, "done b2\n", 'of after';
is $answer{3}{error}{code}, -32601, 'an error';
is $answer{4}{result}, "done b4\n", 'of in between';
is $batch->rpc('name')->{result}, 1, 'and the client continues';

done_testing;
