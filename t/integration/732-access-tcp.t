#!/usr/bin/perl
# TCP clients have no user: rules about users reject them, `all` includes them.

use Toolgate::Test qw(Tls Way);

my $tg = Toolgate::Test->new;
my $user = getpwuid $>;

my %tool = (
    open   => '',
    users  => "allow uid=$user; deny all;",
    others => 'deny uid=4294967294;',
    groups => 'deny gid=4294967294; allow all;',
    nobody => 'deny all;',
    every  => 'allow all;',
    first  => "allow all; allow uid=$user; deny all;",
);
my $tools = join "\n", map {"tool $_ { $tool{$_} return hi; }"} sort keys %tool;

my $port;
start_on_ports $tg, sub {
    $port = free_port();
    return "listen 127.0.0.1:$port;\nlisten unix:%%SOCKET%%;\n$tools";
};

sub over_tcp {
    my $socket = IO::Socket::INET->new("127.0.0.1:$port") or die "$port: $!\n";
    return Toolgate::Client->over($socket, $socket, 'tcp');
}

my @seen = qw(every first open);
for my $name (@Toolgate::Way::ALL) {
    my $way = Toolgate::Way->new($name, over_tcp());
    is $way->list, "@seen", "what they see, $name" if $name ne 'ipc';
    for my $tool (sort keys %tool) {
        is $way->call($tool)->{is_error} ? 0 : 1,
            (grep { $_ eq $tool } @seen) ? 1 : 0, "$tool, $name";
    }
}
is(Toolgate::Way->new(legacy => $tg->connect)->list,
    'every first groups open others users',
    'over the socket the same have one');

# The server's rules.
for my $case (
    [ "tool_allow uid=$user; tool_deny all;", 'every first' ],
    [ 'tool_deny uid=nobody;',                'every first' ],
    [ 'tool_allow all;',                      'every first open' ],
    )
{
    my ($rules, $expected) = @$case;
    $tg->reload(
        "listen 127.0.0.1:$port;\nlisten unix:%%SOCKET%%;\n$rules\n$tools");
    is(Toolgate::Way->new(relay => over_tcp())->list, $expected,
        "$rules over TCP");
}

done_testing;
