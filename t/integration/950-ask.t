#!/usr/bin/perl
# `ask` in a modern session: the client gets what is needed and a sealed state,
# and calls again, in any worker and after a reload.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 2);
my $tools = <<'END';
tool deploy {
    description "Deploys.";
    input_schema '{"type":"object","properties":{"env":{"type":"string"}}}';
    ask sure form {
        message "Deploy to $tool_arg_env?";
        field reason string required max=20;
        field times integer min=1 default=1;
    }
    return "$tool_action_sure: $tool_answer_sure_reason
$tool_answer_sure_times $tool_answer_sure";
}
tool open {
    description "Opens a page.";
    ask page url { message "Log in."; url "https://example.com/"; else run; }
    return "[$tool_action_page]";
}
tool steps {
    description "Asks twice.";
    ask first form { message "Who?"; field name string required; }
    ask second form {
        message "And you, $tool_answer_first_name?";
        field   age integer required;
    }
    return "$tool_answer_first_name $tool_answer_second_age";
}
prompt ask_prompt {
    description "Asks.";
    ask what form { message "What?"; field topic string required; }
    message user "About $tool_answer_what_topic.";
}
resource test://asked {
    ask what form { message "What?"; field topic string required; }
    return "About $tool_answer_what_topic.";
}
END
$tg->conf($tools)->start;

my $FORM = { elicitation => {} };
my $id = 0;

# Sends a modern request on a connection of its own.
sub modern {
    my ($method, $params, $caps) = @_;
    my $client = $tg->connect;
    $client->send_line({
        jsonrpc => '2.0',
        id      => ++$id,
        method  => $method,
        params  => {
            %$params,
            _meta => {
                'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities' => $caps // $FORM,
            }
        }
    });
    return $client->recv_json;
}

sub call {
    my ($name, $arguments, $responses, $state, $caps) = @_;
    return modern(
        'tools/call',
        {
            name      => $name,
            arguments => $arguments,
            ($responses ? (inputResponses => $responses) : ()),
            (defined $state ? (requestState => $state) : ())
        },
        $caps
    );
}

sub accepted {
    my %content = @_;
    return { action => 'accept', content => \%content };
}

my $asked = call('deploy', { env => 'prod' })->{result};
is $asked->{resultType}, 'input_required', 'a form is asked for';
is_deeply $asked->{inputRequests},
    {
    sure => {
        method => 'elicitation/create',
        params => {
            message         => 'Deploy to prod?',
            requestedSchema => {
                type       => 'object',
                properties => {
                    reason => { type => 'string', maxLength => 20 },
                    times  => { type => 'integer', minimum => 1, default => 1 }
                },
                required => ['reason']
            }
        }
    }
    },
    'the form';
my $state = $asked->{requestState};
my $prod = { env => 'prod' };
my $sure = { sure => accepted(reason => 'why "not"', times => 2, other => 3) };
is text_of(call('deploy', $prod, $sure, $state)),
    qq(accept: why "not"\n2 {"reason":"why \\"not\\"","times":2}),
    'the answers are in variables, without a field that was not asked for';
is text_of(call('deploy', $prod, $sure, $state)),
    qq(accept: why "not"\n2 {"reason":"why \\"not\\"","times":2}),
    'the state is not for one use only';

# Answers that do not fit are asked for again.
my %unfit = (
    'no answer'        => {},
    'a wrong key'      => { other => accepted(reason => 'x') },
    'a missing field'  => { sure => accepted(times => 1) },
    'a too long text'  => { sure => accepted(reason => 'x' x 21) },
    'a too small number' => { sure => accepted(reason => 'x', times => 0) },
    'a wrong type'     => { sure => accepted(reason => 1) },
    'no content'       => { sure => { action => 'accept' } },
    'no object as content' => { sure => { action => 'accept', content => [] } },
    'no action'        => { sure => { content => { reason => 'x' } } },
    'an unknown action' => { sure => { action => 'maybe' } },
);
for my $what (sort keys %unfit) {
    my $got = call('deploy', $prod, $unfit{$what}, $state)->{result};
    is $got->{resultType}, 'input_required', "$what: asked again";
    isnt $got->{requestState}, $state, "$what: with another state";
}
is call('deploy', $prod, { sure => $_ }, $state)->{error}{code}, -32602,
    'an answer that is no object'
    for 1, 'x', [], undef;
is modern('tools/call',
    { name => 'deploy', arguments => $prod, inputResponses => undef })
    ->{error}{code}, -32602, 'inputResponses: null';
my $last = $state;
my $n = 0;
while ($n < 20) {
    my $got = call('deploy', $prod, $unfit{'no action'}, $last);
    last if $got->{error};
    $last = $got->{result}{requestState};
    $n++;
}
is $n, 15, 'a call has 16 rounds at most';

# The user decides.
my $declined = call('deploy', $prod, { sure => { action => 'decline' } },
    $state);
is text_of($declined), 'deploy was not done: its user said no (ask "sure").',
    'declined';
ok $declined->{result}{isError}, 'which is an error';
is text_of(call('deploy', $prod, { sure => { action => 'cancel' } }, $state)),
    'deploy was not done: nobody answered (ask "sure").', 'cancelled';

# The state is bound to the call.
my $foreign = qr/^params\.requestState is not of this call/;
my %replays = (
    'other arguments' => [ 'deploy', { env => 'test' }, $sure, $state ],
    'another tool'    => [ 'steps',  $prod, $sure, $state ],
    'a changed state' => [ 'deploy', $prod, $sure, "$state-TAMPERED" ],
    'a cut state'     => [ 'deploy', $prod, $sure, substr $state, 1 ],
    'an empty state'  => [ 'deploy', $prod, $sure, '' ],
);
for my $what (sort keys %replays) {
    my $error = call(@{ $replays{$what} })->{error};
    is $error->{code}, -32602, $what;
    like $error->{message}, $foreign, "$what: the reason";
}
is call('deploy', $prod, $sure, 5)->{error}{code}, -32602, 'no text as state';

# What the client cannot do.
my $error = call('deploy', $prod, undef, undef, { roots => {} })->{error};
is $error->{code}, -32021, 'a client without elicitation';
is_deeply $error->{data}, { requiredCapabilities => { elicitation => {} } },
    'what it lacks';
is call('deploy', $prod, undef, undef, { elicitation => { url => {} } })
    ->{error}{code}, -32021, 'a client without forms';
is text_of(call('open', {})), '[]', 'else run: a client without url runs it';
my $page = call('open', {}, undef, undef, { elicitation => { url => {} } });
is_deeply $page->{result}{inputRequests}{page},
    {
    method => 'elicitation/create',
    params => {
        mode => 'url', message => 'Log in.', url => 'https://example.com/'
    }
    },
    'a url is asked for';
is text_of(
    call('open', {}, { page => { action => 'decline' } },
        $page->{result}{requestState}, { elicitation => { url => {} } })
    ),
    '[decline]', 'else run: it runs though it was declined';

# Two rounds, in other workers and after a reload.
my $one = call('steps', {})->{result};
is_deeply [ keys %{ $one->{inputRequests} } ], ['first'],
    'the second question needs the first answer';
my $two = call('steps', {}, { first => accepted(name => 'Ann') },
    $one->{requestState})->{result};
is $two->{inputRequests}{second}{params}{message}, 'And you, Ann?',
    'the second question';
$tg->reload($tools . 'tool more { description "More."; return x; }');
is text_of(
    call('steps', {}, { second => accepted(age => 7) },
        $two->{requestState})
    ),
    'Ann 7', 'answered after a reload that did not change the tool';
(my $changed = $tools) =~ s/Who\?/Who are you?/;
$tg->reload($changed);
like call('steps', {}, { second => accepted(age => 7) },
    $two->{requestState})->{error}{message}, $foreign,
    'a reload that changed the questions';

# Prompts and resources.
my $topic = { what => accepted(topic => 'tea') };
my $prompt = modern('prompts/get', { name => 'ask_prompt' })->{result};
is $prompt->{resultType}, 'input_required', 'a prompt asks';
is modern(
    'prompts/get',
    {
        name           => 'ask_prompt',
        inputResponses => $topic,
        requestState   => $prompt->{requestState}
    }
)->{result}{messages}[0]{content}{text}, 'About tea.', 'a prompt answers';
my $read = modern('resources/read', { uri => 'test://asked' })->{result};
is $read->{resultType}, 'input_required', 'a resource asks';
ok !exists $read->{ttlMs}, 'which is never cached';
is modern(
    'resources/read',
    {
        uri            => 'test://asked',
        inputResponses => $topic,
        requestState   => $read->{requestState}
    }
)->{result}{contents}[0]{text}, 'About tea.', 'a resource answers';
is modern('resources/read', { uri => 'test://asked' }, {})->{error}{code},
    -32021, 'a resource cannot ask this client';

# A state ends.
$tg->reload('tool brief { description "x"; ask_timeout 1ms; '
        . 'ask q form { message "?"; field a string; } return ok; }');
my $brief = call('brief', {})->{result}{requestState};
my $late;
wait_for {
    $late = call('brief', {}, { q => accepted(a => 'b') }, $brief);
    $late->{error}
} 'the end of the state';
is $late->{error}{code}, -32602, 'an expired state';
like $late->{error}{message}, qr/^params\.requestState has expired/,
    'the reason';

done_testing;
