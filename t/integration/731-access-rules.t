#!/usr/bin/perl
# Rules of a tool, its server and stream: their order; groups, also
# supplementary ones.

use Toolgate::Test qw(User Way);

my $tg = Toolgate::Test->new;
my $user = getpwuid $>;
my $group = getgrgid((split ' ', $))[0]);
my @others = (
    grep({ $_ ne $user } qw(nobody daemon)),
    grep({ $_ ne $group } qw(daemon adm)),
);
my ($not_user, $not_group) = @others[ 0, -1 ];

# Rules of stream, of a server, of a tool, and whether the owner may call it.
my @cases = (
    [ '', '', '', 1 ],
    [ '', 'tool_deny all;', '', 0 ],
    [ 'tool_deny all;', '', '', 0 ],
    [ 'tool_deny all;', 'tool_allow all;', '', 1 ],
    [ 'tool_allow all;', 'tool_deny all;', '', 0 ],

    # A server with rules does not inherit those of stream.
    [ 'tool_deny all;', "tool_allow uid=$not_user;", '', 1 ],
    [ 'tool_deny all;', "tool_deny uid=$not_user;", '', 1 ],

    # A tool's come first; if none matches, the server's.
    [ '', 'tool_deny all;', "allow uid=$user;", 1 ],
    [ '', 'tool_deny all;', "allow uid=$not_user;", 0 ],
    [ '', 'tool_deny all;', "deny uid=$not_user;", 0 ],
    [ '', "tool_allow uid=$user; tool_deny all;", "deny uid=$not_user;", 1 ],
    [ '', "tool_allow uid=$user;", "deny uid=$user;", 0 ],
    [ '', 'tool_allow all;', 'deny all;', 0 ],
    [ '', 'tool_deny all;', 'allow all;', 1 ],
    [ 'tool_deny all;', '', "allow uid=$user;", 1 ],
    [ 'tool_deny all;', '', "allow uid=$not_user;", 0 ],

    # Names, numbers, groups; several in a line are tried in order.
    [ '', '', "allow uid=$>; deny all;", 1 ],
    [ '', '', "allow gid=$group; deny all;", 1 ],
    [ '', '', "allow gid=" . (0 + (split ' ', $))[0]) . '; deny all;', 1 ],
    [ '', '', "allow gid=$not_group; deny all;", 0 ],
    [ '', '', "deny gid=$not_group uid=$not_user;", 1 ],
    [ '', '', "allow uid=$not_user gid=$group; deny all;", 1 ],
    [ '', "tool_deny uid=$not_user all;", '', 0 ],
    [ '', "tool_allow uid=$not_user uid=$user; tool_deny all;", '', 1 ],
    [ '', '', 'deny uid=4294967294;', 1 ],

    # Rules for clients of mcp_pass match no client of a socket.
    [ '', '', "allow user=$user scope=a; deny all;", 0 ],
    [ '', '', "deny user=$user 'scope=a b';", 1 ],
    [ '', 'tool_deny all;', "deny user=$user; allow uid=$user;", 1 ],
    [ '', 'tool_deny all;', "allow user=$user;", 0 ],
);

my %stream;
push @{ $stream{ $_->[0] } }, $_ for @cases;
my $round = 0;
for my $stream (sort keys %stream) {
    my $conf = '';
    my $n = 0;
    for my $case (@{ $stream{$stream} }) {
        $conf .= 'server { listen unix:%%DIR%%/' . $n++ . ".sock;\n"
            . "$case->[1]\ntool a { $case->[2] return a; } }\n";
    }
    $tg->conf($conf, server => 0, stream => $stream);
    my $first = $tg->dir . '/0.sock';
    $tg->start(socket => $first) if !$round++;
    $tg->reload if $round > 1;
    $n = 0;
    for my $case (@{ $stream{$stream} }) {
        my (undef, $server, $tool, $may) = @$case;
        my $name = join ' | ', $stream, $server, $tool;
        my $way = Toolgate::Way->new(legacy =>
                $tg->connect($tg->dir . '/' . $n++ . '.sock'));
        is $way->list, $may ? 'a' : '', "$name: seen";
        is $way->call('a')->{is_error}, 1 - $may, "$name: called";
    }
}

SKIP: {
    skip 'only root can connect as another user', 1
        if !Toolgate::User::is_possible();
    my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
    my %gid = map { $_ => scalar getgrnam $_ } qw(adm daemon);
    $tg->reload(<<'END');
tool_socket_mode 0666;
tool adm    { allow gid=adm; deny all; return 1; }
tool daemon { allow gid=daemon; deny all; return 1; }
tool both   { deny gid=adm; allow gid=daemon; deny all; return 1; }
tool own    { allow gid=nogroup; deny all; return 1; }
END
    for my $case (
        [ [$gid],                            'own' ],
        [ [ $gid, $gid{adm} ],               'adm own' ],
        [ [ $gid, $gid{daemon} ],            'daemon both own' ],
        [ [ $gid, @gid{qw(adm daemon)} ],    'adm daemon own' ],
        [ [ $gid{daemon}, $gid ],            'daemon both own' ],
        [ [ $gid{daemon} ],                  'daemon both' ],
        [ [ $gid, 10_000 .. 10_400, $gid{adm} ], 'adm own' ],
        )
    {
        my ($gids, $expected) = @$case;
        my @ways = Toolgate::User::as($uid, $gids, sub {
            map { Toolgate::Way->new($_, $tg->connect) } qw(legacy relay);
        });
        my $name = @$gids > 9 ? @$gids . ' groups' : "groups @$gids";
        is $_->list, $expected, "$name, " . $_->name for @ways;
        for my $tool (qw(adm daemon both own)) {
            is $ways[0]->call($tool)->{is_error} ? 0 : 1,
                $expected =~ /\b$tool\b/ ? 1 : 0, "$name: $tool";
        }
    }
}

done_testing;
