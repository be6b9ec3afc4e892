#!/usr/bin/perl
# Where the bridge and the command line search for a socket, and their errors if
# there is none, nobody listens, or it is another user's: the advice fits the
# installation.

use Toolgate::Test qw(Parent);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $build = Toolgate::Test::build_dir();
my $machine = '/run/toolgate/tools.sock';
mkdir "$dir/$_" or die "$_: $!\n" for qw(runtime home closed);
my %bare = (
    TOOLGATE_SOCKET   => undef,
    AC7_RUNNER_SOCKET => undef,
    XDG_CONFIG_HOME   => undef,
    XDG_RUNTIME_DIR   => "$dir/runtime",
    HOME              => "$dir/home",
);

# Returns the bridge's error to an agent whose call cannot be passed on.
sub bridge_says {
    my ($args, $env) = @_;
    my $bridge = $tg->bridge([ '--grace=1', @$args ], { %bare, %$env });
    my $text = $bridge->rpc('tools/call', { name => 'x' })->{error}{message};
    $bridge->stop;
    return $text;
}

sub cli_says {
    my ($args, $env) = @_;
    my ($status, $out, $err) =
        $tg->cli({ env => { %bare, %$env } }, 'ping', @$args);
    is $status, 2, 'the command line: status';
    return $err;
}

# --- places --------------------------------------------------------------

my $users = "$dir/runtime/toolgate.sock";
my $parent = Toolgate::Parent->new($users);
my $bridge = $tg->bridge([], \%bare);
my $conn = $parent->serve(Toolgate::Parent::tool('one'));
is $bridge->rpc('tools/list')->{result}{tools}[0]{name}, 'one',
    'a bridge without any word finds the socket of its user';
$bridge->stop;
$parent->close;

# Started too early: with an address it waits, without one it exits.
SKIP: {
    skip "there is a $machine here", 13 if -e $machine;
    my $early = $tg->bridge([], { %bare, TOOLGATE_SOCKET => $users });
    like $early->rpc('initialize', {
            protocolVersion => '2025-06-18',
            capabilities    => {},
            clientInfo      => { name => 'a', version => '1' },
        })->{result}{serverInfo}{name}, qr/toolgate/, 'a bridge before it';
    like $early->rpc('tools/list')->{error}{message}, qr/is not running/,
        'says what is missing';
    $parent = Toolgate::Parent->new($users);
    $conn = $parent->serve(Toolgate::Parent::tool('later'));
    is $early->rpc('tools/list')->{result}{tools}[0]{name}, 'later',
        'and finds one that comes to be there';
    $early->stop;
    $parent->close;
    my $neither = qr{no socket given\..*TOOLGATE_SOCKET.*nor \Q$machine\E};
    for my $case ([], [ '--grace', 9 ], [ '--dialect', 'relay' ], ['']) {
        my ($status, $out, $err) = run_command({ env => {%bare} },
            $tg->bridge_path, @$case);
        is "$status$out", 2, "bridge @$case: exits, with nothing for the agent";
        like $err, $neither, 'and says what is missing';
    }
    like cli_says([], {}), $neither, 'neither';
}

# --- missing and unused sockets ------------------------------------------

my $none = "$dir/none.sock";
my $listen = qr/Start NGINX with the configuration that has `listen unix:/;
like bridge_says([$none], {}),
    qr/there is no socket \Q$none\E\. $listen\Q$none/, 'no such file';
like cli_says([ '-s', $none ], {}),
    qr/nothing listens on \Q$none\E.* There is no such file\. $listen/,
    'no such file';
like cli_says([ '-s', 'none.sock' ], {}), qr{$listen/.*/none\.sock;`},
    'a relative path, which NGINX does not take';
my $left = "$dir/left.sock";
Toolgate::Parent->new($left)->close(stale => 1);
like bridge_says([$left], {}),
    qr/no process listens on the socket \Q$left\E\. $listen\Q$left/, 'refused';
like cli_says([ '-s', $left ], {}), qr/left behind.* $listen/, 'refused';
my $gone = 'tls:127.0.0.1:1';
like bridge_says([$gone], {}),
    qr/no process listens on \Q$gone\E\. Start NGINX there/,
    'refused, over TLS';

# --- installed programs --------------------------------------------------

my $unit = "$dir/home/.config/systemd/user";
mkdir $_ or die "$_: $!\n" for "$dir/home/.config",
    "$dir/home/.config/systemd", $unit;
$tg->file('home/.config/systemd/user/toolgate.service', "[Service]\n");
my $service = qr/Start it with `systemctl --user start toolgate`/;
like bridge_says([$none], {}), $service, 'as a service of the user';
like cli_says([ '-s', $none ], { HOME => undef,
    XDG_CONFIG_HOME => "$dir/home/.config" }),
    $service, 'the socket of the service';

# The server of a checkout is started in the checkout.
SKIP: {
    my $run = "$build/run/tools.sock";
    skip 'it runs, or is built elsewhere', 2
        if -e $run || !-e "$build/../build.sh";
    my $top = Toolgate::Test::top();
    like bridge_says([$run], {}),
        qr{Start it with \./build\.sh run in \Q$top\E\.}, 'in a checkout';
    like cli_says([ '-s', $run ], {}), qr{\./build\.sh run in \Q$top\E\.},
        'in a checkout';
}

# --- another user's socket -----------------------------------------------

# Root may connect to everything: another user tries.
my @as = $> ? () : ('/usr/bin/perl', '-e', '$( = $) = "65534 65534"; '
        . '$< = $> = 65534; exec @ARGV or exit 77');
my ($can) = run_command({}, @as, "$build/toolgate-bridge", '--version');
SKIP: {
    skip 'another user cannot run this build', 6 if $can != 0;
    chmod 0755, $dir;
    my $mine = "$dir/mine.sock";
    $parent = Toolgate::Parent->new($mine);
    chmod $> ? 0 : 0600, $mine;
    my $owner = getpwuid $>;
    my $mode = $> ? '00' : '0600';
    my $rights = qr/It belongs to $owner:\S+ and has mode $mode; /;
    my $other = $tg->spawn({ env => {%bare} }, @as, "$build/toolgate-bridge",
        '--grace=1', $mine);
    like $other->rpc('tools/call', { name => 'x' })->{error}{message},
        qr/no permission for the socket \Q$mine\E\. $rights/, 'not yours';
    $other->stop;
    my ($status, $out, $err) = run_command({ env => {%bare} }, @as,
        "$build/toolgate", 'ping', '-s', $mine);
    is $status, 2, 'the command line: status';
    like $err, qr/you may not connect to \Q$mine\E\. $rights/, 'not yours';
    $parent->close;

    chmod 0, "$dir/closed";
    ($status, $out, $err) = run_command({ env => {%bare} }, @as,
        "$build/toolgate", 'ping', '-s', "$dir/closed/a.sock");
    is $status, 2, 'in a folder of others: status';
    like $err,
        qr/You have no permission to enter the folder \Q$dir\E\/closed\./,
        'which one';
    chmod 0755, "$dir/closed";
}

done_testing;
