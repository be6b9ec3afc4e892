#!/usr/bin/perl
# What root may run and the workers' user may not is found by `nginx -t`; and
# an NGINX without a master runs its programs as itself.

use Toolgate::Test;

use File::Copy qw(copy);

plan(skip_all => 'only root can give rights away') if $> != 0;

my $tg = Toolgate::Test->new(user => 'nobody', workers => 1);
my $dir = $tg->dir;
my $gid = (getpwnam 'nobody')[3];
mkdir "$dir/closed" or die "$dir/closed: $!\n";
for my $folder ($dir, "$dir/closed") {
    copy($tg->runner_path, "$folder/toolgate-runner") or die "copy: $!";
    chmod 0755, "$folder/toolgate-runner";
}
$tg->file('program', "#!/bin/sh\nid -u\n", 0755);
$tg->file('closed/program', "#!/bin/sh\nid -u\n", 0755);
chmod 0700, "$dir/closed";
$tg->file('own', "#!/bin/sh\nid -u\n", 0700);
$tg->file('group', "#!/bin/sh\nid -u\n", 0750);
chown 0, $gid, "$dir/group" or die "chown: $!\n";

sub body {
    my ($program, $runner) = @_;
    return "tool_runner $dir/" . ($runner // 'toolgate-runner') . ";\n"
        . "tool whoami { exec $dir/$program; }";
}

# --- as somebody else -----------------------------------------------------

my @wrong = (
    [ 'a folder that is closed', exec => body('closed/program') ],
    [ 'a file of root alone',    exec => body('own') ],
    [ 'a runner out of reach', tool_runner =>
            body('program', 'closed/toolgate-runner') ],
);
for my $case (@wrong) {
    my ($name, $directive, $body) = @$case;
    my ($status, $out) = $tg->test_conf($body);
    is $status, 1, "$name: nginx -t refuses it";
    like $out, qr/\[emerg\] "\S+" of "$directive" cannot be run by "nobody", /,
        "$name: it says for whom";
}
for my $program (qw(program group)) {
    my ($status, $out) = $tg->test_conf(body($program));
    is $status, 0, "$program: nginx -t takes it" or diag $out;
}

$tg->conf(body('group'))->start;
for my $what (qw(Uid Gid Groups)) {
    my ($of, $own) = map { slurp("/proc/$_/status") =~ /^($what:.*)/m }
        $tg->master_pid, $$;
    is $of, $own, "the master is root as before: $what";
}
my $client = $tg->connect;
is text_of($client->call_tool('whoami')) + 0, (getpwnam 'nobody')[2],
    'the program runs as nobody';
$tg->reload_fails(body('own'));
is text_of($client->call_tool('whoami')) + 0, (getpwnam 'nobody')[2],
    'a reload that is refused changes nothing';
$tg->stop;

# --- without a master -----------------------------------------------------

chmod 0700, "$dir/own";
$tg->conf(body('own') =~ s/^/tool_state_dir $dir\/made;\n/r);
$tg->file('nginx.conf',
    slurp("$dir/nginx.conf") =~ s/master_process on/master_process off/r);
$tg->{expected} = 0;
$tg->start;
is text_of($tg->connect->call_tool('whoami')), "0\n",
    'without a master the program runs as NGINX does';
is mode_of("$dir/made"), '0700 0 0', 'so the state directory is its own';
$tg->stop;

done_testing;
