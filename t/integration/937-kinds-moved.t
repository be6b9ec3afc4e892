#!/usr/bin/perl
# Prompts and resources of backends and MCP servers that are being read while
# their sessions move: each ends once, with the answer of its server.

use Toolgate::Test qw(Backend Move Way);

my $tg = Toolgate::Test->new(workers => 1);
my $json = 'Toolgate::Client';
my $dir = $tg->dir;
my $server = Toolgate::Test::top() . '/t/servers/mcp.pl';
my %backend = map { $_->protocol => $_ } Toolgate::Backend->all($tg);
my @protocols = qw(mcp jsonrpc);

my $contents = [ { uri => 'x:a', text => "\x{e9}", _meta => { k => 1.5 } } ];
for my $method (qw(prompts resources)) {
    $tg->file("$method.kinds", $json->encode({
        prompts   => [ { name => 'p' } ],
        resources => [ { uri => 'x:a', name => 'a' } ],
        contents  => { 'x:a' => $contents },
        waits     => {
            $method eq 'prompts' ? 'prompts/get' : 'resources/read' =>
                "$dir/$method.go"
        },
    }));
}

sub body {
    my ($more) = @_;
    my $body = $more;
    for my $protocol (@protocols) {
        my $pass = $backend{$protocol}->pass;
        $body .= "prompt $protocol { $pass timeout 600s; }\n"
            . "resource $protocol:x { $pass timeout 600s; }\n";
    }
    # A server for each method: it serves one request after the other.
    $body .= "mcp_server $_ { exec $^X $server modern "
        . "kinds=$dir/$_.kinds; timeout 600s; }\n" for qw(prompts resources);
    return $body;
}
$tg->conf(body(''))->start;
wait_for {
    my $list = $tg->connect->rpc('prompts/list')->{result}{prompts};
    4 == @{ $list // [] };
} 'the prompts of all';

my @ways = map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern);
my (@calls, @heard);
sub ask {
    my ($way, $name, $method, %params) = @_;
    push @calls, [ $way, $name,
        $way->client->request($method, $way->params(\%params)) ];
}

for my $way (@ways) {
    for my $protocol (@protocols) {
        ask($way, $protocol, 'prompts/get', name => $protocol);
        push @heard, [ $protocol, messages =>
                $backend{$protocol}->heard('prompts/get') ];
        ask($way, $protocol, 'resources/read', uri => "$protocol:x");
        push @heard, [ $protocol, contents =>
                $backend{$protocol}->heard('resources/read') ];
    }
    ask($way, 'server', 'prompts/get', name => 'prompts_p');
    ask($way, 'server', 'resources/read', uri => 'resources+x:a');
}
wait_for { -e "$dir/$_.go.begun" } "$_ to run" for qw(prompts resources);

my ($old) = $tg->worker_pids;
$tg->reload(body('tool more { description "M."; return 1; }'));
# They have moved when another worker answers.
for my $way (@ways) {
    my $client = $way->client;
    is $client->rpc('tools/call', $way->params({ name => 'more' }))
        ->{result}{content}[0]{text}, '1', $way->name . ': the new config';
}

my %answer = (
    messages => { messages => [ { role => 'user', content => {
        type => 'text', text => 'of the backend' } } ] },
    contents => { contents => $contents },
);
$backend{ $_->[0] }->answer($_->[2], result => $answer{ $_->[1] }) for @heard;
$tg->file("$_.go", '') for qw(prompts resources);

for my $call (@calls) {
    my ($way, $name, $id) = @$call;
    my $reply = $way->client->reply($id);
    my $result = $reply->{result};
    my $what = $way->name . ", $name";
    if ($result->{contents}) {
        is_deeply $result->{contents}, $contents, "$what: contents";
    } else {
        like $result->{messages}[0]{content}{text},
            $name eq 'server' ? qr/"name":"p"/ : qr/^of the backend$/,
            "$what: a prompt" or diag explain $reply;
    }
    is $result->{resultType}, $way->name eq 'modern' ? 'complete' : undef,
        'in the era of the client';
}
$ways[0]->client->notification('notifications/tools/list_changed');
ok $_->client->is_silent(0.2), 'nothing comes twice' for @ways;
old_gone($tg, $old);

done_testing;
