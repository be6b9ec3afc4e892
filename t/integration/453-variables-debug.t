#!/usr/bin/perl
# NGINX's log at level debug contains no arguments of tools.

use Toolgate::Test;

my ($nginx) = Toolgate::Test->new->nginx_command;
my ($status, $out, $err) = run_command({}, $nginx, '-V');
plan(skip_all => 'this NGINX was built without its debug log')
    if "$out$err" !~ /--with-debug/;

my $tg = Toolgate::Test->new(workers => 1);
$tg->conf(<<'END', stream => <<'STREAM')->start;
error_log debug.log debug;
tool say  { return 'it is $tool_arg_x, $shown'; }
tool all  { return $tool_arg_x; }
tool run  {
    exec  cat;
    stdin 'in $tool_arg_x';
    env   SECRET $tool_json_x;
}
END
map $tool_arg_x $shown {
    default     nothing;
    ~^secret(.)  'with $1';
}
STREAM

my $client = $tg->connect;
is text_of($client->call_tool(say => { x => 'secret1' })),
    'it is secret1, with 1', 'a value';
is text_of($client->call_tool(all => { x => 'secret2' })), 'secret2',
    'an argument alone';
is text_of($client->call_tool(run => { x => 'secret3' })), 'in secret3',
    'a program';
$tg->stop;

my $log = slurp($tg->dir . '/debug.log');
like $log, qr/\[debug\]/, 'the log is at level debug';
unlike $log, qr/secret/, 'it has no argument';

done_testing;
