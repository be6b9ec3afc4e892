#!/usr/bin/perl
# toolgate config: its output, and how it changes other programs' files.
# t/unit/test_cli_agent_config.c tests the text of the files.

use File::Copy qw(copy);
use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $sock = $tg->socket_path;

# The bridge is searched beside the program, wherever that is.
mkdir "$dir/bin" or die $!;
mkdir "$dir/work" or die $!;
mkdir "$dir/home" or die $!;
my $toolgate = "$dir/bin/toolgate";
copy(Toolgate::Test::build_dir() . '/toolgate', $toolgate) or die $!;
chmod 0755, $toolgate;
symlink 'bin/toolgate', "$dir/link" or die $!;
my $bridge = "$dir/bin/toolgate-bridge";

my $umask = umask 022;

sub config {
    my ($option, @args) = @_;
    my %env = (
        TOOLGATE_SOCKET => $sock,
        HOME            => "$dir/home",
        CODEX_HOME      => undef,
        CLAUDE_CONFIG_DIR => undef,
        %{ $tg->san_env },
        %{ $option->{env} // {} },
    );
    return run_command({ cwd => "$dir/work", env => \%env },
        $option->{program} // $toolgate, 'config', @args);
}

sub write_file {
    my ($path, $text, $mode) = @_;
    open my $fh, '>:raw', $path or die "$path: $!";
    print $fh $text;
    close $fh or die "$path: $!";
    chmod $mode // 0644, $path;
}

sub mode { return sprintf '%04o', (stat $_[0])[2] & 07777 }

# Checks that only these files exist.
sub only_files {
    my ($where, @want) = @_;
    opendir my $handle, $where or die "$where: $!";
    my @names = sort grep { !/^\.\.?$/ } readdir $handle;
    is_deeply \@names, [ sort @want ], "$where: no other file is left";
}

my ($status, $out, $err) = config({}, 'claude');
is $status, 2, 'no bridge: status';
like $err, qr/\Q$bridge\E: No such file or directory; it must be in the /,
    'no bridge: error message';
write_file($bridge, "#!/bin/sh\n", 0755);

# --- printed configs ------------------------------------------------------

($status, $out, $err) = config({}, 'claude');
is $status, 0, 'claude: status';
is_deeply(
    JSON::PP::decode_json($out),
    {
        mcpServers => {
            toolgate => { command => $bridge, args => [$sock] },
        },
    },
    'claude: the registration');
is +(config({ program => "$dir/link" }, 'claude'))[1], $out,
    'claude: the same through a symbolic link to the program';
($status, $out) = config({}, 'codex', '--name', 'my-tools');
is $out, <<"END", 'codex: the registration, with another name';
[mcp_servers.my-tools]
command = "$bridge"
args = ["$sock"]
END
($status, $out) = config({}, 'codex', '--socket', 's');
like $out, qr/^args = \["\Q$dir\E\/work\/s"\]$/m, 'a relative socket';
only_files("$dir/work");

for my $case (
    [ qr/which agent: claude, codex/ ],
    [ qr/which agent/, 'emacs' ],
    [ qr/takes one argument/, 'claude', 'codex' ],
    [ qr/--file needs --write/, 'claude', '--file', 'x' ],
    [ qr/--name must be at most 64 letters/, 'claude', '--name', 'a.b' ],
    [ qr/--name must be/, 'claude', '--name', 'x' x 65 ],
    [ qr/control characters or is not valid UTF-8/,
        'claude', '--socket', "/a\nb" ],
    [ qr/control characters or is not/, 'codex', '--socket', "/a\xff" ])
{
    my ($pattern, @args) = @$case;
    ($status, $out, $err) = config({}, @args);
    is $status, 2, "'@args': status";
    like $err, $pattern, "'@args': why";
    is $out, '', "'@args': nothing on stdout";
}

# --- written files --------------------------------------------------------

my $mcp = "$dir/work/.mcp.json";
($status, $out) = config({}, 'claude', '--write');
is $status, 0, 'claude --write: status';
like $out, qr/^\Q.mcp.json\E: toolgate is registered/, 'claude --write: where';
is mode($mcp), '0644', 'claude --write: the mode of a new file';
is slurp($mcp), (config({}, 'claude'))[1], 'claude --write: what was printed';

# A second time, and beside other servers.
my $inode = (stat $mcp)[1];
($status, $out) = config({}, 'claude', '--write');
is $status, 0, 'again: status';
like $out, qr/nothing to change, toolgate is registered/, 'again: said so';
is +(stat $mcp)[1], $inode, 'again: the file is the same one';

my $before = qq({\n   "keep" : [1.0,12345678901234567890],\n   )
    . qq("mcpServers" : { "other" : {"command":"x"} }\n}\n);
write_file($mcp, $before, 0600);
config({}, 'claude', '--write');
my $after = slurp($mcp);
is mode($mcp), '0600', 'a file that was there keeps its mode';
is $after, <<"END", 'and every byte that it said';
{
   "keep" : [1.0,12345678901234567890],
   "mcpServers" : { "other" : {"command":"x"},
     "toolgate": {
       "command": "$bridge",
       "args": [
         "$sock"
       ]
     }
   }
}
END
config({}, 'claude', '--write', '--socket', '/elsewhere');
$after =~ s/\Q$sock\E/\/elsewhere/;
is slurp($mcp), $after, 'another socket: only that changes';
only_files("$dir/work", '.mcp.json');

# A read-only file.
chmod 0444, $mcp;
($status, $out, $err) = config({}, 'claude', '--write');
is $status, 2, 'a read-only file: status';
like $err, qr/\.mcp\.json is read-only and was not changed; .*chmod u\+w/,
    'a read-only file: what to do';
is slurp($mcp), $after, 'a read-only file: untouched';
is mode($mcp), '0444', 'a read-only file: read-only';
($status, $out) = config({}, 'claude', '--write', '--socket', '/elsewhere');
is $status, 0, 'a read-only file that is right: nothing to complain about';
like $out, qr/nothing to change/, 'a read-only file that is right: said so';
only_files("$dir/work", '.mcp.json');

# Files that cannot be merged do not change.
for my $text ('{"a":', '[]', '{"mcpServers":[]}', "{}\xff",
    '{"a" 1}', '{"mcpServers":{},"mcpServers":{}}')
{
    write_file($mcp, $text);
    ($status, $out, $err) = config({}, 'claude', '--write');
    is $status, 2, "$text: status";
    like $err, qr/\.mcp\.json was not changed: /, "$text: said so";
    is slurp($mcp), $text, "$text: untouched";
}
only_files("$dir/work", '.mcp.json');

# Through symbolic links.
mkdir "$dir/real" or die $!;
rename $mcp, "$dir/real/mcp" or die $!;
write_file("$dir/real/mcp", "{}\n", 0640);
symlink '../real/mcp', $mcp or die $!;
($status, $out) = config({}, 'claude', '--write');
is $status, 0, 'a symbolic link: status';
ok -l $mcp, 'a symbolic link: still one';
like slurp("$dir/real/mcp"), qr/"toolgate"/, 'a symbolic link: followed';
is mode("$dir/real/mcp"), '0640', 'a symbolic link: the file\'s mode';
only_files("$dir/real", 'mcp');
unlink "$dir/real/mcp";
($status, $out, $err) = config({}, 'claude', '--write');
is $status, 2, 'a dangling link: status';
like $err, qr/a symbolic link to a file that does not exist/, 'and why';
unlink $mcp;

# Not files.
mkdir $mcp or die $!;
($status, $out, $err) = config({}, 'claude', '--write');
like $err, qr/is not a file/, 'a folder is refused';
rmdir $mcp;
require POSIX;
POSIX::mkfifo($mcp, 0600) or die $!;
($status, $out, $err) = config({}, 'claude', '--write');
like $err, qr/is not a file/, 'a pipe is refused, not waited for';
unlink $mcp;

SKIP: {
    skip 'root may write everywhere', 2 if $> == 0;
    chmod 0555, "$dir/work";
    ($status, $out, $err) = config({}, 'claude', '--write');
    is $status, 2, 'a folder that may not be written: status';
    like $err, qr/cannot write beside/, 'and why';
    chmod 0755, "$dir/work";
}

SKIP: {
    skip 'only root gives files away', 2 if $> != 0;
    my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
    write_file($mcp, "{}\n", 0604);
    chown $uid, $gid, $mcp;
    config({}, 'claude', '--write');
    is_deeply [ (stat $mcp)[4, 5] ], [ $uid, $gid ], 'the owner is kept';
    is mode($mcp), '0604', 'and the mode with it';
    unlink $mcp;
}

# --file
($status, $out) = config({}, 'claude', '--write', '--file', "$dir/work/x.json");
is $status, 0, '--file: status';
like slurp("$dir/work/x.json"), qr/"mcpServers"/, '--file: written';
($status, $out, $err) =
    config({}, 'claude', '--write', '--file', "$dir/none/x.json");
is $status, 2, '--file in no folder: status';
like $err, qr/No such file or directory/, '--file in no folder: why';
unlink "$dir/work/x.json";
only_files("$dir/work");

# --- files of other agents --------------------------------------------------

($status, $out, $err) = config({}, 'claude', '--write', '--remove');
is $status, 2, '--write --remove: refused';
like $err, qr/either --write or --remove/, '--write --remove: why';
for my $case (
    [ codex => 'work/.codex/config.toml', '--scope', 'project' ],
    [ copilot => 'work/.github/mcp.json', '--scope', 'project' ],
    [ copilot => 'home/.copilot/mcp-config.json' ],
    [ 'claude-desktop' => 'home/.config/Claude/claude_desktop_config.json' ],
    [ goose => 'home/.config/goose/config.yaml' ],
    [ windsurf => 'home/.codeium/windsurf/mcp_config.json' ],
    [ zed => 'home/.config/zed/settings.json' ],
    [ zed => 'work/.zed/settings.json', '--scope', 'project' ],
    [ vscode => 'home/.config/Code/User/mcp.json', '--scope', 'user' ],
    [ opencode => 'work/opencode.json' ],
    [ opencode2 => 'home/.config/opencode/opencode.json', '--scope', 'user' ])
{
    my ($agent, $file, @args) = @$case;
    my %env = (XDG_CONFIG_HOME => undef, COPILOT_HOME => undef);
    ($status, $out, $err) = config({ env => \%env }, $agent, '--write', @args);
    is $status, 0, "$agent @args: written" or diag $err;
    is slurp("$dir/$file"), (config({}, $agent))[1],
        "$agent @args: into $file, whose folders are made";
    config({ env => \%env }, $agent, '--remove', @args);
    unlike slurp("$dir/$file"), qr/toolgate/, "$agent @args: removed";
}
unlink "$dir/work/opencode.json";
write_file("$dir/work/opencode.jsonc", "{\n  // mine\n}\n");
config({}, 'opencode', '--write');
like slurp("$dir/work/opencode.jsonc"),
    qr/\A\{\n  \/\/ mine\n  "mcp": \{\n    "toolgate"/,
    'opencode.jsonc, where there is one';
ok !-e "$dir/work/opencode.json", 'and no other';
unlink "$dir/work/opencode.jsonc", "$dir/home/.codex/config.toml";

# --- Codex ----------------------------------------------------------------

my $toml = "$dir/home/.codex/config.toml";
($status, $out) = config({}, 'codex', '--write');
is $status, 0, 'codex --write: status';
is mode("$dir/home/.codex"), '0700', 'codex --write: its folder is made';
is mode($toml), '0600', 'codex --write: the mode of a new file';
is slurp($toml), (config({}, 'codex'))[1], 'codex --write: what was printed';

write_file($toml, <<'END');
# mine
model = "x" # why

[mcp_servers.toolgate]
command = "old" # old
args = [
    "old", # older
]
tool_timeout_sec = 60

[mcp_servers.other]
command = "other"
END
config({}, 'codex', '--write');
is slurp($toml), <<"END", 'codex --write: only its own two lines';
# mine
model = "x" # why

[mcp_servers.toolgate]
command = "$bridge"
args = ["$sock"]
tool_timeout_sec = 60

[mcp_servers.other]
command = "other"
END
($status, $out) = config({}, 'codex', '--write');
like $out, qr/nothing to change/, 'codex --write: a second time';

write_file($toml, "[mcp_servers]\ntoolgate = {command = 'x'}\n");
($status, $out, $err) = config({}, 'codex', '--write');
is $status, 2, 'an inline table: status';
like $err, qr/was not changed: .*write it as a \[mcp_servers\.NAME\] table/,
    'an inline table: what to do';
write_file($toml, "a = 1\nb = \n");
($status, $out, $err) = config({}, 'codex', '--write');
like $err, qr/line 2 is not valid TOML/, 'what is no TOML: where';
is slurp($toml), "a = 1\nb = \n", 'what is no TOML: untouched';

mkdir "$dir/other" or die $!;
($status, $out) =
    config({ env => { CODEX_HOME => "$dir/other" } }, 'codex', '--write');
like slurp("$dir/other/config.toml"), qr/^\[mcp_servers\.toolgate\]/,
    '$CODEX_HOME';
only_files("$dir/other", 'config.toml');
umask $umask;

done_testing;
