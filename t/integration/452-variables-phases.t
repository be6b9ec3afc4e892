#!/usr/bin/perl
# Variables across phases: values of `set` before a session are visible to its
# calls, and `limit_conn` knows the client, also after a reload.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $pid = $$;

sub body {
    my ($root) = @_;
    return <<"END";
set        \$root $root;
set        \$who  "\$tool_client_uid:\$kind";
limit_conn pids 3;
tool ls   { exec ls \$root/below; }
tool both { return '\$root|\$who|\$tool_arg_x|\$shown'; }
END
}

my %option = (stream => <<'STREAM');
limit_conn_zone $tool_client_pid zone=pids:1m;
map $tool_client_pid $kind {
    default  other;
    %%PID%%  test;
}
map $tool_arg_x $shown {
    default  "<$tool_arg_x>";
}
STREAM
$option{stream} =~ s/%%PID%%/$pid/;

my $dir = $tg->dir;
for my $root (qw(one two)) {
    mkdir "$dir/$_" or die "$dir/$_: $!\n" for $root, "$root/below";
    $tg->file("$root/below/file-$root", '');
}
$tg->conf(body("$dir/one"), %option)->start;

# Checks whether a new client of this process is served; it stays.
my @clients;

sub is_served {
    my $client = $tg->connect;
    my $is = eval { $client->call_tool('both') };
    push @clients, $client if $is;
    return $is;
}

sub both {
    my ($client, $x) = @_;
    return text_of($client->call_tool(both => { x => $x }));
}

# The connection of the start's check may exist for a moment.
wait_for { is_served() && @clients == 3 } 'three to be served';
ok !is_served(), 'limit_conn: the fourth client of this process is refused';
my ($status, $out, $err) = $tg->cli('call', 'both', 'x=1');
is $status, 0, 'limit_conn: another process is served' or diag $err;
like $out, qr/^\Q$dir\E\/one\|$>:other\|1\|<1>$/, 'which is told apart';

is both($_, 1), "$dir/one|$>:test|1|<1>", 'set, and the arguments'
    for @clients;
is both($clients[0], 2), "$dir/one|$>:test|2|<2>", 'of the next call';
is text_of($clients[0]->call_tool('ls')), "file-one\n", 'set, for a program';

$tg->reload(body("$dir/two"), %option);
is both($_, 3), "$dir/two|$>:test|3|<3>", 'set again after a reload'
    for @clients;
is text_of($clients[1]->call_tool('ls')), "file-two\n", 'for a program too';
ok !is_served(), 'limit_conn: still no fourth client';
(pop @clients)->close;
ok wait_for(sub { is_served() }, 'a place'), 'but instead of one';

done_testing;
