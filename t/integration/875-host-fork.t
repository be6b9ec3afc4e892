#!/usr/bin/perl
# Child processes of a program with a server have nothing of it.

use Toolgate::Test qw(Host);
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOCK_STREAM);

my $tg = Toolgate::Test->new;

sub text { return $_[0]{result}{content}[0]{text} }

# Returns a FIFO that blocks neither reader nor writer.
sub fifo {
    my ($name) = @_;
    my $path = $tg->dir . "/$name";
    POSIX::mkfifo($path, 0600) or die "$path: $!\n";
    open my $fh, '+<', $path or die "$path: $!\n";
    return { path => $path, fh => $fh };
}

for my $kind (@Toolgate::Host::KINDS) {
    # In a child, the leak check would complain about missing threads.
    my $host = Toolgate::Host->start($tg, $kind,
        env => $tg->san_env('detect_leaks=0'));
    $host->do('start');
    my $client = $host->connect_to;
    is text($client->call_tool('echo', { text => 'a' })), 'a', "$kind: serves";

    for my $end (qw(exit free)) {
        my $child = $host->do("fork $end");
        is $host->event(qr/^child $child /), "child $child 0",
            "a child that calls $end ends well";
        ok -S $host->socket_path, 'the socket is there';
        ok -e $host->do('schema'), 'so is the schema file';
        is text($client->call_tool('echo', { text => $end })), $end,
            'the client is served on';
    }

    # A child has a copy of a call, and of a link: neither can be used there.
    $host->do('tool held');
    $host->do('link 0 open');
    my $held = $client->request('tools/call', { name => 'held' });
    $host->event(qr/^held/);
    my $answerer = $host->do('fork answer');
    is $host->event(qr/^child $answerer /), "child $answerer 0",
        'reply, fail, progress and send are errors in a child, which says so';
    $host->do('answer parent');
    is text($client->reply($held)), 'parent', 'the parent answers';
    $host->do('link 0 {"jsonrpc":"2.0","id":1,"method":"ping"}');
    like $host->event(qr/^link 0 /), qr/"id":1/, 'its link works';
    $host->do('link 0 close');

    # A client at pipes instead of a socket.
    my @pipes = map { fifo("$kind.$_") } qw(in out more err);
    $host->do('serve ' . join ' ', map { $_->{path} } @pipes[ 0, 1 ]);
    $host->do('serve ' . join ' ', map({ $_->{path} } @pipes[ 2, 3 ]),
        'stderr');
    my @piped = map {
        Toolgate::Client->over($pipes[ $_ + 1 ]{fh}, $pipes[$_]{fh}, "pipe $_")
    } 0, 2;
    is text($_->call_tool('echo', { text => 'p' })), 'p', 'two pipes'
        for @piped;

    # A remaining child keeps no client's connection open.
    my $child = $host->do('fork stay');
    my $pid = $host->pid;
    is text($host->connect_to->call_tool('echo', { text => 'b' })), 'b',
        'with a child that stays it serves as before';
    ok wait_for(sub {
            my %parent = map { readlink($_) // '' => 1 } glob "/proc/$pid/fd/*";
            return !grep { $parent{$_} && /^socket:/ }
                map { readlink($_) // '' } glob "/proc/$child/fd/*";
        }, 'the child'), 'which has none of its sockets';
    my %is_ours = map { $_->{path} => 1 } @pipes;
    ok wait_for(sub {
            return !grep { $is_ours{$_} }
                map { readlink($_) // '' } glob "/proc/$child/fd/*";
        }, 'the child'), 'nor an end of a pipe';
    is readlink("/proc/$child/fd/2"), '/dev/null',
        'and standard error is /dev/null';
    is text($_->call_tool('echo', { text => 'q' })), 'q',
        'who is at pipes is served on'
        for @piped;
    kill KILL => $pid or die "kill: $!\n";
    ok $client->at_eof, 'when the program is killed, its client notices';
    $host->wait_exit;
    my ($socket) = glob $host->run_dir . '/*.sock';
    ok !IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $socket),
        'and no other process can connect';
    kill KILL => $child;
    unlink glob $host->run_dir . '/*';
}

done_testing;
