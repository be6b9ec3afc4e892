#!/usr/bin/perl
# The life of a server in a program: its files, their names and owners over
# time, and that nothing is left.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $hex = qr/[0-9a-f]/;
my $uuid = qr/$hex{8}-$hex{4}-4$hex{3}-[89ab]$hex{3}-$hex{12}/;

sub mode {
    my ($path) = @_;
    return sprintf '%04o', (lstat $path)[2] & 07777;
}

for my $kind (@Toolgate::Host::KINDS) {
    umask 0;
    my $host = Toolgate::Host->start($tg, $kind);
    umask 022;

    # --- created ---
    is $host->do('state'), 0, "$kind: created";
    my $config = decode_json($host->do('config'));
    my ($socket, $schema) = ($host->do('socket'), $host->do('schema'));
    is_deeply $config, {
        mcpServers => {
            transcripts => {
                type    => 'stdio',
                command => $tg->bridge_path,
                args    => [ $socket, $schema, qw(--dialect jsonrpc) ],
            },
        },
        },
        "the agent's config starts the bridge";
    my $run = $host->run_dir;
    like $socket, qr/^\Q$run\E\/claudecode_ipc_$uuid\.sock$/, 'the socket';
    like $schema, qr/^\Q$run\E\/claudecode_ipc_schema_$uuid\.json$/,
        'the schema file';
    is_deeply [ $host->files ], [], 'neither is there yet';
    like $host->fails('notify news'), qr/^RuntimeError .*not started/,
        'there is no client to notify';

    # --- started ---
    is $host->do('start'), 'ok', "$kind: started";
    is $host->do('state'), 1, 'it says so';
    is mode($socket), '0600', 'the socket is for its owner alone';
    is mode($schema), '0600', 'so is the schema file';
    my $tools = decode_json(slurp($schema));
    is $tools->[0]{name}, 'echo', 'which has the tools';
    is_deeply [ sort keys %{ $tools->[0] } ],
        [qw(description input_schema name)], 'as bridges read them';
    is scalar(grep { $_->{name} =~ /\./ } @$tools), 0, 'and no methods';
    like $host->fails('start'), qr/^RuntimeError .*already started/,
        'it starts once';
    like $host->fails('set max_frame 1m'), qr/^RuntimeError .*is started/,
        'what cannot change now is refused';
    my $client = $host->connect_to;
    is $client->call_tool('echo', { text => 'hi' })->{result}{content}[0]{text},
        'hi', 'a client is served';
    is $host->do('clients'), 1, 'and counted';

    # --- stopped ---
    is $host->do('stop'), 'ok', "$kind: stopped";
    is $host->do('state'), 2, 'it says so';
    is_deeply [ $host->files ], [], 'socket and file are gone';
    ok $client->at_eof, 'so is the client';
    is $host->do('clients'), 0, 'no client is counted';
    is $host->do('stop'), 'ok', 'to stop it once more does nothing';

    # --- started again ------------------
    is $host->do('start'), 'ok', 'it starts again';
    is $host->do('socket'), $socket, 'under the same names';
    is $host->connect_to->call_tool('echo', { text => 'again' })
        ->{result}{content}[0]{text}, 'again', 'and serves';
    $host->do('stop');

    # --- with other tools ---
    is $host->do('filter json list'), 'ok', 'tools are filtered';
    isnt $host->do('socket'), $socket, 'the configuration is another one';
    $host->do('start');
    $tools = decode_json(slurp($host->do('schema')));
    is_deeply [ map { $_->{name} } @$tools ], [qw(json list)],
        'the next request has these';
    my $reply = $host->connect_to->call_tool('echo', { text => 'x' });
    is $reply->{error}{code}, -32602, 'and not the others';

    # --- files of others stay --------------
    my $file = $host->do('schema');
    unlink $file or die "$file: $!\n";
    $tg->file("run/$1", 'mine') if $file =~ m{([^/]+)$};
    $host->do('stop');
    is slurp($file), 'mine', "another program's file stays";
    unlink $file;

    is $host->do('filter'), 'ok', 'all are offered again';
    $host->stop;
    is_deeply [ $host->files ], [], "$kind: nothing is left";
}

# --- two in one directory ---

my @hosts = map { Toolgate::Host->start($tg, 'thread') } 1, 2;
$_->do('start') for @hosts;
is scalar(my @four = $hosts[0]->files), 4, 'two hosts, two files each';
is $_->connect_to->call_tool('json')->{result}{structuredContent}{a}, 1,
    'each serves' for @hosts;
$hosts[0]->do('stop');
is scalar(@four = $hosts[0]->files), 2, 'the other one has its own still';
is $hosts[1]->connect_to->call_tool('json')->{result}{structuredContent}{a},
    1, 'and serves';

# --- the end of the process ---

$hosts[1]->send_raw("exit\n");
$hosts[1]->wait_exit;
is_deeply [ $hosts[1]->files ], [], 'exit() leaves nothing behind';

# Its end of file comes during other work.
my $host = Toolgate::Host->start($tg, 'thread');
$host->do('start');
my $client = $host->connect_to;
$client->send_line({
    jsonrpc => '2.0', id => 1, method => 'tools/call',
    params => { name => 'hang' },
});
$host->event(qr/^hangs/);
$host->stop;
is_deeply [ $host->files ], [], 'nor does one that is freed while calls run';
my $last = decode_json($client->recv_line);
like $last->{result}{content}[0]{text}, qr/^hang: the server was stopped/,
    'whose callers get the error';
ok $client->at_eof, 'before they are closed';

# --- directories ---

my $dir = $tg->dir;
mkdir "$dir/tmp" or die "$dir/tmp: $!\n";

sub place {
    my ($env, %option) = @_;
    my $host = Toolgate::Host->start($tg, 'thread',
        env => { TMPDIR => "$dir/tmp", %$env }, %option);
    $host->do('start');
    return ($host, $host->do('socket') =~ m{(.*)/});
}

sub in_private_dir {
    my ($env, $name) = @_;
    my ($host, $place) = place($env);
    like $place, qr{^\Q$dir\E/tmp/toolgate-[0-9a-f]{12}$}, $name;
    is mode($place), '0700', '… which is for this user alone';
    $host->stop;
    ok !-e $place, '… and goes with the server';
}

in_private_dir({ XDG_RUNTIME_DIR => undef },
    'without XDG_RUNTIME_DIR, a private directory');
mkdir "$dir/open" or die "$dir/open: $!\n";
chmod 0777, "$dir/open" or die "$dir/open: $!\n";
in_private_dir({ XDG_RUNTIME_DIR => "$dir/open" },
    'where others can write, a private directory');
in_private_dir({ XDG_RUNTIME_DIR => "$dir/no" },
    'where there is nothing, a private directory');
my $long = "$dir/" . 'x' x 100;
mkdir $long, 0700 or die "$long: $!\n";
in_private_dir({ XDG_RUNTIME_DIR => $long },
    'where a socket\'s name is too long, a private directory');

mkdir "$dir/mine", 0700 or die "$dir/mine: $!\n";
($host, my $place) = place({}, directory => "$dir/mine");
is $place, "$dir/mine", 'the directory that is asked for';
$host->stop;
ok -d "$dir/mine", 'stays';

$host = Toolgate::Host->start($tg, 'thread', directory => "$dir/open");
like $host->fails('start'),
    qr/^OSError .*open" must be a directory that is owned by this/,
    'one in which others can write is refused';
is $host->do('state'), 0, 'and nothing was started';
$host->do("set directory $dir/gone");
like $host->fails('start'), qr/^OSError .*must be a directory/,
    'so is one that is not there';
like $host->fails('set directory tmp'), qr/^ValueError .*begins with a slash/,
    'and one that moves with the program';
$host->do("set directory $long");
like $host->fails('socket'), qr/too long for a socket in it/,
    'and one that is too long';
$host->do("set directory $dir/mine");
chmod 0500, "$dir/mine" or die "$dir/mine: $!\n";
SKIP: {
    skip 'root may write anywhere', 2 if $> == 0;
    like $host->fails('start'), qr/^OSError .*cannot write the schema file /,
        'a start that fails says why';
    is $host->do('state'), 0, 'and leaves nothing';
}
chmod 0700, "$dir/mine";
is $host->do('start'), 'ok', 'the next one may go well';

done_testing;
