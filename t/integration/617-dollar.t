#!/usr/bin/perl
# `$$` is a dollar in every value of ours, also without variables; a single
# dollar, or one before no name, is never dropped.

use Toolgate::Test qw(McpWeb Native Web);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $web = Toolgate::Web->new($tg);
my $far = Toolgate::McpWeb->new($tg);
my $at = $web->url;
Toolgate::Native->probe("$dir/pro\$be.so", 'one');
mkdir "$dir/f\$older" or die "mkdir: $!\n";
$tg->file('pro$gram', <<'END', 0755);
#!/bin/sh
echo "$0|$*|$DOLLAR|$(cat)|$PWD"
END
$tg->file('ser$ver', "#!/bin/sh\nshift\nexec '$^X' '"
        . Toolgate::Test::top() . "/t/servers/mcp.pl' \"\$@\"\n", 0755);

# The pages say it once for all values, so each row is one directive.
$tg->conf(<<"END", server => 0)->start;
tool_log_format dollars 'a\$\$b \$tool_name';
server {
    listen         unix:@{[ $tg->socket_path ]};
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir $dir/state;
    tool_env       DOLLAR 'e\$\$e';
    tool_stdin     's\$\$s';
    tool_cwd       '$dir/f\$\$older';
    tool_header    X-All 'h\$\$h';
    tool_query     '\$\$top' 'q\$\$q';
    tool_log       dollars.log dollars;

    tool return  { return 'r\$\$r \$tool_arg_x'; }
    tool all     { exec '$dir/pro\$\$gram' 'a\$\$a' '\$\$1'; }
    tool own     {
        exec  '$dir/pro\$\$gram';
        arg   'w\$\$w' '\$\$tool_arg_x=\$tool_arg_x';
        arg   'l\$\$l:\$tool_arg_list' each;
        arg   yes if='\$\$\$tool_arg_none';
        env   DOLLAR 'm\$\$m\$tool_arg_x';
        stdin 'i\$\$i';
        cwd   '$dir/f\$\$older';
    }
    tool get     { http GET '$at/echo/u\$\$u?a=\$\$\$tool_arg_x'; output json; }
    tool json    {
        http   POST $at/echo;
        header X-Own 'o\$\$o\$tool_arg_x';
        query  '\$\$filter' 'f\$\$f';
        body   '{"a":"j\$\$j","x":\$tool_arg_x}';
        output json;
    }
    tool form    { http POST $at/echo; body form 'a=f\$\$'; output json; }
    tool text    { http POST $at/echo; body text 't\$\$t\$\$'; output json; }
    tool native  {
        library 'pro\$\$be.so' probe_say 'n\$\$n' '\$\$\$tool_arg_x';
    }

    mcp_server near {
        exec '$dir/ser\$\$ver' 'x\$\$x' legacy;
        env  DOLLAR 'd\$\$d';
        env  ALONE  'a\$';
        env  NUMBER '\$5';
        cwd  '$dir/f\$\$older';
    }
    mcp_server far {
        url    @{[ $far->url ]};
        header X-Dollar 'y\$\$y';
    }

    task_methods on;
    task_agent do {
        exec  '$dir/pro\$\$gram' 't\$\$t \$task_prompt';
        env   DOLLAR 'k\$\$k';
        stdin 'z\$\$z';
        cwd   '$dir/f\$\$older';
        default;
    }
}
END
my $client = $tg->connect;

sub says {
    my ($tool, %arguments) = @_;
    my $reply = $client->call_tool($tool => \%arguments);
    return $reply->{result}{structuredContent} // text_of($reply);
}

is says('return', x => '$y'), 'r$r $y', 'return';
my ($program, $folder) = ("$dir/pro\$gram", "$dir/f\$older");
is says('all'), "$program|a\$a \$1|e\$e|s\$s|$folder\n",
    'exec and its program, tool_env, tool_stdin, tool_cwd';
is says('own', x => 'X', list => [ 1, '$2' ]),
    "$program|w\$w \$tool_arg_x=X l\$l:1 l\$l:\$2 yes|m\$mX|i\$i|$folder\n",
    'arg with each and if, env, stdin, cwd';

is says('get', x => '$y')->{path}, '/echo/u$u?a=$%24y&%24top=q%24q',
    'the URL of http, tool_query and its name';
my $got = says('json', x => '$');
is $got->{body}, '{"a":"j$j","x":"$"}', 'body json';
is $got->{headers}{'x-own'}, 'o$o$', 'header';
is $got->{path}, '/echo?%24filter=f%24f', 'query and its name';
$got = says('form');
is $got->{body}, 'a=f$', 'body form';
is $got->{headers}{'x-all'}, 'h$h', 'tool_header';
is says('text')->{body}, 't$t$', 'body text';
is says('native', x => 'v'), '[3:n$n][2:$v]',
    'library and its arguments';

wait_for { ($tg->cli('list'))[1] =~ /^near_env/m
        && ($tg->cli('list'))[1] =~ /^far_/m } 'the lists of both servers';
my $env = says('near_env');
like $env, qr/^DOLLAR=d\$d$/m, 'env of mcp_server';
like $env, qr/^ALONE=a\$$/m, 'a dollar at the end is one';
like $env, qr/^NUMBER=\$5$/m, 'and so is one that begins no name';
is says('near_where'), $folder, 'its cwd, its program and argument';
is scalar(grep { $_->{headers}{'x-dollar'} eq 'y$y' } $far->requests),
    scalar(@{ [ $far->requests ] }), 'header of mcp_server';
cmp_ok scalar(@{ [ $far->requests ] }), '>', 0, 'with each request';

my $task = $client->rpc('task.submit', { prompt => '$p' })->{result}{taskId};
my $output;
wait_for {
    $output = $client->rpc('task.get', { taskId => $task })->{result};
    $output->{state} !~ /queued|running/;
} 'the end of the task';
is $output->{result}, "$program|t\$t \$p|k\$k|z\$z|$folder", 'task_agent';
like slurp("$dir/dollars.log"), qr/^a\$b native$/m, 'tool_log_format';
$tg->stop;

# The begin of a variable where none is allowed is an error.
for my $case (
    [ 'mcp_server a { exec cat $tool_arg_x; }',  qr/"\$\$" for a dollar/ ],
    [ 'mcp_server a { exec $x; }',               qr/"\$\$" for a dollar/ ],
    [ 'mcp_server a { exec cat; env A ${b}; }',  qr/"\$\$" for a dollar/ ],
    [ 'tool a { exec $tool_arg_x; }',            qr/"\$\$" for a dollar/ ],
    [ 'tool a { return "1 $"; }',                qr/itself write "\$\$"/ ],
    [ 'tool a { return "$1"; }',                 qr/itself write "\$\$"/ ],
    [ 'tool a { http GET http://a/; query $x y; }', qr/invalid name "\$x"/ ],
    [ 'tool a { library $x; }',                  qr/without variables/ ],
) {
    conf_fails($tg, @$case);
}

done_testing;
