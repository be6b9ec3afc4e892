#!/usr/bin/perl
# Directives of a tool can be set once for a server, or for all servers.

use Toolgate::Test;

use feature "state";

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
mkdir "$dir/$_" or die "mkdir: $!\n" for 'a', 'b', 'c';
my ($one, $two) = ($tg->socket_path, "$dir/two.sock");
my $three = "$dir/three.sock";

my $body = <<"END";
tool_timeout    200ms;
tool_max_output 40;
tool_env        WHO "stream of \$tool_name, \$tool_arg_x";
tool_env        ALSO this;
tool_cwd        $dir/a;
tool_stdin      "to all";

server {
    listen unix:$one;
    tool_timeout   60s;
    tool_runner    %%RUNNER%%;
    tool_state_dir $dir/state;
    tool who  { exec sh -c 'echo "\$\$WHO|\$\$ALSO"'; }
    tool at   { exec pwd; cwd $dir/c; max_output 1k; }
    tool here { exec sh -c 'basename \$\$PWD; cat'; }
    tool much { exec seq 100; }
    tool own  {
        exec       sh -c 'echo "\$\$WHO|\$\$ALSO|"; sleep 0.4; cat; seq 9';
        env        WHO me;
        stdin      "to me ";
        timeout    60s;
        max_output 1k;
    }
}
server {
    listen unix:$two;
    tool_runner     %%RUNNER%%;
    tool_state_dir  $dir/state;
    tool_env        WHO server;
    tool_cwd        $dir/b;
    tool_timeout    60s;
    tool_max_output 1k;
    tool who  { exec sh -c 'echo "\$\$WHO|\$\$ALSO"'; }
    tool here { exec sh -c 'basename \$\$PWD; cat'; }
    tool much { exec seq 100; }
    tool slow { exec sleep 0.4; }
}
server {
    listen unix:$three;
    tool_runner    %%RUNNER%%;
    tool_state_dir $dir/state;
    tool slow { exec sleep 60; }
}
END
my $runner = $tg->conf_text('') =~ /^tool_runner (\S+);/m ? $1 : die;
$body =~ s/%%RUNNER%%/$runner/g;
$tg->conf($body, server => 0)->start;

sub says {
    my ($socket, $tool, $arguments) = @_;
    state %client;
    $client{$socket} //= $tg->connect($socket);
    return text_of($client{$socket}->call_tool($tool => $arguments // {}));
}

is says($one, 'who', { x => 'X' }), "stream of who, X|this\n", 'tool_env';
is says($one, 'here'), "a\nto all", 'tool_cwd and tool_stdin';
is says($one, 'at'), "$dir/c\n", 'a cwd of the tool';
like says($three, 'slow'), qr/longer|time/i, 'tool_timeout';
like says($one, 'much'), qr/40 bytes/, 'tool_max_output';
is says($one, 'own'), "me||\nto me " . join('', map {"$_\n"} 1 .. 9),
    'a tool that says all of it; its env are all that it has';

is says($two, 'who'), "server|\n", 'what a server says goes before';
is says($two, 'here'), "b\nto all", 'and what it does not say stays';
is says($two, 'much'), join('', map {"$_\n"} 1 .. 100), 'its size';
is says($two, 'slow'), '', 'its time';

# Limits of programs need a cgroup; without one, the error names them.
$body =~ s/^tool_cwd .*$/$& tool_memory 512m; tool_pids 50;/m or die;
$tg->reload($body, server => 0);
like says($one, 'here'), qr/^(?:a\nto all$|.*(?:memory|pids))/s,
    'tool_memory and tool_pids';
my $own = says($one, 'own');
like $own, qr/^(?:me|.*(?:memory|pids))/s, 'for all programs';

$tg->stop;
done_testing;
