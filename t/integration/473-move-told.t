#!/usr/bin/perl
# After a reload a client is notified of another list of tools, if possible, and
# only if its own list has changed.

use Toolgate::Test qw(Move Way);

use constant CHANGED => 'notifications/tools/list_changed';

my $tg = Toolgate::Test->new;
my %meta = %{ modern_meta() };

# Parts of the config that can change.
my %part = (
    title       => 'Hi',
    description => 'Says hi.',
    input       => '{"type":"object"}',
    output      => '{"type":"object"}',
    annotations => '{"readOnlyHint":true}',
    handler     => 'return hi',
    more        => '',
    hidden      => 'Hidden.',
    rule        => '',
);

sub body {
    my %is = (%part, @_);
    return <<"END";
tool hi {
    title         "$is{title}";
    description   "$is{description}";
    input_schema  '$is{input}';
    annotations   '$is{annotations}';
    $is{handler};
}
tool data {
    description   "Data.";
    output_schema '$is{output}';
    output        json;
    return        '{}';
}
tool secret { description "$is{hidden}"; deny all; return no; }
tool maybe { description "Maybe."; $is{rule} return maybe; }
method ready { return 1; }
$is{more}
END
}

$tg->conf(body())->start;
my ($legacy, $relay, $ipc) =
    map { Toolgate::Way->new($_, $tg->connect) } qw(legacy relay ipc);
my ($modern, $deaf, $rpc) = map { $tg->connect } 1 .. 3;
my $listen = $modern->request('subscriptions/listen',
    { _meta => \%meta, notifications => { toolsListChanged => \1 } });
my $ack = $modern->recv_json;
is $ack->{method}, 'notifications/subscriptions/acknowledged', 'a listener';
ok $ack->{params}{notifications}{toolsListChanged}, 'of changes';
# Of the modern era, but without a subscription.
ok $deaf->rpc('tools/list', { _meta => \%meta })->{result}{tools}, 'deaf';
is $rpc->rpc('ready')->{result}, 1, 'no client of MCP';
$_->list for $legacy, $relay;
is $ipc->call('hi')->{text}, 'hi', 'ipc';
my $hello = $tg->connect->rpc('initialize',
    { protocolVersion => '2025-11-25', capabilities => {} });
ok $hello->{result}{capabilities}{tools}{listChanged}, 'changes are declared';
my $first = $tg->connect->rpc('server/discover', { _meta => \%meta });
ok $first->{result}{capabilities}{tools}{listChanged}, 'in both eras';

# Sends a request, and counts the messages before its response.
sub told {
    my ($client, $ask) = @_;
    $ask->();
    my @aside = splice @{ $client->{aside} };
    return join ' ', map { $_->{method} // Toolgate::Client->encode($_) }
        @aside;
}

sub is_told {
    my ($changed, $what) = @_;
    my $expected = $changed ? CHANGED : '';
    is told($legacy->client, sub { $legacy->client->rpc('ping') }), $expected,
        "legacy: $what";
    is told($relay->client, sub { $relay->list }), $expected, "relay: $what";
    my @seen;
    is told($modern, sub {
            $modern->rpc('tools/list', { _meta => \%meta });
            @seen = @{ $modern->{aside} };
        }), $expected, "modern: $what";
    is $seen[0]{params}{_meta}{'io.modelcontextprotocol/subscriptionId'},
        $listen, 'for its subscription' if $changed;
    is told($deaf, sub { $deaf->rpc('tools/list', { _meta => \%meta }) }), '',
        "without a subscription: $what";
    is told($rpc, sub { $rpc->rpc('ready') }), '', "rpc: $what";
    ok $ipc->call('hi')->{text}, "ipc: $what";
    ok $_->is_silent(0), 'and nothing else'
        for $legacy->client, $relay->client, $modern, $deaf, $rpc,
        $ipc->client;
}

is_told(0, 'before');
move($tg);
is_told(0, 'the same config');

# Invisible changes: handlers, methods, tools for other clients.
for my $change (
    [ handler => 'return hello' ],
    [ hidden  => 'Hidden well.' ],
    [ more    => 'method more { return 1; }' ],
    [ more    => 'tool other { description "Other."; deny all; return x; }' ],
    )
{
    my ($name, $value) = @$change;
    move($tg, body($name => $value));
    is_told(0, "$name is $value");
}
move($tg, body());
is_told(0, 'back again');

# Visible changes.
for my $change (
    [ title       => 'Hello' ],
    [ description => 'Says hello.' ],
    [ input       => '{"type":"object","properties":{}}' ],
    [ output      => '{"type":"object","properties":{}}' ],
    [ annotations => '{"readOnlyHint":false}' ],
    [ more        => 'tool more { description "More."; return 1; }' ],
    [ rule        => 'deny all;' ],
    )
{
    my ($name, $value) = @$change;
    $part{$name} = $value;
    move($tg, body());
    is_told(1, "$name is $value");
}
$part{rule} = '';
move($tg, body());
is_told(1, 'a tool that may be seen again');

# Two changes at once, and one that is undone before it is seen.
move($tg, body(title => 'Hey', more => ''));
is_told(1, 'two changes');

# A subscription that was cancelled.
$modern->notify('notifications/cancelled',
    { requestId => $listen, _meta => \%meta });
move($tg, body(title => 'Ho'));
is told($modern, sub { $modern->rpc('tools/list', { _meta => \%meta }) }), '',
    'no process listens any more';

done_testing;
