#!/usr/bin/perl
# A warm call of a program costs its worker four allocations, as before `exec`
# could continue on further lines: no more for either form.

use Toolgate::Test qw(Faults);

my $calls = 20;

my $tg = Toolgate::Test->new(workers => 1);
my $faults = Toolgate::Faults->new($tg);
$tg->conf(<<'END')->start;
tool run {
    description  "Takes its text.";
    input_schema '{"type":"object","properties":{"text":{"type":"string"}},
                   "required":["text"]}';
    exec         true $tool_arg_text;
}
tool more {
    description  "Takes its text, in each way that there is.";
    input_schema '{"type":"object","properties":{"text":{"type":"string"},
                     "more":{"type":"object","properties":{
                       "n":{"type":"integer","default":7}},"default":{}}},
                   "required":["text"]}';
    exec         true $$;
    arg          -n ${tool_arg_more.n} if=$tool_has_text;
    arg          $tool_arg_text each;
    success      0 1;
    stderr       append;
    preview      1k;
}
END
my ($worker) = $tg->worker_pids;
$faults->calm($worker);
my $client = $tg->connect;
for my $tool (qw(run more)) {
    $client->call_tool($tool => { text => 'a' }) for 1 .. $calls;
    my $before = $faults->made('allocs');
    $client->call_tool($tool => { text => 'a' }) for 1 .. $calls;
    cmp_ok $faults->made('allocs') - $before, '<=', 4 * $calls, $tool;
}

done_testing;
