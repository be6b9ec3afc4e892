#!/usr/bin/perl
# `nginx -t` finds what root may execute but the workers' user may not; and an
# NGINX without a master runs programs as itself.

use Toolgate::Test;

use File::Copy qw(copy);

plan(skip_all => 'only root can give rights away') if $> != 0;

my $tg = Toolgate::Test->new(user => 'nobody', workers => 1);
my $dir = $tg->dir;
my $gid = (getpwnam 'nobody')[3];
for my $folder (qw(closed closed/in open)) {
    mkdir "$dir/$folder" or die "$dir/$folder: $!\n";
}
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

# --- as another user ------------------------------------------------------

my @wrong = (
    [ 'a folder that is closed', exec => body('closed/program') ],
    [ 'a file of root alone',    exec => body('own') ],
    [ 'a runner out of reach', tool_runner =>
            body('program', 'closed/toolgate-runner') ],
    [ 'an MCP server', exec => "mcp_server a { exec $dir/own; }" ],
    [ 'an agent',      exec => "task_agent a { exec $dir/own; }" ],
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

# So is the working directory, unless it contains variables.
my $exec = "exec $dir/program;";
for my $case (
    [ 'a tool',        'cwd', "tool a { description x; $exec cwd %s; }" ],
    [ 'an MCP server', 'cwd', "mcp_server a { $exec cwd %s; }" ],
    [ 'an agent',      'cwd', "task_agent a { $exec cwd %s; }" ],
    [
        'a server', 'tool_cwd',
        "tool_cwd %s; tool a { description x; $exec }"
    ])
{
    my ($name, $directive, $body) = @$case;
    for my $folder ("$dir/closed", "$dir/closed/in", 'closed') {
        my ($status, $out) = $tg->test_conf(sprintf $body, $folder);
        is $status, 1, "$name in $folder: nginx -t refuses it";
        like $out, qr/\[emerg\] "\S+" of "$directive" cannot be entered by /,
            "$name in $folder: it says what cannot be";
        like $out, qr/ by "nobody", the workers' user; let it search that /,
            "$name in $folder: by whom, and what to do";
    }
    my ($status, $out) = $tg->test_conf(sprintf $body, "$dir/open");
    is $status, 0, "$name in a folder that is open: nginx -t takes it"
        or diag $out;
}
for my $body (
    "tool a { description x; $exec cwd $dir/closed\$tool_name; }",
    "task_agent a { $exec cwd $dir/closed\$task_cwd; }")
{
    my ($status, $out) = $tg->test_conf($body);
    is $status, 0, 'nginx -t takes what a variable says' or diag $out;
}

# So is the place of the state directory.
mkdir "$dir/closed/state" or die "mkdir: $!\n";
chown scalar getpwnam('nobody'), 0, "$dir/closed/state" or die "chown: $!\n";
for my $folder (qw(closed/state closed/made closed/in/made)) {
    my ($status, $out) = $tg->test_conf("tool_state_dir $dir/$folder;\n"
        . "tool a { description x; $exec }");
    is $status, 1, "$folder: nginx -t refuses it";
    like $out, qr/\[emerg\] "\S+" of "tool_state_dir" cannot be entered by "no/,
        "$folder: it says for whom";
    ($status, $out) = $tg->test_conf("tool_state_dir $dir/$folder;\n"
        . 'tool a { description x; return y; }');
    is $status, 0, "$folder: it is not needed" or diag $out;
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
