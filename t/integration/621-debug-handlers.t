#!/usr/bin/perl
# The debug log of NGINX --with-debug contains no arguments, with any handler;
# nor does a log of calls without their variables.

use Toolgate::Test qw(Native Web);
use Toolgate::McpServer ();

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my ($status, $out, $err) =
    run_command({}, $Toolgate::Util::BUILD_ENV{nginx_bin}, '-V');
if ("$out$err" !~ /--with-debug/) {
    plan(skip_all => 'this NGINX has no debug log');
}
my $secret = 'sEcReT';
my $url = Toolgate::Web->new($tg)->url;
my $far = join ' ', @{ Toolgate::McpServer::stand_in() };
Toolgate::Native->probe("$dir/probe.so", 'one');
my $stream = <<'END';
map $tool_arg_x $is_wanted { default 1; ~^q 0; }
tool_log_format own '$tool_name $tool_status';
END
my %more = (main => 'error_log debug.log debug;', stream => $stream);
$tg->conf(<<"END", %more)->start;
tool_log calls.log own if=\$is_wanted;
tool web {
    http   POST $url/echo/\$tool_arg_x;
    header X-A \$tool_arg_x;
    query  a \$tool_arg_x;
    body   '{"x":\$tool_arg_x}';
}
tool program {
    exec  env;
    arg   \$tool_arg_x each if=\$tool_arg_x;
    env   A \$tool_arg_x;
    stdin "\$tool_arg_x";
}
tool native { library probe.so probe_say \$tool_arg_x; }
tool refused {
    return       1;
    input_schema '{"type":"object","properties":{"x":{"type":"integer"}}}';
}
mcp_server their { exec $far; }
task_agent sh { exec sh -c \$task_prompt; default; }
task_methods on;
method news { broadcast app/news; }
END
my $c = $tg->connect;
my @names = qw(web program native refused none);
$c->call_tool($_ => { x => $secret }) for @names;
wait_for { $c->call_tool(their_echo => { x => $secret })->{result} }
    'an MCP server';
$c->rpc('task.submit', { prompt => "echo $secret" });
$c->rpc('news', { x => $secret });
$tg->connect->ipc_call('program', { x => $secret });

my $log = slurp("$dir/debug.log");
like $log, qr/toolgate call \S+: of "$_"/, "the way of $_ is there"
    for qw(web program native refused their_echo task.submit news);
unlike $log, qr/$secret/i, 'and nothing that it was given';
my $calls = slurp("$dir/calls.log");
like $calls, qr/^$_ \w+$/m, "a line of $_" for @names;
unlike $calls, qr/$secret/, 'without it, too';
done_testing;
