#!/usr/bin/perl
# Required libraries of a build: optional ones are detected, and without them
# nothing is compiled that needs them.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my @optional = qw(msgpack simdjson);

# Returns make's plan if these folders are searched for headers first.
sub plan_of {
    my ($path) = @_;
    my ($status, $out, $err) = run_command(
        { env => { CPATH => $path, TOOLGATE_MSGPACK => undef } },
        'make', '-C', $top, '-n', '-f', 'module/build/programs.mk',
        'B=' . $tg->dir . '/build', 'CC=gcc', 'CXX=g++', 'all');
    is $status, 0, 'make has a plan' or diag $err;
    return $out;
}

# Not `like`: the plan is long.
sub names {
    my ($plan, $what) = @_;
    return $plan =~ $what ? 1 : 0;
}

mkdir $tg->dir . "/$_" or die "$_: $!\n" for qw(there missing);
$tg->file("there/$_.h", "\n") for @optional;
$tg->file("missing/$_.h", "#error There is none.\n") for @optional;

my $there = plan_of($tg->dir . '/there');
my $missing = plan_of($tg->dir . '/missing');
for my $what (qr/ -lsimdjson\b/, qr{(?:-l|/lib)msgpack}, qr/TG_HAVE_MSGPACK/) {
    ok names($there, $what), "$what, when its header is there";
    ok !names($missing, $what), 'not otherwise';
}
ok names($missing, qr/-o \S*\/toolgate /), 'the client is built without them';

done_testing();
