#!/usr/bin/perl
# Remains of a killed host in the temporary folder are removed by the same
# user's next start, and nothing else.

use Toolgate::Test qw(Host);

my $tg = Toolgate::Test->new;
my $temp = $tg->dir . '/temp';
mkdir $temp, 0700 or die "$temp: $!\n";
my @env = (env => $tg->san_env('detect_leaks=0'));
$env[1] = { %{ $env[1] // {} }, XDG_RUNTIME_DIR => undef, TMPDIR => $temp };

sub dirs { return sort glob "$temp/toolgate-*" }
sub host {
    my $host = Toolgate::Host->start($tg, 'thread', @env);
    $host->do('start');
    return $host;
}

my $lives = host();
my ($its) = dirs();
my $killed = host();
my ($left) = grep { $_ ne $its } dirs();
ok -d $left, 'a host has a directory of its own';
kill KILL => $killed->pid;
$killed->wait_exit;
ok -S (glob "$left/*.sock")[0], 'one that is killed leaves its socket';

# Similar files.
my %other = (
    'a file of somebody' => 'toolgate-0123456789ab',
    'a name that is longer' => 'toolgate-0123456789abc',
    'another name' => 'toolgate-0123456789xy',
    'one that others may enter' => 'toolgate-111111111111',
    'a young one without a socket' => 'toolgate-222222222222',
);
for my $name (values %other) {
    mkdir "$temp/$name", 0700 or die $!;
    $tg->file("temp/$name/kept", '') if $name =~ /0123/;
}
chmod 0755, "$temp/$other{'one that others may enter'}";
# An old one without a socket, as of a host with another transport.
my $old = "$temp/toolgate-333333333333";
mkdir $old, 0700 or die $!;
$tg->file('temp/toolgate-333333333333/claudecode_ipc_schema_x.json', '');
utime 1, 1, $old;
# A link to another place.
my $elsewhere = $tg->dir . '/elsewhere';
mkdir $elsewhere, 0700 or die $!;
$tg->file('elsewhere/claudecode_ipc_schema_x.json', '');
utime 1, 1, $elsewhere;
symlink $elsewhere, "$temp/toolgate-444444444444" or die $!;

my $next = host();
ok !-e $left, 'the next start removes it';
ok !-e $old, 'and what is old and has no socket';
ok -d $its && -S (glob "$its/*.sock")[0], 'not that of one that lives';
ok -d "$temp/$other{$_}", "nor $_" for sort keys %other;
ok -e "$elsewhere/claudecode_ipc_schema_x.json", 'nor what a link leads to';
is $lives->connect_to->call_tool('echo', { text => 'a' })
    ->{result}{content}[0]{text}, 'a', 'the other one serves on';
$_->stop for $lives, $next;
ok !-e $its, 'at its end it removes its own';

done_testing;
