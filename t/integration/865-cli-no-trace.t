#!/usr/bin/perl
# `toolgate trace` of a client that was built without msgpack-c.

use Toolgate::Test qw(Trace),
    plain_only => 'it links objects without the sanitizers';

my $top = Toolgate::Test::top();
my $tg = Toolgate::Test->new(workers => 1);
my $trace = $0;
if (has_msgpack()) {
    $tg->conf("tool_trace a.trace;\ntool hi { return hi; }")->start;
    $tg->connect->call_tool('hi');
    $tg->stop;
    $trace = $tg->dir . '/a.trace';
    is scalar(frames($trace)), 2, 'a trace';
}

my $client = $tg->dir . '/toolgate';
my @objects = grep { !/tg_cli_trace_record/ }
    glob "$BUILD/obj/module/{cli,lib,threading,transport}/*.o";
my ($failed, $said) = run_command({ timeout => 120 }, 'gcc', '-std=gnu11',
    '-D_GNU_SOURCE', '-fPIE', "-I$top/module", '-o', $client,
    "$top/module/cli/tg_cli_trace_record.c", @objects, "$BUILD/libcore.a",
    map {"-l$_"} qw(uv json-c pcre2-8 pthread));
is $failed, 0, 'it is built' or diag $said;
my ($none, $nothing, $why) = run_command({}, $client, 'trace', $trace);
is "$none $nothing", '2 ', 'it reads no trace';
like $why, qr/without msgpack-c; .*libmsgpack-dev/, 'as it says';

done_testing;
