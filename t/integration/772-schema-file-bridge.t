#!/usr/bin/perl
# The schema file in use: the bridge of the ipc dialect lists its content and
# calls over the socket.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $path = $tg->dir . '/tools.json';
my $conf = <<'END';
tool_protocol ipc;
tool_schema_file tools.json;
tool greet { description "Greets."; return "hello $tool_arg_who";
             input_schema '{"type":"object","required":["who"],
                 "properties":{"who":{"type":"string"}}}'; }
tool hidden { deny all; return hi; }
tool fails { exec false; }
END
$tg->conf($conf)->start;

for my $args ([ $tg->socket_path, $path ],
    [ '--dialect', 'ipc', $tg->socket_path, $path ])
{
    my $bridge = $tg->bridge($args);
    my $name = @$args > 2 ? '--dialect ipc' : 'by itself';
    is $bridge->rpc('initialize', { protocolVersion => '2025-06-18' })
        ->{result}{protocolVersion}, '2025-06-18', $name;
    is_deeply $bridge->rpc('tools/list')->{result}{tools}, [
        {
            name        => 'greet',
            description => 'Greets.',
            inputSchema => {
                type       => 'object',
                required   => ['who'],
                properties => { who => { type => 'string' } },
            },
        },
        {
            name        => 'fails',
            description => '',
            inputSchema => { type => 'object', properties => {} },
        },
    ], "$name: the tools of the file";
    is $bridge->call_tool('greet', { who => 'you' })
        ->{result}{content}[0]{text}, 'hello you', "$name: a call";
    my $result = $bridge->call_tool('greet', { who => 7 })->{result};
    ok $result->{isError}, "$name: arguments that do not fit";
    like $result->{content}[0]{text},
        qr{ValidationError: /who: expected string, got number},
        "$name: and why";
    $result = $bridge->call_tool('fails')->{result};
    like $result->{content}[0]{text}, qr/CalledProcessError: fails exited/,
        "$name: a program that fails";
    ok $bridge->call_tool('hidden')->{result}{isError},
        "$name: a tool that is not for it";
}

# A bridge that starts after a reload has the new list; an older one can still
# call.
my $old = $tg->bridge([ $tg->socket_path, $path ]);
$old->rpc('initialize', { protocolVersion => '2025-06-18' });
is text_of($old->call_tool('greet', { who => 'a' })),
    'hello a', 'before a reload';
$tg->reload($conf . 'tool late { return later; }');
my $new = $tg->bridge([ $tg->socket_path, $path ]);
$new->rpc('initialize', { protocolVersion => '2025-06-18' });
is $new->rpc('tools/list')->{result}{tools}[2]{name}, 'late', 'the new list';
is text_of($new->call_tool('late')), 'later', 'its call';
is text_of($old->call_tool('greet', { who => 'b' })),
    'hello b', 'after a reload';

done_testing;
