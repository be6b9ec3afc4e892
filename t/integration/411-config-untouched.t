#!/usr/bin/perl
# Neither nginx -t, alone or beside a running NGINX, nor nginx -s reload changes
# anything.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $socket = $tg->socket_path;
my $tool = 'tool hi { return hi; }';
my $exec = 'tool one { exec true; }';
# Files that NGINX itself writes.
my $own = qr{/(?:(?:nginx|test)\.conf|(?:test|error)\.log|nginx\.pid)$};

sub unchanged {
    my ($name, $code) = @_;
    my $before = files_below($dir, $own);
    $code->();
    is_deeply files_below($dir, $own), $before, "$name: nothing was touched";
}

sub accepts {
    my ($name, $body, %option) = @_;
    my ($status, $out) = $tg->test_conf($body, %option);
    is $status, 0, "$name is right" or diag $out;
    unlike $out, qr/\[(?:warn|error|crit|alert|emerg)\](?!.* no "descript)/,
        "$name is silent";
}

sub refuses {
    my ($name, $pattern, $body, %option) = @_;
    conf_fails($tg, $body, $pattern, $name, %option);
}

# --- nginx -t alone -------------------------------------------------------

unchanged 'no socket', sub { accepts('a new socket', $tool) };
unchanged 'no state directory', sub {
    accepts('a new state directory', "tool_state_dir $dir/new;\n$exec");
};
unchanged 'no folder', sub {
    refuses('folders that are missing',
        qr{of unix:\Q$dir\E/no/no/t\.sock cannot be opened; create it},
        "listen unix:$dir/no/no/t.sock;\n$tool");
    accepts('one that would be made', "listen unix:$dir/no/t.sock;\n$tool");
};

my $long = "$dir/" . 'x' x (105 - length $dir);
unchanged 'a long path', sub {
    refuses('a path without room for a name beside it',
        qr/the path of unix:\Q$long\Ey is too long; use at most 106 bytes/,
        "listen unix:${long}y;\n$tool");
    accepts('the longest path', "listen unix:$long;\n$tool");
};

my $stale = IO::Socket::UNIX->new(Local => $socket, Listen => 1);
close $stale;
unchanged 'a socket left behind', sub { accepts('the same path', $tool) };
unlink $socket;

$tg->file('t.sock', 'precious');
unchanged 'a file', sub {
    refuses('a file in the way', qr/t\.sock" exists and is not a socket; move/,
        $tool);
};
unlink $socket;

symlink '/nowhere', $socket;
unchanged 'a link', sub {
    refuses('a link in the way', qr/t\.sock" exists and is not a socket; move/,
        $tool);
};
unlink $socket;

# --- beside a running NGINX -----------------------------------------------

my $two = "tool_socket_mode 0666;\ntool_state_dir $dir/new;\n"
    . "listen unix:$socket;\nlisten unix:$dir/two.sock;\n$tool\n$exec";

$tg->conf("$tool\n$exec")->start;
my $client = $tg->connect;
is text_of($client->call_tool('hi')), 'hi', 'NGINX runs';

unchanged 'beside NGINX', sub {
    accepts('the config that runs', "$tool\n$exec");
    accepts('a config that changes much', $two);
    refuses('a mistake', qr/has no handler/, 'tool a { }');
};
is text_of($tg->connect->call_tool('hi')), 'hi', 'NGINX continues';
is text_of($client->call_tool('hi')), 'hi', 'for old clients too';

# The master is stopped: every change is the other process's.
$tg->conf($two);
kill STOP => $tg->master_pid;
unchanged 'nginx -s reload', sub { $tg->signal_reload };
$tg->conf('tool a { }');
$tg->allow_log(qr/\[emerg\].* has no handler/);
unchanged 'nginx -s reload with a mistake', sub {
    ok !eval { $tg->signal_reload; 1 }, 'it fails';
    like $@, qr/has no handler/, 'and says why';
};

# The first signal is still pending.
$tg->conf($two);
kill CONT => $tg->master_pid;
wait_for { -S "$dir/two.sock" } 'the second socket';
is mode_of($socket), "0666 $> " . ($) + 0), 'then the master did its part';
ok -d "$dir/new", 'all of it';

done_testing;
