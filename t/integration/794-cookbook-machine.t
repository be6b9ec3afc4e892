#!/usr/bin/perl
# Calls the cookbook's tools for a machine: their results are compared with the
# test's own view.

use Toolgate::Test qw(Cookbook);

use IO::Socket::INET;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
mkdir $_ or die "$_: $!\n" for "$dir/log", "$dir/log/web";
$tg->file('log/web/error.log',
    join '', map {"line $_, " . ($_ == 7 ? 'Wrong' : 'right') . "\n"} 1 .. 20);
$tg->file('secret', "the secret of others\n");

# Installed programs that are not running.
my %absent;
if (!-d '/run/systemd/system') {
    $absent{$_} = 'systemd does not run here'
        for qw(service_status list_services);
}
if ((run_command({}, 'sh', '-c', 'docker ps'))[0] != 0) {
    $absent{$_} = 'no docker runs here' for qw(list_containers container_logs);
}

my $cook = Toolgate::Cookbook->new($tg, 'cookbook-machine.conf',
    replace => [ [ '/var/log/$' => "$dir/log/\$" ] ],
    absent  => \%absent)->start;
sub call { return $cook->call(@_) }
my $refused = qr{^ERROR: /\S+: must match the pattern };

# --- logs and services

$cook->recipe(journal => sub {
    # There may be no journal, which is not the tool's error.
    my $text = call('journal', lines => 5, since => '-2h', priority => 'err');
    if ($text =~ /^ERROR/) {
        like $text, qr/journal/i, 'why there is none';
    } else {
        cmp_ok scalar(split /\n/, $text), '<=', 5, 'some lines';
    }
    call('journal', grep => 'toolgate never says this');
    unlike call('journal', unit => 'nobody.service'), qr/^ERROR: \/unit/,
        'of a service';
    like call('journal', unit => $_), $refused, "not $_" for '--flush', 'a b';
    like call('journal', priority => 'x'), qr/^ERROR: \/priority/, 'a word';
});
$cook->recipe(tail_log => sub {
    is call('tail_log', name => 'web/error.log', lines => 2),
        "line 19, right\nline 20, right\n", 'the last lines';
    like call('tail_log', name => $_), $refused, "not $_" for '../secret',
        "$dir/secret", 'web/../../secret', '-f', '';
    like call('tail_log', name => 'nowhere'), qr/^ERROR: .*nowhere/s,
        'what is not there';
});
$cook->recipe(search_log => sub {
    is call('search_log', name => 'web/error.log', pattern => 'wrong$',
        ignore_case => \1), "7:line 7, Wrong\n", 'what matches';
    is call('search_log', name => 'web/error.log', pattern => 'wrong$'), '',
        'nothing is no error';
    is call('search_log', name => 'web/error.log', pattern => '--help'), '',
        'no option';
    like call('search_log', name => '../secret', pattern => 'x'), $refused,
        'in its folder';
});
$cook->recipe(service_status => sub {
    like call('service_status', unit => 'init.scope', lines => 0),
        qr/^\s+Active: active/m, 'it runs';
    like call('service_status', unit => 'nobody.service'),
        qr/^ERROR: .*status 4/s, 'there is none';
});
$cook->recipe(list_services => sub {
    unlike call('list_services'), qr/^ERROR/, 'those that run';
    unlike call('list_services', failed => \1), qr/^ERROR/, 'or have failed';
});

# --- containers

$cook->recipe(list_containers => sub {
    unlike call('list_containers', all => \1), qr/^ERROR/, 'containers';
});
$cook->recipe(container_logs => sub {
    like call('container_logs', name => 'nobody-has-this-name'),
        qr/^ERROR: .*nobody-has-this-name/s, 'there is none';
    like call('container_logs', name => '--help'), $refused, 'no option';
});

# --- disks, processes, network

$cook->recipe(disk_free => sub {
    like call('disk_free'), qr/^Filesystem /, 'file systems';
});
$cook->recipe(disk_usage => sub {
    like call('disk_usage', path => '/opt', depth => 0), qr{^\S+\s+/opt$}m,
        'how much';
    like call('disk_usage', path => '/etc'), qr/^ERROR: \/path/, 'no other';
});
$cook->recipe(processes => sub {
    my $text = call('processes', by => 'etimes');
    like $text, qr/^\s*PID USER .* COMMAND$/m, 'processes';
    # All of them, of which a part is shown.
    my ($key) = $text =~ /"output":"(\w+)"/;
    my $runner = $tg->runner_pid;
    $text = $tg->connect->call_tool('toolgate_output', { output => $key,
        pattern => "^ *$runner " })->{result}{content}[0]{text} if $key;
    like $text, qr/^(?:\d+:)? *$runner .*toolgate-runner/m, 'ours among them';
});
$cook->recipe(load => sub {
    call('load');
    my $load = $cook->result->{structuredContent}{load};
    is scalar(grep {/^[\d.]+$/} @$load), 3, 'three numbers';
});
$cook->recipe(memory_free => sub {
    like call('memory_free'), qr/^Mem:/m, 'memory';
});
$cook->recipe(listening => sub {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
        or die "listen: $!\n";
    my $port = $socket->sockport;
    like call('listening'), qr/ 127\.0\.0\.1:$port /, 'a port of ours';
    unlike call('listening', kind => 'udp'), qr/ 127\.0\.0\.1:$port /, 'of TCP';
});
$cook->recipe(resolve_host => sub {
    like call('resolve_host', host => 'localhost'), qr/^(?:127\.|::1)/,
        'addresses';
    like call('resolve_host', host => '-s'), $refused, 'no option';
});

cmp_ok $cook->is_done, '>=', 13, 'there are many';

done_testing;
