#!/usr/bin/perl
# Clients without the socket: the transport "sdk", whose messages the program
# carries, and clients at descriptors.

use Toolgate::Test qw(Host);
use IO::Socket::UNIX;
use JSON::PP qw(decode_json);
use POSIX ();
use Socket qw(SOCK_STREAM);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;

# Returns the next message to a link, as JSON.
sub told {
    my ($host, $link) = @_;
    return decode_json($host->event(qr/^link $link /) =~ s/^link $link //r);
}

sub call {
    my ($id, $name, $arguments) = @_;
    return Toolgate::Client->encode({
        jsonrpc => '2.0', id => $id, method => 'tools/call',
        params  => { name => $name, arguments => $arguments // {} },
    });
}

sub text { return $_[0]{result}{content}[0]{text} }

for my $kind (@Toolgate::Host::KINDS) {
    my $host = Toolgate::Host->start($tg, $kind, transport => 'sdk');
    is_deeply decode_json($host->do('config')), {
        mcpServers =>
            { transcripts => { type => 'sdk', name => 'transcripts' } },
        },
        "$kind: the description of the server";
    like $host->fails('socket'), qr/"sdk" has no files/, 'there is no socket';
    like $host->fails('link 1 open'), qr/not started/, 'and nobody yet';
    is $host->do('start'), 'ok', 'it starts';
    is_deeply [ $host->files ], [], 'without any file';
    like $host->fails('check 1000'), qr/^RuntimeError .*no bridge/,
        'nor a bridge';

    # --- links ---
    is $host->do('link 1 open'), 'ok', 'a link';
    is $host->do('link 2 open'), 'ok', 'and another';
    wait_for { $host->do('clients') == 2 } 'each to be a client';
    $host->do('link 1 ' . Toolgate::Client->encode({
        jsonrpc => '2.0', id => 0, method => 'initialize',
        params  => {
            protocolVersion => '2025-11-25', capabilities => {},
            clientInfo      => { name => 'x', version => '1' },
        },
    }));
    is told($host, 1)->{result}{serverInfo}{name}, 'transcripts',
        'it greets';
    $host->do('link 1 {"jsonrpc":"2.0","method":"notifications/initialized"}');
    $host->do('link 1 ' . call(1, 'echo', { text => "one\ntwo" }));
    is text(told($host, 1)), "one\ntwo", 'a call';
    $host->do('link 2 ' . call(1, 'fail'));
    ok told($host, 2)->{result}{isError}, 'each link has its own answers';
    $host->do('link 1 {"jsonrpc"');
    is told($host, 1)->{error}{code}, -32700, 'invalid JSON gets the error';
    $host->do('tool later');
    is told($host, 1)->{method}, 'notifications/tools/list_changed',
        'clients are notified of another list';
    $host->do('link 1 ' . call(2, 'later'));
    is text(told($host, 1)), 'from a thread', 'a call that takes its time';
    $host->do('notify event.done {"a":1}');
    is_deeply told($host, 1)->{params}, { a => 1 }, 'a notification';
    $host->do('tool ten');
    is told($host, 1)->{method}, 'notifications/tools/list_changed',
        'one more tool';
    $host->do('link 1 ' . call(3, 'ten'));
    like $host->event(qr/^link 1 /), qr/"text":"x{9}/, 'ten megabytes';
    $host->do('link 2 ' . call(2, 'hang'));
    $host->event(qr/^hangs/);
    is $host->do('link 2 close'), 'ok', 'a link that closes';
    $host->event(qr/^cancelled/);
    pass 'takes its calls along';
    $host->do('link 1 ' . call(4, 'json'));
    is told($host, 1)->{id}, 4, 'and no others';

    # --- the server closes first ---
    $host->do('link 1 ' . call(5, 'hang'));
    $host->event(qr/^hangs/);
    $host->do('stop');
    like text(told($host, 1)), qr/^hang: the server was stopped/,
        'a stop ends its calls';
    like $host->fails('link 1 ' . call(6, 'json')),
        qr/^IPCConnectionError .*stopped/, 'and the link';
    is $host->do('link 1 close'), 'ok', 'which is closed as ever';
    $host->do('start');
    $host->do("link $_ open") for 3 .. 9;
    $host->do('link 3 ' . call(1, 'json'));
    is told($host, 3)->{id}, 1, 'the next start has others';
    $host->do('free');
    is $host->do("link $_ close"), 'ok', 'a link outlives its server'
        for 3 .. 9;
    $host->stop;

    # --- descriptors ---
    $host = Toolgate::Host->start($tg, $kind);
    my $path = "$dir/$kind.sock";
    my $listener = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $path,
        Listen => 1) or die "$path: $!\n";
    like $host->fails("serve $path"), qr/not started/,
        'no client is served yet';
    $listener->accept or die "accept: $!\n";
    $host->do('start');
    is $host->do("serve $path"), 'ok', 'a socket of the program\'s own';
    my $socket = $listener->accept or die "accept: $!\n";
    my $client = Toolgate::Client->over($socket, $socket, 'served');
    is text($client->call_tool('echo', { text => 'hi' })), 'hi', 'is served';
    my @fifos = map {"$dir/$kind.$_"} qw(in out);
    POSIX::mkfifo($_, 0600) or die "$_: $!\n" for @fifos;
    open my $out, '+<', $fifos[0] or die "$fifos[0]: $!\n";
    open my $in,  '+<', $fifos[1] or die "$fifos[1]: $!\n";
    is $host->do("serve @fifos"), 'ok', 'two pipes';
    my $piped = Toolgate::Client->over($in, $out, 'piped');
    is text($piped->call_tool('echo', { text => 'ho' })), 'ho', 'are served';
    $client->request('tools/call', { name => 'hang' });
    $host->event(qr/^hangs/);
    $client->close;
    close $socket;
    $host->event(qr/^cancelled/);
    pass 'the end of one is noticed';
    is text($piped->call_tool('echo', { text => 'on' })), 'on',
        'the other clients are not affected';
    like $host->fails('serve /nowhere/in /nowhere/out'),
        qr/^OSError cannot serve descriptors -1 and -1/,
        'descriptors that are none';
    $host->stop;
}

done_testing;
