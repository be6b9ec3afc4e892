#!/usr/bin/perl
# More programs than may run at once: some wait; beyond that a call fails at
# once with a reason; a close makes room.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END')->start;
tool nap { exec sleep 3605; timeout 2h; }
tool soon { exec true; timeout 400ms; }
tool hi { exec echo $tool_arg_n; }
END

sub napping {
    return scalar grep {/^\S*sleep 3605$/} values %{ $tg->processes };
}

# 64 run, 1024 wait; one connection may have 256 calls.
my ($running, $waiting, $each) = (64, 1024, 256);
my @clients = map { $tg->connect } 1 .. 5;
my $line = join '', map {
    Toolgate::Client->encode({
        jsonrpc => '2.0', id => $_, method => 'tools/call',
        params => { name => 'nap' },
    }) . "\n"
} 1 .. $each;
$_->send_raw($line) for @clients;
my $refused = $each * @clients - $running - $waiting;
my %seen;
# It is not defined whose calls come last.
for my $round (1 .. $refused) {
    my $reply = wait_for {
        for my $i (0 .. $#clients) {
            $clients[$i]->fill(0);
            return { %{ $clients[$i]->recv_json }, client => $i }
                if $clients[$i]->buffered =~ /\n/;
        }
        return;
    } "refusal $round of $refused";
    $seen{"$reply->{client} $reply->{id}"}++;
    die text_of($reply) if text_of($reply) !~
        /64 programs are running and 1024 wait.*[Tt]ry again/;
    die 'no error' if !$reply->{result}{isError};
}
is keys %seen, $refused, "$refused calls are refused, each once";
wait_for { napping() == $running } "$running programs to run";
ok $_->is_silent(0), 'the others wait' for @clients;

my $other = $tg->connect;
my $reply = $other->call_tool(hi => { n => 1 });
like text_of($reply), qr/64 programs are running and 1024 wait/,
    'so is one more call';
my $ipc = $tg->connect;
is $ipc->ipc_call('hi')->{error}{type}, 'BlockingIOError', 'in ipc too';

# Waiting calls are dropped with their client, running ones are ended.
$_->close for splice @clients, 1;
wait_for { napping() == $running } 'the programs of the last client';
$reply = $other->call_tool('soon');
ok $reply->{result}{isError}, 'waiting counts towards the deadline';
like text_of($reply), qr/could not start within 400 ms .*64 programs/,
    'and that is said';
my $id = $other->request('tools/call',
    { name => 'hi', arguments => { n => 2 } });
$other->notify('notifications/cancelled', { requestId => $id });
$id = $other->request('tools/call', { name => 'hi', arguments => { n => 3 } });

$clients[0]->close;
is text_of($other->reply($id, 20)), "3\n", 'then there is room';
ok $other->is_silent(0), 'what was cancelled does not run';
wait_for { !napping() } 'all programs to end';
pass 'all programs end with their clients';

done_testing;
