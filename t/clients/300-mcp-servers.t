#!/usr/bin/perl
# Real MCP servers, from npm, behind one socket, and four clients of MCP's own
# SDK at once, two of each era: one process of each server serves them all.

use Toolgate::Test timeout => 600;
use Toolgate::Node;

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

# The list is whole in both workers.
my @names;
for (1 .. 2) {
    my %seen;
    wait_for {
        my $client = $tg->connect;
        @names = map { $_->{name} }
            @{ $client->rpc('tools/list')->{result}{tools} };
        my $names = "@names";
        $seen{ $names =~ /every_echo.*files_read_file.*know_read_graph.* n$/
            ? 'yes' : 'no' }++;
        return ($seen{yes} // 0) > 20;
    } 'the tools of all';
}
ok !(grep { /write_file|get-env/ } @names), 'but those that are hidden';

my @nodes = map {
    my $node = Toolgate::Node->new($tg, $_, $tg->bridge_path,
        '--grace', 600, $tg->socket_path);
    is $node->event('ready')->{era}, $_, "a client of the $_ era";
    { era => $_, node => $node };
} qw(legacy modern legacy modern);

sub call {
    my ($client, $id, $name, %more) = @_;
    $client->{node}->tell(do => 'call', id => $id, name => $name, %more);
}

sub result {
    my ($client, $id) = @_;
    return $client->{node}->recv_where(
        sub { $_[0]{event} =~ /^(?:result|error)$/ && $_[0]{id} == $id },
        undef, "result $id");
}
sub text { return $_[0]{result}{content}[0]{text} // $_[0]{message} }

for my $client (@nodes) {
    $client->{node}->tell(do => 'list');
    my $tools = $client->{node}->event('tools')->{tools};
    is join(' ', sort map { $_->{name} } @$tools), join(' ', sort @names),
        "$client->{era}: its SDK takes the list";
}

# All at once: each gets its own.
my $id = 100;
for my $round (1 .. 5) {
    $_->{asked} = [] for @nodes;
    for my $k (0 .. $#nodes) {
        my $client = $nodes[$k];
        for my $i (1 .. 10) {
            my $word = "$round-$k-$i";
            my @call = $i % 3
                ? (every_echo => { message => $word }, qr/^Echo: $word$/)
                : (files_read_text_file => { path => "$dir/todo" },
                    qr/^buy milk\n$/);
            call($client, ++$id, $call[0], arguments => $call[1]);
            push @{ $client->{asked} }, [ $id, $call[2] ];
        }
    }
    my $right = 0;
    for my $client (@nodes) {
        $right += text(result($client, $_->[0])) =~ $_->[1]
            for @{ $client->{asked} };
    }
    is $right, 40, "round $round: all are answered with their own";
}

# What one client has said to a shared server, another one finds there.
call($nodes[0], ++$id, 'know_create_entities', arguments => {
    entities => [ {
        name => 'Ann', entityType => 'person', observations => ['is kind'],
    } ] });
is result($nodes[0], $id)->{result}{structuredContent}{entities}[0]{name},
    'Ann', 'structured content, which the SDK has checked';
call($nodes[3], ++$id, 'know_search_nodes', arguments => { query => 'kind' });
is result($nodes[3], $id)->{result}{structuredContent}{entities}[0]{name},
    'Ann', 'is there for another client';

for my $client (@nodes[ 0, 1 ]) {
    my $era = $client->{era};
    call($client, ++$id, 'every_get-tiny-image');
    my ($image) = grep { $_->{type} eq 'image' }
        @{ result($client, $id)->{result}{content} };
    is $image->{mimeType}, 'image/png', "$era: an image";
    call($client, ++$id, 'every_get-sum', arguments => { a => 2, b => 'x' });
    my $wrong = result($client, $id);
    ok $wrong->{result}{isError}, "$era: a wrong argument";
    like text($wrong), qr/\bb\b/, "$era: is named";
    call($client, ++$id, 'files_read_text_file',
        arguments => { path => '/etc/passwd' });
    like text(result($client, $id)), qr/outside allowed|[Aa]ccess denied/,
        "$era: what the server refuses";
    call($client, ++$id, 'every_trigger-long-running-operation',
        arguments => { duration => 1, steps => 3 }, progress => 1);
    my @steps = map {
        $client->{node}->event('progress')->{progress}{progress}
    } 1 .. 2;
    is "@steps", '1 2', "$era: progress";
    like text(result($client, $id)), qr/completed/, "$era: and its end";
    call($client, ++$id, 'every_trigger-long-running-operation',
        arguments => { duration => 600, steps => 600 });
    my $long = $id;
    call($client, ++$id, 'every_echo', arguments => { message => 'between' });
    is text(result($client, $id)), 'Echo: between', "$era: another one between";
    $client->{node}->tell(do => 'cancel', id => $long);
    is result($client, $long)->{event}, 'error', "$era: cancelled";
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
for my $client (@nodes) {
    call($client, ++$id, 'every_echo', arguments => { message => 'after' });
    is text(result($client, $id)), 'Echo: after',
        "$client->{era}: calls go on after a reload";
}
is join(' ', servers()), "@servers", 'of the same processes';
for my $client (@nodes) {
    is $client->{node}->oops, '', "$client->{era}: nothing to complain of";
    $client->{node}->leave;
}

done_testing;
