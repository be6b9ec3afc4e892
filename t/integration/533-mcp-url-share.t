#!/usr/bin/perl
# Sessions over HTTP: one for all, per user, or per connection; the last kind
# can send requests to its client, survives a reload, and ends with the
# connection.

use Toolgate::Test qw(McpWeb);

my $tg = Toolgate::Test->new(workers => 2);
my %web = map { $_ => Toolgate::McpWeb->new($tg) } qw(all user own);
$web{json} = Toolgate::McpWeb->new($tg, 'json', 'no_get');
my $body = <<"END";
mcp_server all  { url @{[ $web{all}->url ]}; start at=boot; }
mcp_server user { url @{[ $web{user}->url ]}; share user; idle 300ms; }
mcp_server own  { url @{[ $web{own}->url ]}; share connection; }
mcp_server json { url @{[ $web{json}->url ]}; share connection;
                  roots /usr; }
END
$tg->conf($body)->start;

sub greet {
    my ($client, $can) = @_;
    $client->rpc('initialize',
        { protocolVersion => '2025-06-18', capabilities => $can });
    wait_for {
        my $tools = $client->rpc('tools/list')->{result}{tools};
        4 == grep { $_->{name} =~ /^(?:all|user|own|json)_ask$/ } @$tools;
    } 'its tools';
    return $client;
}

my ($one, $two) = map {
    greet($tg->connect, { elicitation => {} })
} 1, 2;
sub pid { return text_of($_[0]->call_tool("$_[1]_pid")) }

is pid($one, 'all'), pid($two, 'all'), 'all: one session for both';
# It may have been idle for too long in between.
wait_for { pid($one, 'user') eq pid($two, 'user') }
    'user: one session for both';
isnt pid($one, $_), pid($two, $_), "$_: one for each" for qw(own json);
is pid($one, 'own'), pid($one, 'own'), 'which stays the same';
wait_for { $web{user}->control('sessions') == 0 } 'one that is idle ends';
ok scalar(() = $web{user}->requests('DELETE')), 'by a DELETE';
is $web{all}->control('sessions'), 1, 'another one does not';

# Calls a tool during which the server sends requests.
sub ask {
    my ($client, $server, @methods) = @_;
    return $client->request('tools/call', { name => "${server}_ask",
        arguments => { methods => \@methods } });
}

sub asked {
    my ($client) = @_;
    return $client->recv_where(
        sub { ($_[0]{method} // '') eq 'elicitation/create' },
        undef, 'a question');
}
my %accept = (action => 'accept', content => { name => 'Ann' });

for my $name (qw(own json)) {
    my $id = ask($one, $name, 'elicitation/create', 'roots/list');
    $one->send_line({ jsonrpc => '2.0', id => asked($one)->{id},
        result => \%accept });
    my $answers = $one->reply($id)->{result}{structuredContent}{answers};
    is_deeply $answers->[0], \%accept, "$name: its client is asked";
    if ($name eq 'json') {
        is_deeply $answers->[1], { roots => [ { uri => 'file:///usr' } ] },
            "$name: roots are the config's";
    } else {
        is $answers->[1]{code}, -32601, "$name: what it cannot be asked is not";
    }
}
my $refused = ask($one, 'all', 'elicitation/create');
like $one->reply($refused)->{result}{structuredContent}{answers}[0]{message},
    qr/shared by several clients/, 'of what others share nobody is asked';

# A reload, with a running call and an open request.
my $before = pid($one, 'own');
my $id = ask($one, 'own', 'elicitation/create');
my $question = asked($one);
$tg->reload("$body\ntool n { return 2; }");
$one->send_line({ jsonrpc => '2.0', id => $question->{id},
    result => \%accept });
is_deeply $one->reply($id)->{result}{structuredContent}{answers}, [ \%accept ],
    'over a reload, too';
is pid($one, 'own'), $before, 'in the same session';

# A client that closes ends its session.
is $web{own}->control('sessions'), 2, 'a session for each client';
$two->close;
wait_for { $web{own}->control('sessions') == 1 } 'that of who is gone ends';
is pid($one, 'own'), $before, 'and no other';
done_testing;
