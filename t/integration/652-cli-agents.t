#!/usr/bin/perl
# toolgate config for each known agent: its file, the form of a server in it,
# and the removal.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $bin = Toolgate::Test::build_dir();
my $bridge = "$bin/toolgate-bridge";
my $sock = $tg->socket_path;
mkdir "$dir/$_" or die $! for qw(work home home/.config home/.config/Code);

sub config {
    my %more = ref $_[0] ? %{ shift @_ } : ();
    my %env = (
        TOOLGATE_SOCKET   => $sock,
        HOME              => "$dir/home",
        CODEX_HOME        => undef,
        CLAUDE_CONFIG_DIR => undef,
        XDG_CONFIG_HOME   => undef,
        %{ $tg->san_env },
        %more,
    );
    return run_command({ cwd => "$dir/work", env => \%env },
        "$bin/toolgate", 'config', @_);
}

sub spurt {
    my ($path, $text) = @_;
    open my $fh, '>:raw', $path or die "$path: $!";
    print $fh $text;
    close $fh or die "$path: $!";
}

my $plain = { command => $bridge, args => [$sock] };
my $local = { type => 'local', command => [ $bridge, $sock ],
    enabled => JSON::PP::true };
for (
    [ claude   => '.mcp.json', '.claude.json', mcpServers => $plain ],
    [ cursor   => '.cursor/mcp.json', '.cursor/mcp.json',
        mcpServers => $plain ],
    [ vscode   => '.vscode/mcp.json', '.config/Code/User/mcp.json',
        servers => { type => 'stdio', %$plain } ],
    [ gemini   => '.gemini/settings.json', '.gemini/settings.json',
        mcpServers => $plain ],
    [ opencode => 'opencode.json', '.config/opencode/opencode.json',
        mcp => $local ],
    )
{
    my ($agent, $project, $user, $key, $entry) = @$_;
    my ($status, $out, $err) = config($agent);
    is $status, 0, "$agent: status";
    is_deeply(Toolgate::Client->decode($out),
        { $key => { toolgate => $entry } }, "$agent: what it prints");
    for (
        [ [], "work/$project" ],
        [ [ '--scope', 'project' ], "work/$project" ],
        [ [ '--scope', 'user' ], "home/$user" ])
    {
        my ($scope, $file) = @$_;
        my $name = join ' ', $agent, @$scope;
        ($status, $out, $err) = config($agent, '--write', @$scope);
        is $status, 0, "$name: status" or diag $err;
        is_deeply(Toolgate::Client->decode(slurp("$dir/$file")),
            { $key => { toolgate => $entry } }, "$name: $file");
    }

    # Other content stays, also after the removal of ours.
    my $file = "$dir/work/$project";
    spurt($file, Toolgate::Client->encode({
        theme => 'dark',
        $key  => { other => { command => 'x' } },
    }));
    my $before = Toolgate::Client->decode(slurp($file));
    config($agent, '--write');
    is_deeply(Toolgate::Client->decode(slurp($file))->{$key},
        { other => { command => 'x' }, toolgate => $entry },
        "$agent: beside others");
    ($status, $out) = config($agent, '--remove');
    is $status, 0, "$agent: --remove, status";
    like $out, qr/toolgate is removed/, "$agent: said so";
    is_deeply(Toolgate::Client->decode(slurp($file)), $before,
        "$agent: the others are there");
    ($status, $out) = config($agent, '--remove');
    is $status, 0, "$agent: again, status";
    like $out, qr/nothing to change, toolgate is not registered/,
        "$agent: nothing to do";
}

# Folders in the environment.
mkdir "$dir/$_" or die $! for qw(xdg xdg/Code claude);
for (
    [ claude   => 'CLAUDE_CONFIG_DIR', 'claude', '.claude.json' ],
    [ vscode   => 'XDG_CONFIG_HOME',   'xdg',    'Code/User/mcp.json' ],
    [ opencode => 'XDG_CONFIG_HOME',   'xdg',    'opencode/opencode.json' ],
    )
{
    my ($agent, $name, $above, $file) = @$_;
    my ($status, undef, $err) = config({ $name => "$dir/$above" }, $agent,
        qw(--scope user --write));
    is $status, 0, "$agent: $name, status" or diag $err;
    like slurp("$dir/$above/$file"), qr/toolgate/, "$agent: $name";
}

my $folder = "$dir/work/.cursor";
rename $folder, "$folder-away" or die $!;
my ($removed) = config('cursor', '--remove');
is $removed, 0, '--remove where there is no folder: status';
ok !-e $folder, 'and none is made';
rename "$folder-away", $folder or die $!;

# Codex: a table of TOML.
my $toml = "$dir/home/.codex/config.toml";
mkdir "$dir/home/.codex";
my $theirs = "model = \"x\"\n\n# mine\n[mcp_servers.other]\ncommand = \"y\"\n";
spurt($toml, $theirs);
my ($status, $out, $err) = config('codex', '--write');
like slurp($toml), qr/^\[mcp_servers\.toolgate\]\ncommand = /m, 'codex: added';
open my $fh, '>>', $toml or die $!;
print $fh "[mcp_servers.toolgate.env]\nA = \"1\"\n\n# tail\n[tail]\nz = 1\n";
close $fh;
($status) = config('codex', '--remove');
is $status, 0, 'codex: --remove, status';
is slurp($toml), "$theirs\n# tail\n[tail]\nz = 1\n",
    'codex: ours and what is below it is gone';
($status, $out, $err) = config('codex', '--write', '--scope', 'project');
is $status, 0, 'codex: a file of the project';
like $out, qr{\.codex/config\.toml}, 'which is named';
($status, $out, $err) = config('cursor', '--write', '--scope', 'world');
is $status, 2, 'another scope: status';
like $err, qr/--scope must be project or user, not "world"/, 'and why';

# A read-only file does not change.
my $file = "$dir/work/.cursor/mcp.json";
my $before = slurp($file);
chmod 0444, $file or die $!;
for my $how ('--write', '--remove') {
    ($status, $out, $err) = config('cursor', $how, '--name', 'other');
    is $status, 2, "read-only, $how: status";
    like $err, qr/\Q.cursor\/mcp.json\E/, 'said so';
    is slurp($file), $before, 'and nothing is changed';
}

done_testing;
