#!/usr/bin/perl
# A program without free descriptors: failures have a reason and leave nothing,
# and everything works when there are some again.

use Toolgate::Test qw(Host);
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);

my $tg = Toolgate::Test->new;

sub text { return $_[0]{result}{content}[0]{text} }

# Sets the limit of descriptors.
sub limit {
    my ($host, $n) = @_;
    my ($status, $out, $err) = run_command({}, 'prlimit', '--pid', $host->pid,
        "--nofile=$n:4096");
    is $status, 0, "$n descriptors" or diag $err;
}

# Returns the first free number: below it, none can be opened.
sub first_free {
    my ($host) = @_;
    my $pid = $host->pid;
    my $n = 0;
    $n++ while -l "/proc/$pid/fd/$n";
    return $n;
}

# Repeats with one more descriptor each time until it works. Returns the number
# of failures.
sub until_it_does {
    my ($host, $command, $error) = @_;
    my $before = $host->holds;
    my $first = first_free($host);
    for my $n (0 .. 30) {
        limit($host, $first + $n);
        $host->send_raw("$command\n");
        my $answer = $host->answer;
        return $n if $answer eq '= ok';
        like $answer, $error, "$command: why it fails";
        is_deeply $host->holds($before), $before, 'it holds what it did';
        is_deeply [ $host->files ], [], 'and leaves no file';
    }
    return;
}

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind,
        env => $tg->san_env('detect_leaks=0'));
    # Descriptors of the first loop of a process, which libuv keeps.
    $host->do('cycles 1');
    ok until_it_does($host, 'start', qr/^! OSError .*[Tt]oo many open files/),
        "$kind: a start that has none";

    # --- no descriptor for a client --------
    limit($host, 4096);
    my $client = $host->connect_to;
    is text($client->call_tool('echo', { text => 'a' })), 'a', 'it serves';
    my $child = $host->do('fork stay');
    limit($host, first_free($host));
    my @more = map { $host->connect_to } 1 .. 3;
    is text($client->call_tool('echo', { text => 'b' })), 'b',
        'without any, who is there is served on';
    my $kept = $host->do('fork stay');
    limit($host, 4096);
    is text($host->connect_to->call_tool('echo', { text => 'c' })), 'c',
        'with some, others are, too';
    undef @more;

    # --- no descriptor for a child --------
    my $pid = $host->pid;
    kill KILL => $pid or die "kill: $!\n";
    ok $client->at_eof, 'children hold no connection, though they had none';
    $host->wait_exit;
    my ($socket) = glob $host->run_dir . '/*.sock';
    ok !IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $socket),
        'nor the listener';
    kill KILL => $child, $kept;
    unlink glob $host->run_dir . '/*';
}

# --- the other end ---

my $server = Toolgate::Host->start($tg, 'thread');
$server->do('start');
for my $kind (qw(thread fd)) {
    my $host = Toolgate::Host->start($tg, $kind);
    $host->do('cycles 1');
    $host->do('client new ' . $server->socket_path . ' grace=600s');
    my $before = $host->holds;
    my $first = first_free($host);
    my $fine;
    for my $n (0 .. 30) {
        limit($host, $first + $n);
        $host->send_raw("client open\n");
        my $answer = $host->answer;
        last if $fine = $answer eq '= ok';
        like $answer, qr/^! \w+Error /, "$kind: a client that cannot open";
        is_deeply $host->holds($before), $before, 'holds what it did';
    }
    ok $fine, 'with some it opens';
    $host->event(qr/^connected/);

    # It has none to reconnect with, for a while.
    $server->do('stop');
    $host->event(qr/^lost/);
    limit($host, first_free($host));
    $host->do('client begin call echo {"text":"back"}');
    $server->do('start');
    limit($host, 4096);
    like $host->event(qr/^answered 0 /), qr/"back"/, 'it comes back with some';
    $host->do('client free');
    is_deeply $host->holds($before), $before, 'nothing is left';
    $host->stop;
}
$server->stop;

done_testing;
