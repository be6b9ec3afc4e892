#!/usr/bin/perl
# The trace of a call in its log line: of one that is answered at once, of one
# that waits, and of one whose session has moved.

use Toolgate::Test qw(Hang);

my $tg = Toolgate::Test->new(workers => 1);
my $hang = Toolgate::Hang->new($tg);

sub body {
    my ($n) = @_;
    return <<"END";
tool_log calls.json json;
tool_log calls.text traces;
tool hi { description d; return hi; }
tool hang { description d; @{[ $hang->handler ]} }
tool n { description d; return $n; }
END
}
my @format = (stream =>
    q(tool_log_format traces '$tool_name $tool_traceparent|$tool_tracestate';));
$tg->conf(body(0), @format)->start;

my $client = $tg->connect;
my $parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
my %trace = (_meta => { traceparent => $parent, tracestate => 'a=b' });

# Returns the logged traces of this tool, in both formats.
sub traces {
    my ($name) = @_;
    my @lines = map { Toolgate::Json::decode($_) }
        lines_of($tg->dir . '/calls.json');
    my @texts = (slurp($tg->dir . '/calls.text') // '') =~ /^$name (.*)$/mg;
    return [ (map { $_->{trace} } grep { $_->{tool} eq $name } @lines),
        @texts ];
}

$client->rpc('tools/call', { name => 'hi', %trace });
wait_for { @{ traces('hi') } == 2 } 'its lines';
is_deeply traces('hi'), [ $parent, "$parent|a=b" ], 'answered at once';

my $id = $client->request('tools/call',
    { name => 'hang', arguments => { key => 1 }, %trace });
$hang->started(1);
$hang->finish(1);
ok $client->reply($id)->{result}, 'one that has waited';
wait_for { @{ traces('hang') } == 2 } 'its lines';
is_deeply traces('hang'), [ $parent, "$parent|a=b" ], 'has its trace, too';

$id = $client->request('tools/call',
    { name => 'hang', arguments => { key => 2 }, %trace });
$hang->started(2);
$tg->reload(body(1), @format);
wait_for { text_of($client->call_tool('n')) eq '1' } 'the new worker';
$hang->finish(2);
ok $client->reply($id)->{result}, 'one that has moved';
wait_for { @{ traces('hang') } == 4 } 'its lines';
is_deeply [ @{ traces('hang') }[ 1, 3 ] ], [ $parent, "$parent|a=b" ],
    'has its trace, which went along';

done_testing;
