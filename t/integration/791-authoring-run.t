#!/usr/bin/perl
# Runs docs/authoring.md from its beginning, as its reader does: the commands
# that create the folder, ./build.sh run, a call, and each step in the file,
# reloaded. Only compiling is omitted.

use Toolgate::Test plain_only => 'it starts NGINX without preloading';

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $top = Toolgate::Test::top();
my $build = Toolgate::Test::build_dir();
my $text = slurp("$top/docs/authoring.md") // die $!;
my %env = (
    TOOLGATE_BUILD   => $build,
    TOOLGATE_RUN_DIR => "$dir/run",
    NGINX_BIN        => $BUILD_ENV{nginx_bin},
    STREAM_MODULE    => $BUILD_ENV{stream_module},
);

# Replaces the page's /tmp/demo, build/ and user.
sub localize {
    my ($page) = @_;
    $page =~ s{/tmp/demo\b}{$dir}g;
    $page =~ s{(?:\$PWD/)?\bbuild/run\b}{$dir/run}g;
    $page =~ s{\$PWD/build\b}{$build}g;
    $page =~ s{^nginx\b}{$BUILD_ENV{nginx_bin}}mg;
    $page =~ s{\bann\b}{$tg->{user}}g;
    $page =~ s{\bgid=dev\b}{gid=$tg->{group}}g;
    return $page;
}

my %is_for = (
    make   => qr/^mkdir /,
    run    => qr/^\.\/build\.sh run /,
    call   => qr/^export /,
    reload => qr/^nginx .*-s reload/,
);
my %command;
for my $block ($text =~ /^```shell\n(.*?)^```$/msg) {
    my ($name) = grep { $block =~ $is_for{$_} } sort keys %is_for;
    $command{ $name // 'other' } .= localize($block);
}
is_deeply [ sort keys %command ], [ sort keys %is_for ],
    'the page says how to begin';

sub shell {
    my ($name, $script) = @_;
    my ($status, $out, $err) =
        run_command({ cwd => $dir }, '/bin/sh', '-e', '-c', $script);
    is $status, 0, $name or diag $out . $err;
    return $out;
}

shell('the folder', $command{make});
(my $script = $command{run}) =~ s{^\./build\.sh (.*)\n}{$1};
my $run = $tg->spawn({ env => \%env }, '/bin/bash', '-c', <<END, 'build.sh');
. '$top/build.sh' help >/dev/null
find_nginx() { :; }
build() { :; }
$script
END
my $said = '';
$said .= $run->recv_line . "\n" until $said =~ /Ctrl-C/;
like shell('the call', $command{call}), qr/^hello$/, 'answers';
(my $list = $command{call}) =~ s/^toolgate call .*/toolgate list/m;

my $steps = 0;
while ($text =~ /^```nginx\n(.*?)^```$/msg) {
    my $tools = localize($1);
    my @names = $tools =~ /^tool (\w+) /mg;
    my @others = map {"${_}_"} $tools =~ /^mcp_server (\w+) /mg;
    $steps++;
    # A tool that distinguishes this step's list from the previous one.
    $tg->file('tools.conf', "$tools\ntool step_$steps { return done; }\n");
    for my $script ($tools =~ m{exec\s+\Q$dir\E/(notes/bin/[\w-]+)}g) {
        my ($body) = $text =~ /^```\w+ \Q$script\E\n(.*?)^```$/ms;
        $tg->file($script, localize($body), 0755);
    }
    shell("step $steps: reload", $command{reload});
    # In one list: the next one may be that of an exiting worker.
    my $listed;
    wait_for {
        $listed = shell_list();
        return !grep { $listed !~ /^$_/m } "step_$steps\n", @others;
    } "step $steps";
    ok scalar(grep { $listed =~ /^$_\b/m } @names) || @others,
        "step $steps is served";
}
cmp_ok $steps, '>=', 8, 'all steps';

sub shell_list {
    my ($status, $out) = run_command({ cwd => $dir }, '/bin/sh', '-c', $list);
    return $out;
}

kill INT => $run->pid;
1 while $run->fill(time + 60);
is $run->wait_exit, 0, 'and its end';

done_testing;
