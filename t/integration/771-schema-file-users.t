#!/usr/bin/perl
# A schema file contains what the socket's owner may call, and belongs to this
# owner.

use Toolgate::Test qw(User Way);

my $tg = Toolgate::Test->new;
my $path = $tg->dir . '/tools.json';

sub names {
    my $list = Toolgate::Client->decode(slurp($path));
    return join ' ', map { $_->{name} } @$list;
}

my $user = getpwuid $>;
my $tools = <<"END";
tool_schema_file %%DIR%%/tools.json;
tool all   { return hi; }
tool never { deny all; return hi; }
tool owner { allow uid=$user; deny all; return hi; }
END
$tg->conf($tools)->start;
is names(), 'all owner', 'what its owner may call';
is(Toolgate::Way->new(legacy => $tg->connect)->list, names(),
    'is what its owner is shown');
$tg->reload("tool_deny all;\n$tools");
is names(), 'owner', 'the rules of the server count, too';

SKIP: {
    skip 'only root can give a socket away', 1
        if !Toolgate::User::is_possible();
    my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
    $tools = <<'END';
tool_schema_file %%DIR%%/tools.json;
tool all    { return hi; }
tool root   { allow uid=root; deny all; return hi; }
tool nobody { allow uid=nobody; deny all; return hi; }
tool group  { allow gid=nogroup; deny all; return hi; }
tool daemon { allow gid=daemon; deny all; return hi; }
END
    for my $case (
        [ 'nobody',        [ $uid, $gid ], 'all nobody group' ],
        [ 'nobody:daemon', [ $uid, scalar getgrnam 'daemon' ],
            'all nobody group' ],
        [ 'root', [ 0, 0 ], 'all root' ],
        )
    {
        my ($owner, $ids, $expected) = @$case;
        $tg->reload("tool_socket_owner $owner;\n$tools");
        is names(), $expected, "$owner: the tools";
        is mode_of($path), join(' ', '0600', @$ids), "$owner: the file";
        next if $owner eq 'root';
        my ($list, $text) = Toolgate::User::as($uid, [$gid], sub {
            return (Toolgate::Way->new(legacy => $tg->connect)->list,
                slurp($path));
        });
        is $list, $expected, "$owner: what that user is shown";
        ok length $text, "$owner: it can read the file";
    }

    # The owner of nginx.conf, as for the socket.
    $tg->conf($tools);
    chown $uid, $gid, $tg->dir . '/nginx.conf' or die "chown: $!";
    $tg->stop;
    $tg->start;
    is mode_of($path), "0600 $uid $gid", 'the owner of nginx.conf';
    is names(), 'all nobody group', 'and its tools';
}

done_testing;
