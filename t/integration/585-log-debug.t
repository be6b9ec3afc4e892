#!/usr/bin/perl
# Debug messages of a call, without its arguments, in NGINX --with-debug.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my ($status, $out, $err) =
    run_command({}, $Toolgate::Util::BUILD_ENV{nginx_bin}, '-V');
if ("$out$err" !~ /--with-debug/) {
    plan(skip_all => 'this NGINX has no debug log');
}
$tg->conf(<<'END', main => 'error_log debug.log debug;')->start;
tool_log calls.log;
tool hi { return $tool_arg_x; }
tool run { exec echo $tool_arg_x; concurrency 1; }
END
my $c = $tg->connect;
$c->call_tool($_ => { x => 'secret' }) for qw(hi run);
my $log = slurp($tg->dir . '/debug.log');

sub way {
    my ($name) = @_;
    my ($address) = $log =~ /toolgate call (\S+): of "$name"/;
    return join ', ', $log =~ /toolgate call $address: (.*?)(?:,|$)/mg
        if defined $address;
    return 'none';
}
like way('hi'), qr/^of "hi", runs, ok after \d+ ms, ended/, 'answered at once';
like way('run'),
    qr/of "run", .*asks toolgate-runner for "exec".*, ok after \d+ ms, ended$/,
    'answered by the runner';
unlike $log, qr/secret/, 'nothing of its arguments';
done_testing;
