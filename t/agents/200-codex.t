#!/usr/bin/perl
# Codex without a terminal: what it finds, and what reaches its model.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;

# Codex asks nobody before it calls a tool that only reads.
$tg->conf(<<'END')->start;
tool say {
    description "Says it.";
    annotations '{"readOnlyHint":true}';
    return      "this is said";
}
resource note:///todo {
    description "What to do.";
    mime        text/plain;
    return      "Buy milk.";
}
resource_template "day:///{day}" {
    name        day;
    description "The note of a day.";
    return      "The note of $tool_arg_day.";
}
END
my $codex = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

# Lets the model call a tool, and returns what it is told.
sub result_of_codex {
    my ($name, $arguments, $namespace) = @_;
    $codex->will_call('Call it', $name, $arguments, $namespace);
    my @events = $codex->run_codex('Call it, please.');
    my ($call) =
        grep { ($_->{type} // '') eq 'mcp_tool_call' && $_->{result} }
        map { $_->{item} // {} } @events;
    is $call->{status}, 'completed', "$name: completed"
        or diag map { Toolgate::Json::encode($_) . "\n" } @events;
    my $asked = $codex->asked(qr/"function_call_output"/);
    return Toolgate::Json::encode(
        [ grep { $_->{type} eq 'function_call_output' }
            @{ $asked->{input} } ]);
}

like result_of_codex(say => {}, 'mcp__tg'), qr/this is said/,
    'the result of a tool';
like result_of_codex(list_mcp_resources => { server => 'tg' }),
    qr{note:///todo.*What to do\.|What to do\..*note:///todo},
    'the resources';
like result_of_codex(list_mcp_resource_templates => { server => 'tg' }),
    qr{day:///\{day\}}, 'the templates';
like result_of_codex(read_mcp_resource =>
    { server => 'tg', uri => 'note:///todo' }), qr/Buy milk\./,
    'the text of a resource';
like result_of_codex(read_mcp_resource =>
    { server => 'tg', uri => 'day:///monday' }), qr/The note of monday\./,
    'the text of a URI of a template';

done_testing;
