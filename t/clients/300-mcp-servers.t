#!/usr/bin/perl
# Real MCP servers, from npm, behind one socket, and four clients of MCP's own
# SDK at once, two of each era: one process of each server serves them all.

use Toolgate::Test qw(Everything Node);

Toolgate::Node::install();
my $tg = Toolgate::Test->new(workers => 2);
my $bin = Toolgate::Test::top() . '/t/clients/node_modules/.bin';
my $dir = $tg->dir . '/notes';
mkdir $dir or die "$dir: $!\n";
$tg->file('notes/todo', "buy milk\n");

sub body {
    my ($n) = @_;
    return <<"END";
mcp_server every { exec $bin/mcp-server-everything; tools echo get-* trigger-*;
                   hide get-env; }
mcp_server files { exec $bin/mcp-server-filesystem $dir; roots $dir;
                   hide write_* edit_* move_*; }
mcp_server memory { exec $bin/mcp-server-memory; prefix know_;
                    env MEMORY_FILE_PATH $dir/memory.json; }
tool n { return $n; }
END
}
$tg->conf(body(1))->start;

my @names = names_in_all_workers($tg,
    qr/every_echo.*files_read_file.*know_read_graph.* n$/);
ok !(grep { /write_file|get-env/ } @names), 'but those that are hidden';

my @clients = map { sdk_client($tg, $_) } qw(legacy modern legacy modern);
for my $client (@clients) {
    $client->tell(do => 'list');
    my $tools = $client->event('tools')->{tools};
    is join(' ', sort map { $_->{name} } @$tools), join(' ', sort @names),
        "$client->{era}: its SDK takes the list";
}

# All at once: each gets its own.
for my $round (1 .. 5) {
    my @asked;
    for my $k (0 .. $#clients) {
        my $client = $clients[$k];
        for my $i (1 .. 10) {
            my $word = "$round-$k-$i";
            my @call = $i % 3
                ? (every_echo => { message => $word }, qr/^Echo: $word$/)
                : (files_read_text_file => { path => "$dir/todo" },
                    qr/^buy milk\n$/);
            my $id = $client->ask($call[0], arguments => $call[1]);
            push @asked, [ $client, $id, $call[2] ];
        }
    }
    my $right = grep { said($_->[0]->answer($_->[1])) =~ $_->[2] } @asked;
    is $right, 40, "round $round: all are answered with their own";
}

# What one client has said to a shared server, another one finds there.
is $clients[0]->call('know_create_entities', arguments => {
    entities => [ {
        name => 'Ann', entityType => 'person', observations => ['is kind'],
    } ] })->{result}{structuredContent}{entities}[0]{name},
    'Ann', 'structured content, which the SDK has checked';
is $clients[3]->call('know_search_nodes', arguments => { query => 'kind' })
    ->{result}{structuredContent}{entities}[0]{name},
    'Ann', 'is there for another client';

for my $client (@clients[ 0, 1 ]) {
    try_everything($client, 'every_');
    like said($client->call('files_read_text_file',
        arguments => { path => '/etc/passwd' })),
        qr/outside allowed|[Aa]ccess denied/,
        "$client->{era}: what the server refuses";
}

# One process each, whoever asked, and over a reload.
sub servers {
    my $processes = Toolgate::Test::processes();
    return sort { $a <=> $b } grep {
        $processes->{$_} =~ m{^\S*node \S*/mcp-server-}
    } keys %$processes;
}
my @servers = servers();
is scalar(@servers), 3, 'three processes for four clients';
$tg->reload(body(2));
for my $client (@clients) {
    is said($client->call('every_echo', arguments => { message => 'after' })),
        'Echo: after',
        "$client->{era}: calls go on after a reload";
}
is join(' ', servers()), "@servers", 'of the same processes';
for my $client (@clients) {
    is $client->oops, '', "$client->{era}: nothing to complain of";
    $client->leave;
}

done_testing;
