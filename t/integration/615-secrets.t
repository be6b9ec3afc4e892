#!/usr/bin/perl
# `env NAME file=PATH` and `credential=NAME`: a secret reaches the program and
# nothing else: no dump of the config, log, error or command line.

use Toolgate::Test;

use POSIX qw(mkfifo);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $secret = 'tHe$secret-' . $$;

sub secret {
    my ($name, $text, $mode) = @_;
    $tg->file($name, $text);
    chmod $mode, "$dir/$name" or die "chmod: $!\n";
}

mkdir "$dir/credentials" or die "mkdir: $!\n";
secret('token', "$secret\n", 0600);
secret('credentials/key', "of the manager\nin two lines\n", 0400);

# Programs get it; one that fails, hangs, or cannot start does not show it.
my $body = <<"END";
tool_env SERVER file=token;
tool show {
    exec sh -c 'test "\$\$TOKEN" = "\$\$(cat $dir/token)" && echo it is';
    env  TOKEN file=token;
}
tool server { exec sh -c 'test -n "\$\$SERVER" && echo it is there'; }
tool fail   { exec sh -c 'echo no >&2; exit 3'; env TOKEN file=$dir/token; }
tool slow   { exec sleep 60; env TOKEN file=token; timeout 100ms; }
tool start  { exec cat; env TOKEN file=token; cwd \$tool_arg_x; }
tool line   {
    exec sh -c 'cat /proc/\$\$PPID/cmdline; cat /proc/\$\$\$\$/cmdline';
    env TOKEN file=token;
}
END
$tg->conf($body)->start;
my $client = $tg->connect;

my $said = '';

sub says {
    my ($tool, $arguments) = @_;
    my $text = text_of($client->call_tool($tool => $arguments // {}));
    $said .= "$text\n";
    return $text;
}

is says('show'), "it is\n", 'the program has it, without the end of its line';
is says('server'), "it is there\n", 'from tool_env, too';
like says('fail'), qr/status 3.*no/s, 'one that fails';
like says('slow'), qr/longer|time/, 'one that is ended';
like says('start', { x => '/nowhere' }), qr/nowhere/, 'one that cannot start';
says('line');

my ($status, $out, $err) =
    run_command({ env => $tg->nginx_env }, $tg->nginx_command, "-T", "-p",
    "$dir/", "-c", "nginx.conf",
    '-e', 'dump.log');
like $out, qr/env TOKEN file=/, 'the config is dumped';
$tg->stop;
for my $text ($said, $out, $err, $tg->log, slurp("$dir/dump.log")) {
    unlike $text, qr/\Q$secret\E/, 'and it is not there';
}

# --- errors -----------------------------------------------------------------

my $tool = 'tool a { description d; exec true; env T %s; }';
secret('open', 'x', 0644);
secret('group', 'x', 0640);
secret('written', 'x', 0660);
secret('empty', "\n", 0600);
secret('nul', "a\0b", 0600);
secret('large', 'x' x 16385, 0600);
mkfifo("$dir/fifo", 0600) or die "mkfifo: $!\n";
for my $case (
    [ 'file=fifo', qr/fifo" is not a regular file/ ],
    [
        'file=open',
        qr/secret "\S+open" can be read or changed .*chmod 0600/
    ],
    [ 'file=written', qr/"\S+written" can be read or changed by other users/ ],
    [ 'file=group',   undef ],
    [ 'file=empty',   qr/"\S+empty" must contain UTF-8 text of at most 16/ ],
    [ 'file=nul',     qr/"\S+nul" must contain UTF-8 text/ ],
    [ 'file=large',   qr/"\S+large" must contain UTF-8 text/ ],
    [ 'file=none',    qr/none" failed \(2: No such file/ ],
    [ 'credential=x',
        qr/credential "x" does not exist, as CREDENTIALS_DIRECTORY is not/ ],
) {
    my ($value, $pattern) = @$case;
    my ($rc, $text) = $tg->test_conf(sprintf $tool, $value);
    is $rc == 0, !defined $pattern, "$value is "
        . (defined $pattern ? 'refused' : 'taken') or diag $text;
    like $text, $pattern, 'and why' if defined $pattern;
}
SKIP: {
    skip 'only root can give files away', 2 if $> != 0;
    chown 12345, -1, "$dir/group" or die "chown: $!\n";
    my ($rc, $text) = $tg->test_conf(sprintf $tool, 'file=group');
    isnt $rc, 0, 'somebody else\'s file is refused';
    like $text, qr/is owned by another user, .*\(chown\)/, 'and why';
}

# --- credentials of the service manager -------------------------------------

{
    local $ENV{CREDENTIALS_DIRECTORY} = "$dir/credentials";
    $tg->conf(<<'END')->start;
tool show { exec sh -c 'printf "%s." "$$KEY"'; env KEY credential=key; }
END
    is text_of($tg->connect->call_tool('show')),
        "of the manager\nin two lines.", 'a credential';
    for my $name ('../token', '.hidden', 'none') {
        my ($rc, $text) = $tg->test_conf(sprintf $tool, "credential=$name");
        isnt $rc, 0, "credential=$name is refused";
        like $text, qr/invalid credential|none" failed/, 'and why';
    }
    $tg->stop;
}

done_testing;
