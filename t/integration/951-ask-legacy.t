#!/usr/bin/perl
# `ask` in sessions of MCP's legacy era: the client is asked by requests, also
# when its session moves to another worker meanwhile.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 2);
my $tools = <<'END';
tool_log calls.log json;
tool deploy {
    description "Deploys.";
    input_schema '{"type":"object","properties":{"env":{"type":"string"}}}';
    ask sure form {
        message "Deploy to $tool_arg_env?";
        field   reason string required;
    }
    return "$tool_action_sure: $tool_answer_sure_reason";
}
tool anyway {
    description "Runs anyway.";
    ask sure form { message "Sure?"; field reason string; else run; }
    return "[$tool_action_sure]";
}
tool both {
    description "Asks for two things at once.";
    ask first form { message "One?"; field a string required; }
    ask page url { message "Log in."; url "https://example.com/"; }
    return "$tool_answer_first_a $tool_action_page";
}
tool late {
    description "Waits a moment.";
    ask_timeout 1ms;
    ask sure form { message "Quick?"; field reason string; }
    return ok;
}
tool echo {
    description "Says hi.";
    return hi;
}
END
$tg->conf($tools)->start;

# Opens a legacy session of a client with these capabilities.
sub session {
    my ($caps, $revision) = @_;
    my $client = $tg->connect;
    $client->rpc(
        'initialize',
        {
            protocolVersion => $revision // '2025-11-25',
            capabilities    => $caps,
            clientInfo      => { name => 'test', version => 1 }
        }
    );
    $client->notify('notifications/initialized');
    return $client;
}

sub start {
    my ($client, $name, $arguments) = @_;
    return $client->request('tools/call',
        { name => $name, arguments => $arguments // {} });
}

# Returns the next request to the client, with this text.
sub question {
    my ($client, $text) = @_;
    $text //= '';
    return $client->recv_where(
        sub {
            my ($message) = @_;
            return $message->{method} && defined $message->{id}
                && index($message->{params}{message} // '', $text) >= 0;
        },
        undef,
        'a question'
    );
}

# Answers the next request to the client. Returns the request.
sub answer {
    my ($client, %answer) = @_;
    my $request = question($client);
    $client->send_line({ jsonrpc => '2.0', id => $request->{id}, %answer });
    return $request;
}

my $FORM = { elicitation => {} };
my $client = session($FORM);
my $call = start($client, 'deploy', { env => 'prod' });
my $request = answer($client,
    result => { action => 'accept', content => { reason => 'why not' } });
is $request->{method}, 'elicitation/create', 'the client is asked';
is_deeply $request->{params},
    {
    message         => 'Deploy to prod?',
    requestedSchema => {
        type       => 'object',
        properties => { reason => { type => 'string' } },
        required   => ['reason']
    }
    },
    'the question';
is text_of($client->reply($call)), 'accept: why not', 'the call runs then';

for my $action (qw(decline cancel)) {
    $call = start($client, 'deploy', { env => 'x' });
    answer($client, result => { action => $action });
    like text_of($client->reply($call)), qr/^deploy was not done: /, $action;
    $call = start($client, 'anyway');
    answer($client, result => { action => $action });
    is text_of($client->reply($call)), "[$action]", "$action: else run";
}

$call = start($client, 'deploy', { env => 'x' });
answer($client, error => { code => -32603, message => 'broken' });
is text_of($client->reply($call)),
    'deploy was not done: nobody answered (ask "sure").', 'an error';

$call = start($client, 'deploy', { env => 'x' });
answer($client, result => { action => 'accept', content => { reason => 5 } });
answer($client, result => { action => 'accept', content => {} });
answer($client, result => 'nonsense');
is text_of($client->reply($call)),
    'deploy was not done: nobody answered (ask "sure").',
    'an unfit answer is asked for again';

$call = start($client, 'late');
is text_of($client->reply($call)),
    'late was not done: nobody answered (ask "sure").', 'no answer in time';
$request = question($client, 'Quick?');
is $client->notification('notifications/cancelled')->{params}{requestId},
    $request->{id}, 'its question is cancelled';

# Other calls go on meanwhile, and an asking call can be cancelled.
$call = start($client, 'deploy', { env => 'x' });
$request = question($client, 'to x?');
is text_of($client->call_tool('echo')), 'hi', 'another call runs meanwhile';
$client->notify('notifications/cancelled', { requestId => $call });
is $client->notification('notifications/cancelled')->{params}{requestId},
    $request->{id}, 'a cancelled call: its question is cancelled';
$client->send_line({
    jsonrpc => '2.0',
    id      => $request->{id},
    result  => { action => 'accept', content => { reason => 'x' } }
});
is text_of($client->call_tool('echo')), 'hi', 'a late answer is ignored';
ok $client->is_silent(0.05), 'the cancelled call has no answer';

# Two questions at once, answered in any order; one unknown to the client.
my $all = session({ elicitation => { form => {}, url => {} } });
$call = start($all, 'both');
my @requests = map { question($all) } 1, 2;
like $requests[1]{params}{elicitationId}, qr/^[0-9a-f]{32}$/,
    'a url has an id in this era';
$all->send_line({
    jsonrpc => '2.0', id => $requests[1]{id}, result => { action => 'accept' }
});
$all->send_line({
    jsonrpc => '2.0',
    id      => $requests[0]{id},
    result  => { action => 'accept', content => { a => 'b' } }
});
is text_of($all->reply($call)), 'b accept', 'two questions at once';
my $cannot = qr/^\w+\ was\ not\ done:\ its\ user\ must\ be\ asked\ first,
    \ which\ this\ client\ does\ not\ support/x;
like text_of($client->call_tool('both')), $cannot,
    'a client without url is not asked at all';
ok $client->is_silent(0.05), 'not even for the form';

# Who cannot be asked.
like text_of(session({})->call_tool('deploy', { env => 'x' })), $cannot,
    'a client without elicitation';
is text_of(session({})->call_tool('anyway')), '[]', 'else run';
like text_of($tg->connect->call_tool('deploy', { env => 'x' })), $cannot,
    'plain JSON-RPC';
is text_of($tg->connect->ipc_call('anyway')), '[]', 'ipc: else run';

# The session moves while its client thinks.
$call = start($client, 'deploy', { env => 'later' });
my ($before) = $tg->worker_pids;
$tg->reload($tools);
wait_for {
    !grep { $_ == $before } $tg->worker_pids
} 'the end of the old worker';
answer($client,
    result => { action => 'accept', content => { reason => 'moved' } });
is text_of($client->reply($call)), 'accept: moved', 'answered after a reload';

$call = start($client, 'deploy', { env => 'x' });
question($client);
$client->shutdown_write;
like text_of($client->reply($call)), qr/nobody answered/,
    'a client that closes its side cannot answer';
$client->notification('notifications/cancelled');
ok $client->at_eof, 'and its session ends';

my @lines = map { Toolgate::Json::decode($_) } split /\n/,
    slurp($tg->dir . '/calls.log');
is scalar(grep { ($_->{rule} // '') eq 'ask' && $_->{status} eq 'ok' } @lines),
    14, 'each question is logged';

done_testing;
