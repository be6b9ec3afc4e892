#!/usr/bin/perl
# tool_schema_file: the tools of a server in a file, only for the owner of its
# socket; always complete, new with each reload, removed with the directive, the
# tools or NGINX.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $path = $tg->dir . '/tools.json';
my $gid = $) + 0;
my $schema = '{ "type": "object", "properties": { "a": { "const": 1.50 } } }';
my $tools = <<"END";
tool first  { description 'Says "hi" & \\\\ bye.'; return hi;
              input_schema '$schema'; }
tool second { return hi; }
method m    { return 1; }
END
my $file = "tool_schema_file tools.json;\n";

sub content { return Toolgate::Client->decode(slurp($path)) }

sub names {
    return join ' ', map { $_->{name} } @{ content() };
}

# Not under -t.
my ($status, $out) = $tg->test_conf($file . $tools);
is $status, 0, 'nginx -t' or diag $out;
ok !-e $path, 'which writes nothing';

my $old = umask 0;
$tg->conf($file . $tools)->start;
umask $old;
is mode_of($path), "0600 $> $gid", 'mode and owner';
is_deeply content(), [
    {
        name         => 'first',
        description  => 'Says "hi" & \\ bye.',
        input_schema =>
            { type => 'object', properties => { a => { const => 1.5 } } },
    },
    {
        name         => 'second',
        description  => '',
        input_schema => { type => 'object', properties => {} },
    },
], 'what docs/protocols.md says: name, description, input_schema';
like slurp($path), qr/\{"const":1\.50\}/, 'schemas token by token';
is_deeply [ glob "$path?*" ], [], 'nothing beside it';

# -t of another config and signals do not change it.
my $before = files_below($tg->dir, qr/\.(?:log|conf|pid)$/);
($status) = $tg->test_conf("$file tool other { return hi; }");
is $status, 0, 'nginx -t while it runs';
$tg->reload_fails("$file tool broken { }");
is_deeply files_below($tg->dir, qr/\.(?:log|conf|pid)$/), $before,
    'neither -t nor a failed reload touches it';

# A reader during the replacement gets the old or new one, complete.
my $long = 'x' x 400;
my $big = join '', map {"tool t$_ { description $long; return hi; }"} 1 .. 200;
$tg->conf($file . $tools);
pipe my $in, my $stop or die "pipe: $!";
my $reader = fork // die "fork: $!";
if ($reader == 0) {
    close $stop;
    $in->blocking(0);
    my ($wrong, %seen) = (0);
    until (defined sysread $in, my $byte, 1) {
        my $text = slurp($path);
        my $list = eval { Toolgate::Client->decode($text) };
        $seen{ $list ? @$list : 'none' }++;
    }
    POSIX::_exit(join(' ', sort { $a cmp $b } keys %seen) eq '2 200' ? 0 : 1);
}
close $in;
for my $round (1 .. 6) {
    $tg->reload($file . ($round % 2 ? $big : $tools));
}
close $stop;
waitpid $reader, 0;
is $?, 0, 'a reader never sees less than a whole file';

# Another name; no file; another server's.
$tg->reload("tool_schema_file other.json;\n$tools");
ok !-e $path, 'a name that was dropped is gone';
is mode_of($tg->dir . '/other.json'), "0600 $> $gid", 'the new one is there';
$tg->reload($tools);
ok !-e $tg->dir . '/other.json', 'without the directive';
$tg->reload($file . 'tool second { return hi; }');
is names(), 'second', 'and with it again';

# The server itself, then all tools, then all of stream's.
my $tcp = "server { listen unix:%%DIR%%/plain.sock; return hi; }";
$tg->reload("server { listen unix:%%SOCKET%%; $tools }\n$tcp", server => 0);
ok !-e $path, 'a server without one';
$tg->reload($file . $tools);
is names(), 'first second', 'with it';
$tg->reload($tcp, server => 0);
ok !-e $path, 'no tool at all';
$tg->reload($file . $tools);

# It was removed or changed: the next reload restores it.
unlink $path or die "$path: $!";
$tg->reload;
is names(), 'first second', 'a file that was removed';
$tg->file('tools.json', 'mine', 0644);
$tg->reload;
is mode_of($path), "0600 $> $gid", 'a file that was changed';
is names(), 'first second', 'is right again';

# With methods only it is an empty list.
$tg->reload("$file method m { return 1; }");
is_deeply content(), [], 'no tools';

for my $signal (qw(TERM QUIT INT)) {
    $tg->conf($file . $tools);
    $tg->start if !$tg->master_pid;
    ok -e $path, "before $signal";
    $tg->stop(signal => $signal);
    ok !-e $path, "gone after $signal";
}

# A killed master cannot clean up; the next start does.
$tg->start;
my @workers = $tg->worker_pids;
$tg->kill_master;
wait_for { !grep { is_alive($_) } @workers } 'the workers to go';
ok -e $path, 'left by a master that was killed';
$tg->conf("$file tool after { return hi; }")->start;
is names(), 'after', 'and replaced by the next';
$tg->stop;
ok !-e $path, 'and gone';

done_testing;
