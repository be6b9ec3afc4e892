package Toolgate::Floods;

# The table of floods: every source of work of a worker, a runner or their
# clients, flooded in each possible way. t/bench/rows/floods.pl measures the
# waiting time of others; t/integration/81N-flood-*.t check that others are
# served, memory stays within its bound, and the flood ends.
#
# A row has:
#
#   source, kind   who floods, and with what
#   server         the sending party: a method of Toolgate::Flood and its
#                  arguments, whose result replaces %%SERVER%% in `conf`
#   conf           directives of the server
#   attack         what a client does: a function of Toolgate::FloodAttacks and
#                  its options; nothing if the flood needs no client
#   wait           bound of the longest wait of another client, in ms
#   memory         bound of the growth of worker and runner, in MB each
#   busy           the flooded process, if it is not the worker: runner
#   victim         the client that its server floods instead of both;
#   where, reads   when and how: see Toolgate::FloodedClient
#   searches       the other client searches an output, too
#   rounds         rounds of the attack in a test (1)
#   clock          the runner has a clock that the attack sets
#   log            allowed log messages at warn or worse
#
# A new source is a row, or a loop that adds some.

use strict;
use warnings;

use Toolgate::Attacks;

my @rows;

# Bounds beside many small messages, and beside one large message or step.
my ($SMALL, $LARGE) = (5, 50);

# Stores large outputs.
my $SPILL = 'max_output 4k spill;';

sub all { return @rows }

# Titles of Toolgate::Flood's kinds.
my %title = (
    blank    => 'blank lines',
    brackets => 'empty objects',
    garbage  => 'binary garbage',
    roots    => '`roots/list` requests',
    asks     => 'unknown requests',
    notes    => 'log messages',
    changes  => '`list_changed` notifications',
    progress => 'progress notifications',
    answers  => 'unexpected responses',
    news     => 'unknown notifications',
    long     => 'notifications of 1 MB',
    huge     => 'responses of 9 MB',
    many     => 'responses with 3,000,000 objects',
    frames   => 'small frames',
    frame    => 'frames of 9 MB',
    endless  => 'an endless line',
    trickle  => 'single bytes',
    silent   => 'no response',
    headers  => 'endless headers',
    strays   => 'late responses',
    lines    => 'log lines',
);

sub add {
    my ($source, $kind, %row) = @_;
    my $more = qr/(?: \(.*| (?:on|in|after|×|of 8) .*)?/;
    $kind =~ s/^(\w+)(?=$more$)/$title{$1} \/\/ $1/e;
    push @rows, { source => $source, kind => $kind, rounds => 1, %row };
    return;
}

# --- without a flood ------------------------------------------------------

# The waits that a busy process causes on an otherwise idle machine.
add('nobody', 'only a busy process',
    attack => ['spin'],
    wait   => $SMALL,
    memory => 16);

# --- clients --------------------------------------------------------------

my %line = (
    'blank lines'   => "\n",
    'empty objects' => "{}\n",
    'numbers'       => "1\n",
    'garbage'       => "\1\2\3\n",
    'pings'         => qq({"jsonrpc":"2.0","id":1,"method":"ping"}\n),
    'notifications' => qq({"jsonrpc":"2.0","method":"notifications/x"}\n),
    'cancellations' => '{"jsonrpc":"2.0","method":"notifications/cancelled",'
        . qq("params":{"requestId":7}}\n),
    'responses' => qq({"jsonrpc":"2.0","id":7,"result":{}}\n),
    'calls'     => '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        . qq({"name":"echo","arguments":{"text":"x"}}}\n),
    'unknown methods' => qq({"jsonrpc":"2.0","id":1,"method":"x/y"}\n),
);
for my $kind (sort keys %line) {
    add('client', $kind,
        attack => [ 'pour', bytes => $line{$kind} ],
        rounds => 2,
        wait   => $SMALL,
        memory => 32);
}
add('client', 'empty objects (`relay`)',
    attack => [ 'pour', bytes => "{}\n", dialect => 'relay' ],
    rounds => 2,
    wait   => $SMALL,
    memory => 32);
add('client', 'pings (`ipc`)',
    attack => [ 'pour', dialect => 'ipc',
        bytes => pack('N/a', '{"method":"ping"}') ],
    rounds => 2,
    wait   => $SMALL,
    memory => 32);
add('client', 'single bytes',
    attack => [ 'pour', bytes => $line{pings}, pace => 0.002 ],
    wait   => $SMALL,
    memory => 16);

sub call_of { return Toolgate::Attacks::call_of('jsonrpc', 1, @_) }

# Made in the sending process.
my %message = (
    'a blank line'       => sub { ' ' x $_[0] . "\n" },
    'a string'           => sub { '"' . 'x' x $_[0] . "\"\n" },
    'brackets'           => sub { '[' x $_[0] . "\n" },
    'a batch'            => sub { '[' . '{},' x ($_[0] / 3) . "{}]\n" },
    'arguments'          => sub {
        call_of('echo', '{"x":[' . '{"a":1},' x ($_[0] / 8) . '1]}');
    },
    'a returned argument' => sub {
        call_of('echo', '{"text":"' . 'x' x $_[0] . '"}');
    },
);
for my $kind (sort keys %message) {
    add('client', "$kind of 10 MB",
        attack => [ 'pour', bytes => sub { $message{$kind}->(10_000_000) } ],
        wait   => $LARGE,
        memory => 96);
}

# --- backends of `pass` ---------------------------------------------------

sub add_backend {
    my ($protocol, $transport, $kind, %row) = @_;
    my $ssl = $transport eq 'tls'
        ? 'tool_pass_ssl on; tool_pass_ssl_verify off;' : '';
    my $notify = $protocol eq 'ipc' ? '' : ' notify';
    add("backend, $protocol over $transport", $kind,
        server => [ 'backend', $transport, $kind ],
        conf   => "tool far { pass %%SERVER%% protocol=$protocol$notify; "
            . "timeout 1s; $ssl }",
        attack => [ 'calls', tool => 'far', fails => 1 ],
        log    => qr/backend|connection to|far/,
        wait   => $SMALL,
        memory => 32,
        %row);
}
my @large = (wait => $LARGE, memory => 96);
add_backend('jsonrpc', 'unix', $_)
    for qw(blank brackets numbers garbage news pings asks progress answers
    trickle);
add_backend('jsonrpc', 'unix', $_, @large) for qw(long huge many endless);
for my $transport (qw(tcp tls)) {
    add_backend('jsonrpc', $transport, $_) for qw(blank brackets numbers news);
    add_backend('jsonrpc', $transport, $_, @large) for qw(long huge);
}
add_backend('relay', 'unix', $_) for qw(blank brackets news);
add_backend('mcp',   'unix', $_) for qw(blank brackets pings changes);
add_backend('ipc', 'unix', 'frames');
add_backend('ipc', 'unix', 'frame', @large);

sub add_go {
    my ($kind, $name, $conf, $fails) = @_;
    add('backend, mcp over unix', $name,
        server => [ 'socket', $kind, 'none' ],
        conf   => "tool go { pass unix:%%SERVER%% protocol=mcp; $conf }",
        attack => [ 'calls', tool => 'go', dialect => 'jsonrpc',
            fails => $fails ],
        log    => qr/backend|go/,
        wait   => $LARGE,
        memory => 192);
}
add_go('text', 'a text of 32 MB', 'max_output 32m;', 1);
add_go('text', 'a result of 32 MB', 'max_output 32m; output result;', 1);
add_go('blocks', '9.9 MB of content blocks as text', 'max_output 32m;', 0);
add_go('blocks', '9.9 MB of content blocks',
    'max_output 32m; output result;', 0);
add_go('blocks', '9.9 MB of content blocks, stored', $SPILL, 0);

# --- the runner's connection: large answers and arguments -----------------

sub add_answers {
    my ($kind, $conf, $memory, %attack) = @_;
    add('large messages of the runner', $kind,
        conf   => "tool large { $conf }",
        attack => [ 'calls', tool => 'large', dialect => 'jsonrpc', %attack ],
        wait   => $LARGE,
        memory => $memory);
}
add_answers('30 × 1 MB of NUL bytes', 'exec head -c 1000000 /dev/zero;', 256,
    count => 30);
add_answers('10 × 10 MB of NUL bytes',
    'exec head -c 10000000 /dev/zero; max_output 32m;', 384,
    count => 10,
    fails => 1);
add_answers('60 MB, refused',
    'exec head -c 30000000 /dev/zero; max_output 32m;', 192,
    fails => 1);
add_answers('30 MB of text, refused',
    q(exec sh -c 'yes | head -c 30000000'; max_output 32m;), 192,
    fails => 1);
add_answers('9 MB of text',
    q(exec sh -c 'yes | head -c 6000000'; max_output 32m;), 96);
# A worker that holds all of them has less than its 256 MiB.
add_answers('25 × 9 MB of text',
    q(exec sh -c 'yes | head -c 6000000'; max_output 32m;), 640,
    count => 25);
add_answers('10 MB for stdin', 'exec wc -c; stdin $tool_arg_text;', 96,
    text => 10_000_000);
add_answers('an argument of 10 MB', 'exec true $tool_arg_text;', 96,
    text  => 10_000_000,
    fails => 1);

# 366,000 blocks, to be checked as JSON.
add_answers('9.9 MB of content blocks',
    'exec %%SERVER%%; output result; max_output 32m;', 192);
$rows[-1]{server} = [ 'program', 'blocks' ];

# --- threads of a library -------------------------------------------------

sub add_threads {
    my ($name, $kind, %row) = @_;
    my $conf = delete $row{conf} // '';
    add('threads of a library', $name,
        server => ['library'],
        conf   => "tool far { library %%SERVER%% toolgate_handler $kind; "
            . "$conf }",
        log    => qr/far|libraries/,
        wait   => $SMALL,
        memory => 64,
        %row);
    return;
}

sub calls_of_far {
    return [ 'calls', tool => 'far', dialect => 'jsonrpc', @_ ];
}
# For progress, the worker waits for a thread that the kernel has stopped with
# the mailbox's mutex: as many threads share one processor here.
add_threads("$_ of 8 calls", $_,
    conf   => 'timeout 1s max=1s;',
    attack => calls_of_far(count => 8, fails => 1),
    wait   => $_ eq 'progress' ? $LARGE : $SMALL)
    for qw(progress strays lines);
add_threads('responses to calls', 'word',
    attack => [ 'pour', bytes => call_of('far', '{}') ],
    rounds => 2);
add_threads('4 responses of 9 MB', 'text',
    conf   => 'max_output 32m;',
    attack => calls_of_far(count => 4),
    wait   => $LARGE,
    memory => 192);
add_threads('9.9 MB of content blocks', 'blocks',
    conf   => 'max_output 32m; output result;',
    attack => calls_of_far(),
    wait   => $LARGE,
    memory => 192);

# --- MCP servers ----------------------------------------------------------

my @mcp = qw(blank brackets numbers garbage pings roots asks notes changes
    progress answers);
my @mcp_large = qw(long huge many endless);

sub add_mcp {
    my ($transport, $kind, %row) = @_;
    my $how = $transport eq 'url' ? 'url' : 'exec';
    add($transport eq 'url' ? 'MCP server by URL' : 'MCP server on stdio',
        $kind,
        server => [ $transport, $kind ],
        conf   => "mcp_server far { $how %%SERVER%%; roots /tmp; timeout 1s; }",
        attack => [ 'calls', tool => 'far_go', fails => 1 ],
        busy   => 'runner',
        log    => qr/far/,
        wait   => $SMALL,
        memory => 96,
        %row);
}
for my $transport (qw(stdio url)) {
    add_mcp($transport, $_) for @mcp;
    add_mcp($transport, $_, wait => $LARGE) for @mcp_large;
}
add_mcp('stdio', "$_ on stderr", server => [ 'stdio', $_, 'stderr' ])
    for qw(numbers endless);
for my $transport (qw(stdio url)) {
    my $how = $transport eq 'url' ? 'url' : 'exec';
    add_mcp($transport, "9.9 MB of content blocks$_->[0]",
        server => [ $transport, 'blocks' ],
        conf   => "mcp_server far { $how %%SERVER%%; $_->[1] }",
        attack => [ 'calls', tool => 'far_go', dialect => 'jsonrpc' ],
        wait   => $LARGE,
        memory => 192) for [ '', 'max_output 32m;' ],
        [ ', stored', $SPILL ];
}
my %where = (
    GET          => [ 'on its event stream',              qw(blank pings) ],
    initialize   => [ 'in the response to `initialize`', qw(blank notes) ],
    'tools/list' => [ 'in the response to `tools/list`', qw(blank notes) ],
);
for my $method (sort keys %where) {
    my ($text, @kinds) = @{ $where{$method} };
    add_mcp('url', "$_ $text",
        server => [ 'url', $_, $method ],
        attack => undef) for @kinds;
}

# --- imported lists -------------------------------------------------------

my %list = (
    many  => '4,000 tools that change each second',
    heavy => '30 tools with 1,000 patterns that change each second',
    large => '15 MB that change each second',
);
for my $kind (sort keys %list) {
    add('imported list', $list{$kind},
        server => [ 'lists', $kind ],
        conf   => 'mcp_server far { exec %%SERVER%%; }',
        attack => ['lists'],
        rounds => 2,
        log    => qr/far/,
        wait   => $LARGE,
        memory => 192);
}

# --- HTTP -----------------------------------------------------------------

for my $kind (qw(blank endless headers trickle silent)) {
    add('HTTP response', $kind,
        server => [ 'http', $kind ],
        conf   => 'tool far { http GET %%SERVER%%; timeout 1s; }',
        attack => [ 'calls', tool => 'far', count => 8, fails => 1 ],
        busy   => 'runner',
        wait   => $SMALL,
        memory => 64);
}
add('HTTP response', "9 MB of $_->[3]",
    server => [ 'http', $_->[0] ],
    conf   => "tool far { http GET %%SERVER%%; $_->[1] }",
    attack => calls_of_far(fails => $_->[2]),
    busy   => 'runner',
    wait   => $LARGE,
    memory => 192)
    for [ 'blocks', 'output result; max_output 32m;', 0, 'content blocks' ],
    [ 'latin', 'max_output 32m;', 1, 'Latin-1 text' ];
for my $kind (qw(silent blank headers trickle)) {
    add('webhook', "$kind × 100",
        server => [ 'http', $kind ],
        conf   => join('', 'task_methods on;',
            'task_agent a { exec cat; stdin $task_prompt; default; }',
            map {"automation w$_ { trigger cron \"0 12 * * *\" zone=UTC; "
                . 'webhook %%SERVER%%; }'} 1 .. 100),
        attack => ['due'],
        busy   => 'runner',
        clock  => 1,
        log    => qr/webhook/,
        wait   => $SMALL,
        memory => 64);
}

# --- rules ----------------------------------------------------------------

add('rules', '230 due in one minute',
    conf => join('', 'task_methods on;',
        'task_agent a { exec cat; stdin $task_prompt; default; }',
        map {"automation n$_ { trigger cron \"0 12 * * *\" zone=UTC; "
            . 'notify x; }'} 1 .. 230),
    attack => ['due'],
    busy   => 'runner',
    clock  => 1,
    wait   => $SMALL,
    memory => 64);

# --- broadcasts -----------------------------------------------------------

for my $listeners (500, 2000) {
    for my $reading (0, 1) {
        add('broadcast', "1 MB for $listeners clients that "
                . ($reading ? 'read' : 'do not read'),
            conf   => 'method tell { broadcast event; }',
            attack => [ 'broadcasts', listeners => $listeners,
                reading => $reading, size => 1_000_000 ],
            log    => qr/client|broadcast/,
            rounds => 2,
            wait   => $LARGE,
            memory => 128);
    }
}

# --- output of programs ---------------------------------------------------

my %output = (
    'endless stdout'   => 'exec yes;',
    'endless stderr'   => q(exec sh -c 'yes >&2';),
    'endless NUL bytes' => 'exec cat /dev/zero;',
    'stdout and stderr' => q(exec sh -c 'yes & yes >&2'; stderr append;),
    'single bytes'     =>
        q(exec sh -c 'while echo; do sleep 0.002; done';),
);
for my $kind (sort keys %output) {
    add("program's output", $kind,
        conf   => "tool far { $output{$kind} timeout 1s; max_output 32m; }",
        attack => [ 'calls', tool => 'far', fails => 1 ],
        busy   => 'runner',
        wait   => $SMALL,
        memory => 96);
}

# --- clients of a server that floods --------------------------------------

my %victim = (
    bridge  => 'server of the bridge',
    library => 'server of a program with libtoolgate',
    command => 'server of the command',
);

# With a server that answers meanwhile, and one that stops reading.
sub add_client {
    my ($victim, $kind, %row) = @_;
    my $where = $row{where}
        // ($victim eq 'command' ? 'ping' : 'tools/call');
    my $when = $row{where} ? ' after its tool list' : '';
    for my $reads (0, 1) {
        add($victim{$victim},
            $kind . $when . ($reads ? ' (server responds)' : ''),
            victim => $victim,
            server => [ 'socket', $kind, $where, $reads ],
            where  => $where,
            reads  => $reads,
            wait   => $SMALL,
            memory => 4,
            %row);
    }
    return;
}

# Notifications go to the agent, which reads all the time.
my @small = qw(roots pings asks blank brackets numbers garbage progress changes
    answers notes);
for my $victim (qw(bridge library)) {
    add_client($victim, $_) for @small;
    add_client($victim, $_, wait => $LARGE, memory => 96)
        for qw(long huge many);
}
add('server of the bridge', 'an endless line',
    victim => 'bridge',
    server => [ 'socket', 'endless', 'tools/call', 0 ],
    where  => 'tools/call',
    wait   => $SMALL,
    memory => 96);
add_client('bridge', $_, where => 'tools/list') for qw(blank pings);
add('server of the bridge', '15 MB of tools that change',
    victim => 'bridge',
    server => [ 'socket', 'lists', 'tools/list', 1 ],
    where  => 'tools/list',
    wait   => $LARGE,
    memory => 192);
# Nobody waits for it.
add_client('command', $_, wait => undef, memory => 32)
    for qw(roots brackets notes);
add_client('command', 'long', wait => undef, memory => 64);

# --- search ---------------------------------------------------------------

my %pattern = (
    'pattern `(a*)*` × 40' => '(a*)*' x 40 . '[xy]',
    'pattern `(a\|b)*a` and 240 dots' => '(a|b)*a' . '.' x 240 . '[xy]',
    'pattern `(.*)\1*`'    => '(.*)\1*[xy]',
);
for my $kind (sort keys %pattern) {
    add('search', $kind,
        conf => q(tool many { exec sh -c 'head -c 60000 /dev/zero | tr "\0" a';)
            . ' max_output 1k spill; }',
        attack => [ 'searches', tool => 'many',
            patterns => [ ($pattern{$kind}) x 8 ] ],
        busy   => 'runner',
        searches => 1,
        wait   => $LARGE,
        memory => 64);
}

1;
