#!/usr/bin/perl
# Two users on one socket: each sees and calls its own tools; for all others it
# gets "unknown tool".

use Toolgate::Test qw(User Way);

plan(skip_all => 'only root can connect as another user')
    if !Toolgate::User::is_possible();

my $nobody = getpwnam 'nobody';
my $nogroup = (getpwnam 'nobody')[3];
my $tg = Toolgate::Test->new;
my $n = 0;

# One line per tool: its rules, and whether root and nobody may call it.
my @tools = (
    [ '',                                    1, 1 ],
    [ 'allow uid=root; deny all;',           1, 0 ],
    [ 'deny uid=root;',                      0, 1 ],
    [ 'allow uid=0 uid=nobody; deny all;',   1, 1 ],
    [ "allow uid=$nobody; deny all;",        0, 1 ],
    [ 'deny all;',                           0, 0 ],
    [ 'allow all; deny all;',                1, 1 ],
    [ 'deny uid=nobody; allow all;',         1, 0 ],
    [ 'allow uid=daemon;',                   1, 1 ],
    [ 'allow gid=root; deny all;',           1, 0 ],
    [ "allow gid=$nogroup; deny all;",       0, 1 ],
    [ 'deny gid=0 uid=nobody;',              0, 0 ],
    [ 'deny uid=root; allow uid=root;',      0, 1 ],
    [ 'allow uid=root; deny uid=root all;',  1, 0 ],
);
my $conf = "tool_socket_mode 0666;\n";
for my $tool (@tools) {
    my $name = sprintf 't%02d', $n++;
    $conf .= "tool $name { $tool->[0] return \$tool_client_uid; }\n"
        . "method $name.m { $tool->[0] return \$tool_client_uid; }\n";
}
$conf .= 'tool run { allow uid=root; deny all; exec touch %%DIR%%/ran; }';
$tg->conf($conf)->start;

my %unknown = (
    legacy => -32602,
    modern => -32602,
    relay  => 'result',
    ipc    => 'ToolNotFoundError',
);

# Returns the error about a name, without the name.
sub said {
    my ($answer, $name) = @_;
    return $answer->{text} =~ s/\Q$name\E/NAME/gr;
}

sub is_right {
    my ($uid, $column, @ways) = @_;
    for my $way (@ways) {
        my $who = "uid $uid, " . $way->name;
        my (@seen, @called);
        my $none = $way->call('none');
        is Toolgate::Way::kind($none), $unknown{ $way->name }, "unknown, $who";
        for my $i (0 .. $#tools) {
            my $name = sprintf 't%02d', $i;
            my $answer = $way->call($name);
            if ($tools[$i][$column]) {
                is $answer->{text}, $uid, "$tools[$i][0] lets in, $who";
                push @called, $name;
                next;
            }
            is Toolgate::Way::kind($answer), $unknown{ $way->name },
                "$tools[$i][0] keeps out, $who";
            is said($answer, $name), said($none, 'none'),
                "as if it were not there, $who";
        }
        next if $way->name eq 'ipc';
        my $list = $way->list;
        push @called, 'run' if $uid == 0;
        is $list, "@called", "the list agrees with the calls, $who";
    }
}

# Methods are not listed, but unknown in the same way.
sub are_methods_right {
    my ($uid, $column, $c) = @_;
    my $none = $c->rpc('none.m')->{error};
    for my $i (0 .. $#tools) {
        my $name = sprintf 't%02d.m', $i;
        my $reply = $c->rpc($name);
        if ($tools[$i][$column]) {
            is $reply->{result}, $uid, "$tools[$i][0] lets in, uid $uid";
            next;
        }
        is $reply->{error}{code}, -32601, "$tools[$i][0] keeps out, uid $uid";
        is $reply->{error}{message} =~ s/\Q$name\E/none.m/gr, $none->{message},
            "as if it were not there, uid $uid";
    }
}

# Both at once, on permanent connections.
my @root = Toolgate::Way->all($tg);
my @other = Toolgate::User::as($nobody, [$nogroup],
    sub { Toolgate::Way->all($tg) });
is_right(0,       1, @root);
is_right($nobody, 2, @other);
are_methods_right(0, 1, $tg->connect);
are_methods_right($nobody, 2,
    Toolgate::User::as($nobody, [$nogroup], sub { $tg->connect }));

# Nothing ran, not even for a call without a response.
my $sly = Toolgate::User::as($nobody, [$nogroup], sub { $tg->connect });
$sly->notify('tools/call', { name => 'run', arguments => {} });
ok $_->call('run')->{is_error}, 'a program is out of reach, ' . $_->name
    for @other;
$sly->rpc('ping');
ok !-e $tg->dir . '/ran', 'and was not started';

# The kernel reports who connected, whoever has the descriptor later.
is $tg->connect->call_tool('t01')->{result}{content}[0]{text}, 0,
    'root may still';

# Changes of a reload apply to later connections.
$tg->reload('tool_socket_mode 0666; tool a { deny uid=root; return a; }'
        . 'tool b { deny uid=nobody; return b; }');
is(Toolgate::Way->new(legacy => $tg->connect)->list, 'b',
    'root after a reload');
is(Toolgate::User::as($nobody, [$nogroup],
        sub { Toolgate::Way->new(legacy => $tg->connect)->list }),
    'a', 'nobody after a reload');

# Bridges pass on the rules of the socket.
my $bridge = $tg->bridge;
$bridge->rpc('initialize', { protocolVersion => '2025-06-18' });
is $bridge->tool_names, 'b',
    'an agent of root is shown what root may call';
is $bridge->call_tool('a')->{error}{code}, -32602, 'and no more';

done_testing;
