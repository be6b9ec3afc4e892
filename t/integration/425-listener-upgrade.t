#!/usr/bin/perl
# A new binary takes over the sockets while the old one still serves; whichever
# ends first, nobody is rejected and no socket is lost or left.

use Toolgate::Test plain_only => 'LeakSanitizer reports starts of a daemon';

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $socket = $tg->socket_path;
my $pid_file = "$dir/nginx.pid";

# NGINX ignores USR2 unless it is a daemon.
sub conf {
    my ($name, $mode) = @_;
    $tg->conf("tool_socket_mode $mode;\ntool who { return '$name \$pid'; }");
    $tg->file('nginx.conf',
        slurp("$dir/nginx.conf") =~ s/daemon off/daemon on/r);
}

sub who {
    my ($of) = @_;
    $of //= $tg->connect;
    my ($name, $pid) = split / /, text_of($of->call_tool('who'));
    return ($name, $pid ? parent_of($pid) // 0 : 0);
}

conf(first => '0600');
my ($status) = run_command({}, $tg->nginx_command);
is $status, 0, 'a daemon starts';
# The pid file is written after the first process has exited.
my $first = wait_for(sub { slurp($pid_file) }) + 0;
my $inode = (lstat $socket)[1];
is_deeply [ who() ], [ 'first', $first ], 'it serves';
my $client = $tg->connect;
ok $client->call_tool('who')->{result}, 'a client of it';

# --- upgrade --------------------------------------------------------------

conf(second => '0660');
my $second = upgrade_nginx($pid_file, $first);
is mode_of($socket), "0660 $> " . ($) + 0), 'the new one sets the mode';
is +(lstat $socket)[1], $inode, 'of the same socket';
is_deeply [ glob "$socket*" ], [$socket], 'there is no other';
kill WINCH => $first;
wait_for { (who($client))[1] == $second } 'its client to move';
pass 'clients of the old one go on with the new one';
# An exiting worker may accept a connection.
wait_for { ((eval { who() })[1] // 0) == $second } 'the new one';
is +(who())[0], 'second', 'with its own config';
end_process($first, 'QUIT');
is_deeply [ who() ], [ 'second', $second ], 'the old one ends, the new stays';
is +(lstat $socket)[1], $inode, 'the socket too';

# --- back to the old binary -----------------------------------------------

conf(third => '0600');
my $third = upgrade_nginx($pid_file, $second);
my $other = $tg->connect;
ok $_->call_tool('who')->{result}, 'both of them serve' for $client, $other;
end_process($third, 'QUIT');
wait_for { !-e "$pid_file.oldbin" } 'the old one to notice';
is_deeply [ who() ], [ 'second', $second ], 'the new one ends, the old stays';
is_deeply [ who($_) ], [ 'second', $second ], 'with all clients'
    for $client, $other;
is +(lstat $socket)[1], $inode, 'the socket too';

# The old one still reloads; then a third upgrade.
conf(third => '0600');
kill HUP => $second;
wait_for { ((eval { who() })[0] // '') eq 'third' } 'a reload';
my $fourth = upgrade_nginx($pid_file, $second);
end_process($second, 'QUIT');
is_deeply [ who() ], [ 'third', $fourth ], 'the next one serves';
is_deeply [ who($client) ], [ 'third', $fourth ], 'the first client as well';
end_process($fourth, 'TERM');
is_deeply [ glob "$socket*" ], [], 'the last one takes the socket along';

done_testing;
