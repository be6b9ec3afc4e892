#!/usr/bin/perl
# A client in Node.js through the socket, docs/examples/client.mjs: of
# NGINX and of a program that has libtoolgate; all that it exports, and by
# hand.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $top = Toolgate::Test::top();
my $example = "$top/docs/examples/client.mjs";
$tg->file('steps', <<'END', 0755);
#!/bin/sh
echo '{"progress":1,"message":"one"}' >&3
echo done
END
$tg->conf(join(' ', map {"tool t$_ { description 't'; return $_; }"} 1 .. 40)
    . <<"END")->start;
tool_max_frame 16m;
tool echo {
    description  "Says it again.";
    input_schema '{"type":"object","properties":{"text":{"type":"string"}}}';
    return       \$tool_arg_text;
}
tool sleep {
    description "Sleeps.";
    exec        sh -c 'echo \$\$\$\$ >\$\$PIDFILE; exec sleep 600';
    env         PIDFILE $dir/sleep.pid;
}
tool steps {
    description "Says how far it is.";
    exec        $dir/steps;
}
tool fail { description "Fails."; exec ls /no/such/file; }
method say { broadcast news; }
END

my ($status, $out, $err) = run_command({ timeout => 300 },
    'node', "$top/t/clients/socket.mjs", $example, $tg->socket_path,
    "$dir/sleep.pid");
is $status, 0, 'socket.mjs ends well' or diag $err;
my @told = split /\n/, $out;
is scalar(grep {/^ok - /} @told), 12, 'all of it was tried' or diag $out;
while (defined(my $line = shift @told)) {
    ok $line =~ /^ok - /, $line =~ s/^(?:not )?ok - //r
        or diag shift @told // '';
}

# --- by hand, and of a program ---

($status, $out) = run_command({}, 'node', $example, $tg->socket_path);
is scalar @{ decode_json($out) }, 44, 'by hand: the tools';
my $host = Toolgate::Host->start($tg, 'thread');
$host->do('start');
($status, $out) = run_command({}, 'node', $example, $host->socket_path, 'echo',
    '{"text":"hi"}');
is decode_json($out)->{content}[0]{text}, 'hi', 'and a call, of a program';
$host->stop;
$tg->stop;

done_testing;
