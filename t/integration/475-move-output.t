#!/usr/bin/perl
# Unread responses move with the session in a reload: the client gets every byte
# once, in order.

use Toolgate::Test qw(Move Way);

my $tg = Toolgate::Test->new;

sub body {
    my ($n) = @_;
    # They are read one after the other, on a slow machine for minutes.
    return 'tool_send_timeout 1h; '
        . 'tool echo { description "Echoes."; return $tool_arg_text; } '
        . "tool n { description \"N.\"; return $n; }";
}

# A text without repetitions.
sub text {
    my ($size) = @_;
    my $text = '';
    my $n = 0;
    $text .= ++$n . ' ' while length $text < $size;
    return substr $text, 0, $size;
}

sub is_whole {
    my ($client, $id, $text) = @_;
    my $content = qq({"content":[{"type":"text","text":"$text"}],);
    return $client->recv_line eq qq({"jsonrpc":"2.0","id":$id,"result":)
        . qq($content"isError":false}});
}

$tg->conf(body(0))->start;

# A large response each, of which nothing is read, and another request.
my @ways = Toolgate::Way->all($tg);
my %text;
for my $way (@ways) {
    $text{ $way->name } = text(900_000);
    $way->{first} = $way->start('echo', { text => $text{ $way->name } });
    $way->{second} = $way->start('n');
}
# A response of maximum size, without JSON::PP, which would take long.
my $huge = $tg->connect;
my $text = text(8_000_000);
my $id = $huge->request('tools/call',
    { name => 'echo', arguments => { text => $text } });
# Many small ones.
my $many = $tg->connect;
$many->send_raw(join '', map {
    Toolgate::Client->encode({
        jsonrpc => '2.0', id => $_, method => 'tools/call',
        params => { name => 'echo', arguments => { text => text($_) } },
    }) . "\n"
} 1 .. 700);

# Their responses have begun, and cannot continue.
for my $client ($many, $huge, map { $_->client } @ways) {
    wait_for { $client->fill(0); length $client->buffered }
        'the beginning of an answer';
}
move($tg, body(1));
move($tg, body(2));

for my $way (@ways) {
    my $name = $way->name;
    my $answer = $way->finish($way->{first}, 60);
    ok $answer->{text} eq $text{$name}, "$name: a large answer"
        or diag length $answer->{text};
    like $way->finish($way->{second})->{text}, qr/^[012]$/,
        "$name: the one behind it";
    is $way->call('n')->{text}, 2, "$name: with the new worker";
}
ok is_whole($huge, $id, $text), 'a huge answer';
is text_of($huge->call_tool('n')), 2, 'with the new worker';
my $wrong = 0;
for my $id (1 .. 700) {
    my $reply = $many->recv_json;
    $wrong++ if $reply->{id} != $id || text_of($reply) ne text($id);
}
is $wrong, 0, 'hundreds of small ones, in order';
is text_of($many->call_tool('n')), 2, 'with the new worker';

# Read in small pieces, with a reload after each.
my $slow = $tg->connect;
$text = text(2_000_000);
$id = $slow->request('tools/call',
    { name => 'echo', arguments => { text => $text } });
my $n = 2;
for (1 .. 5) {
    wait_for { $slow->fill(0) } 'a piece';
    move($tg, body(++$n));
}
ok is_whole($slow, $id, $text), 'in pieces';
is text_of($slow->call_tool('n')), $n, 'with the newest worker';

# Closed in the middle: no error, nothing is left.
my $gone = $tg->connect;
$gone->request('tools/call',
    { name => 'echo', arguments => { text => $text } });
wait_for { $gone->fill(0) } 'a piece';
move($tg, body(++$n));
my %before = map { $_ => fd_count($_) } $tg->worker_pids;
$gone->close;
wait_for { grep { fd_count($_) < $before{$_} } keys %before }
    'the worker to notice';
is text_of($slow->call_tool('n')), $n, 'the others go on';

done_testing;
