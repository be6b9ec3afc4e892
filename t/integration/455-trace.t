#!/usr/bin/perl
# W3C trace context in a call's _meta: in variables, in the environment of
# programs, in HTTP headers, and for backends and MCP servers; invalid values
# are nowhere else.

use Toolgate::Test qw(Backend Listed Way Web);

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new(workers => 1);
my $url = Toolgate::Web->new($tg)->url;
my $backend = Toolgate::Backend->new('mcp', $tg->dir . '/backend');
my $far = Toolgate::Listed->new($tg, 'far')->list('params');
$tg->conf(<<"END")->start;
tool value { description d; return '[\$tool_traceparent|\$tool_tracestate]'; }
method value { output text; return '[\$tool_traceparent|\$tool_tracestate]'; }
tool program { description d; exec env; env A b; }
tool bare { description d; exec env; }
tool own { description d; exec env; env TRACEPARENT mine; }
tool web { description d; http GET $url/echo; header X-A b; }
tool posted { description d; http POST $url/echo; }
tool own_web { description d; http GET $url/echo; header TraceParent mine;
               header tracestate ""; }
tool backend { description d; @{[ $backend->pass ]} }
mcp_server far { exec @{[ $far->command ]}; }
END

my $parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
my $state = 'rojo=00f0"\\~,congo=t61 rcWkg';
my %trace = (traceparent => $parent, tracestate => $state);
my $client = $tg->connect;
my $legacy = Toolgate::Way->new('legacy', $tg->connect);
wait_for { $legacy->list =~ /far_params/ } 'the list';

sub call {
    my ($name, $meta, $arguments) = @_;
    return $legacy->call($name, $arguments // {}, _meta => $meta)->{text};
}

# Returns the environment of a program, or the headers of an echoed request.
sub environment {
    return { map { /^([^=]+)=(.*)$/ ? ($1, $2) : () }
        split /\n/, call(@_) };
}
sub headers { return $json->decode(call(@_))->{headers} }

# --- variables ---------------------------------------------------------------

for my $way (Toolgate::Way->all($tg)) {
    my $got = $way->call('value', {}, _meta => \%trace);
    is $got->{text}, "[$parent|$state]", 'variables, ' . $way->name;
    $way->client->close;
}
is $client->rpc('value', { _meta => \%trace })->{result},
    "[$parent|$state]", 'of a method';
is call('value', {}), '[|]', 'there is none';
is call('value', { traceparent => $parent }), "[$parent|]", 'without a state';
is call('value', { tracestate => $state }), '[|]', 'a state alone is nothing';
is call('value', { %trace, traceparent => uc $parent }), '[|]',
    'one that is none';
is call('value', { %trace, traceparent => [$parent] }), '[|]', 'nor a string';
is call('value', { %trace, tracestate => "a=b\n" }), "[$parent|]",
    'a state that is none';
is call('value', { %trace, tracestate => 'a=' . 'b' x 4000 }), "[$parent|]",
    'nor one that is too long';
$client->send_line('{"jsonrpc":"2.0","id":1,"method":"value","params":'
    . '{"_meta":{"traceparent":"' . ($parent =~ s/f/\\u0066/gr) . '"}}}');
is $client->recv_json->{result}, "[$parent|]", 'escaped';

# --- programs ----------------------------------------------------------------

my $env = environment('program', \%trace);
is $env->{TRACEPARENT}, $parent, 'a program has it';
is $env->{TRACESTATE}, $state, 'and its state';
is $env->{A}, 'b', 'beside what is its own';
is environment('bare', \%trace)->{TRACEPARENT}, $parent, 'which may be nothing';
ok !exists environment('bare', {})->{TRACEPARENT}, 'where there is none';
$env = environment('own', \%trace);
is $env->{TRACEPARENT}, 'mine', 'env says something else';
is $env->{TRACESTATE}, $state, 'of one of them';

# --- HTTP --------------------------------------------------------------------

my $headers = headers('web', \%trace);
is $headers->{traceparent}, $parent, 'an HTTP server receives it';
is $headers->{tracestate}, $state, 'and its state';
is $headers->{'x-a'}, 'b', 'beside its other headers';
$headers = headers('posted', \%trace);
is $headers->{traceparent}, $parent, 'with a body, too';
is $headers->{'content-type'}, 'application/json', 'which has its type';
ok !exists headers('web', {})->{traceparent}, 'where there is none';
$headers = headers('own_web', \%trace);
is $headers->{traceparent}, 'mine', 'header says something else';
ok !exists $headers->{tracestate}, 'or nothing';

# --- backends, MCP servers ---------------------------------------------------

my $id = $legacy->start('backend', {}, _meta => \%trace);
my $request = $backend->heard;
is $request->{params}{_meta}{$_}, $trace{$_}, "a backend receives its $_"
    for sort keys %trace;
$backend->text($request, 'x');
is $legacy->finish($id)->{text}, 'x', 'and answers';
my $told = $json->decode(call('far_params', \%trace))->{_meta};
is $told->{$_}, $trace{$_}, "an MCP server hears its $_" for sort keys %trace;

done_testing;
