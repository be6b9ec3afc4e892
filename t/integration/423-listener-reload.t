#!/usr/bin/perl
# Listeners are added, removed and change their mode in a reload; a failed
# reload changes and leaves nothing.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my ($one, $two) = map {"$dir/$_.sock"} qw(one two);
my ($uid, $gid) = ($>, $) + 0);
# Files that NGINX itself writes.
my $own = qr{/(?:nginx\.conf|error\.log|nginx\.pid|\w+_temp)$};

sub body {
    my ($text, @sockets) = @_;
    return join "\n", (map {"listen unix:$_;"} @sockets),
        "tool who { return $text; }";
}

sub who {
    my ($path) = @_;
    return text_of($tg->connect($path)->call_tool('who'));
}

sub sockets { return [ glob "$dir/*.sock*" ] }
sub inode { return (lstat $_[0])[1] }

$tg->conf(body(first => $one))->start(socket => $one);
my $inode = inode($one);
is who($one), 'first', 'one listener';

# --- added, removed and changed -------------------------------------------

$tg->reload(body(second => $one, $two));
is who($one), 'second', 'one more: the first is there';
is who($two), 'second', 'one more: the second too';
is mode_of($two), "0600 $uid $gid", 'one more: with its mode';
is inode($one), $inode, 'one more: the first is the same file';

$tg->reload(body(third => $two));
is who($two), 'third', 'one less: the other is there';
is_deeply sockets(), [$two], 'one less: its file is gone';

$tg->reload(body(fourth => $one));
is who($one), 'fourth', 'another one instead';
is_deeply sockets(), [$one], 'and no other file';

# --- mode and owner -------------------------------------------------------

$inode = inode($one);
$tg->reload("tool_socket_mode 0666;\n" . body(open => $one));
is mode_of($one), "0666 $uid $gid", 'a wider mode';
$tg->reload("tool_socket_mode 0660;\n" . body(group => $one));
is mode_of($one), "0660 $uid $gid", 'a narrower mode';
SKIP: {
    skip 'owners are for root', 2 if $> != 0;
    my ($nobody, $group) = (getpwnam 'nobody')[2, 3];
    $tg->reload("tool_socket_owner nobody;\n" . body(owner => $one));
    is mode_of($one), "0600 $nobody $group", 'another owner';
    $tg->reload(body(root => $one));
    is mode_of($one), "0600 $uid $gid", 'and back';
}
is inode($one), $inode, 'all the time it was the same file';
my $client = $tg->connect($one);
ok $client->call_tool('who')->{result}, 'it serves';

# --- failures -------------------------------------------------------------

$tg->reload(body(works => $one));
$tg->allow_log(qr/\[emerg\]/);
my $stays = $tg->connect($one);
is text_of($stays->call_tool('who')), 'works', 'a client that stays';

sub fails {
    my ($name, $pattern, $body, %option) = @_;
    my $before = files_below($dir, $own);
    my $fds = master_fds($tg);
    my %workers = map { $_ => 1 } $tg->worker_pids;
    like $tg->reload_fails($body, %option), $pattern, "$name is explained";
    $tg->master_rests;
    is_deeply files_below($dir, $own), $before, "$name: no file changed";
    is fd_count($tg->master_pid), $fds, "$name: no descriptor is left";
    is_deeply { map { $_ => 1 } $tg->worker_pids }, \%workers,
        "$name: the workers are the same";
    is text_of($stays->call_tool('who')), 'works', "$name: clients stay";
    is who($one), 'works', "$name: new ones come";
}

fails('a mistake', qr/has no handler/, "listen unix:$two;\ntool a { }");

$tg->file('file', 'precious');
fails('a file in the way', qr/file" exists and is not a socket/,
    body(new => $two, "$dir/file"));

my $served = IO::Socket::UNIX->new(Local => "$dir/busy", Listen => 9);
fails('a socket of somebody else', qr/busy is already served by process/,
    body(new => $two, "$dir/busy"));
close $served;
unlink "$dir/busy";

fails('folders that are missing', qr/directory of unix:\S+ cannot be opened/,
    body(new => $two, "$dir/no/no/t.sock"));
fails('a folder that was made for nothing',
    qr/file" exists and is not a socket/,
    body(new => $two, "$dir/no/t.sock", "$dir/file"));

# Errors that NGINX finds after our sockets are bound: it tries for two and a
# half seconds.
my $port = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
    or die "127.0.0.1: $!";
my $number = $port->sockport;
fails('a port of somebody else', qr/bind\(\) to 127\.0\.0\.1:$number failed/,
    body(new => $one, $two), stream =>
        "server { listen 127.0.0.1:$number; return x; }");
close $port;

# The listener that failed is now correct.
$tg->reload(body(new => $one, $two),
    stream => "server { listen 127.0.0.1:$number; return x; }");
is who($two), 'new', 'then the same config loads';
is_deeply sockets(), [ $one, $two ], 'and there is nothing else';
$tg->stop(signal => 'QUIT');
is_deeply sockets(), [], 'nothing is left';

done_testing;
