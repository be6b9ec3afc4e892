#!/usr/bin/perl
# The main job, with the clients of MCP's own SDK: an agent starts the
# bridge, lists the tools of nginx.conf, calls them, and sees a new one after
# a reload; NGINX dies and comes back, and the agent stays connected.

use Toolgate::Test qw(Node);

my $tg = Toolgate::Test->new;
my $head = 'tool_server_name demo; tool_instructions "Be kind.";';
my $count = <<'END';
tool word_count {
    title        "Word count";
    description  "Counts the words of a text.";
    annotations  '{"readOnlyHint":true}';
    input_schema '{"type":"object","properties":{"text":{"type":"string"}},
                   "required":["text"]}';
    exec         wc -w;
    stdin        $tool_arg_text;
}
END
my $fail = 'tool fail { description "Fails."; exec ls /no/such/file; }';
my $hi = 'tool hi { description "Says hi."; return hi; }';
my $sleep = 'tool sleep { description "Sleeps."; exec sleep 60; }';
my $body = "$head $count $fail $sleep";
$tg->conf($body)->start;

sub text { return $_[0]{result}{content}[0]{text} }

for my $era (qw(legacy modern)) {
    # A restart may take a while on a busy machine.
    my $node = Toolgate::Node->new($tg, $era, $tg->bridge_path,
        '--grace', 600, $tg->socket_path);
    my $ready = $node->event('ready');
    is $ready->{era}, $era, "$era: its era";
    is $ready->{server}{name}, 'demo', "$era: the server's name";
    is $ready->{instructions}, 'Be kind.', "$era: its instructions";

    $node->tell(do => 'list');
    my $tools = $node->event('tools')->{tools};
    is join(' ', map { $_->{name} } @$tools), 'word_count fail sleep',
        "$era: the list";
    is $tools->[0]{title}, 'Word count', "$era: a title";
    is_deeply $tools->[0]{inputSchema}{required}, ['text'], "$era: a schema";

    $node->tell(do => 'call', id => 1, name => 'word_count',
        arguments => { text => 'one two three' });
    like text($node->event('result')), qr/^3$/, "$era: a call";
    $node->tell(do => 'call', id => 2, name => 'word_count');
    my $result = $node->event('result');
    ok $result->{result}{isError}, "$era: a missing argument";
    like text($result), qr/text/, "$era: is named";
    $node->tell(do => 'call', id => 3, name => 'fail');
    $result = $node->event('result');
    ok $result->{result}{isError}, "$era: a program that fails";
    like text($result), qr/No such file/, "$era: says why";
    $node->tell(do => 'call', id => 4, name => 'nosuch');
    is $node->event('error')->{code}, -32602, "$era: an unknown tool";

    # Cancelled: the program ends, not only the waiting for it.
    $node->tell(do => 'call', id => 5, name => 'sleep');
    my $is_sleeping = sub {
        grep {/sleep 60$/} values %{ $tg->processes };
    };
    wait_for { $is_sleeping->() } 'the program';
    $node->tell(do => 'cancel', id => 5);
    is $node->event('error')->{id}, 5, "$era: cancelled";
    ok wait_for(sub { !$is_sleeping->() }, 'its end'),
        "$era: the program is gone";

    $tg->reload("$body $hi");
    is_deeply $node->event('changed')->{tools},
        [qw(word_count fail sleep hi)], "$era: a reload is seen";
    $node->tell(do => 'call', id => 6, name => 'hi');
    is text($node->event('result')), 'hi', "$era: the new tool works";

    $tg->stop;
    $node->tell(do => 'call', id => 7, name => 'hi');
    $tg->conf("$head $count $hi")->start;
    is text($node->event('result')), 'hi', "$era: a restart is waited for";
    is_deeply $node->event('changed')->{tools}, [qw(word_count hi)],
        "$era: and seen";

    $node->leave;
    ok wait_for(sub { !is_alive($ready->{pid}) }, 'the bridge to end'),
        "$era: no bridge stays";
    is $node->oops, '', "$era: no complaints";
    $tg->reload($body);
}

done_testing;
