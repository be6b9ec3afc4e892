#!/usr/bin/perl
# The state that a client keeps while its user answers: which users and which
# keys open it, after a restart and after the upgrade to a new binary.

use Toolgate::Test plain_only => 'LeakSanitizer reports starts of a daemon';
use Toolgate::User;

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my $pid_file = "$dir/nginx.pid";
my $tool = <<'END';
tool_socket_mode 0666;
tool_allow all;
tool deploy {
    description "Deploys.";
    ask sure form { message "Deploy?"; }
    return "[$tool_action_sure]";
}
tool master { return $pid; }
END
my ($old, $new) = map { $tg->file($_, $_ x 40, 0600) } qw(a b);
my $id = 0;

sub call {
    my ($state) = @_;
    my $client = $tg->connect;
    $client->send_line({
        jsonrpc => '2.0',
        id      => ++$id,
        method  => 'tools/call',
        params  => {
            name => 'deploy',
            (
                $state
                ? (
                    requestState   => $state,
                    inputResponses => { sure => { action => 'accept' } }
                    )
                : ()
            ),
            _meta => {
                'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities' =>
                    { elicitation => {} },
            }
        }
    });
    return $client->recv_json;
}
sub state { return call()->{result}{requestState} }

sub opens {
    my ($state, $name) = @_;
    is text_of(call($state)), '[accept]', $name;
}

sub refuses {
    my ($state, $name) = @_;
    is call($state)->{error}{code}, -32602, $name;
}

# --- a key of the config -----------------------------------------------------

$tg->conf("tool_state_key file=$old;\n$tool")->start;
my $before = state();
opens($before, 'the key of a file');
SKIP: {
    skip 'only root can connect as another user', 1
        if !Toolgate::User::is_possible();
    Toolgate::User::as(65534, [65534],
        sub { refuses($before, 'another user') });
}
$tg->stop;
$tg->start;
opens($before, 'after a restart');
$tg->reload("tool_state_key file=$new file=$old;\n$tool");
opens($before, 'the previous key');
my $after = state();
opens($after, 'the current key');
$tg->reload("tool_state_key file=$new;\n$tool");
refuses($before, 'a key that was removed');
opens($after, 'a key that stayed');
$tg->reload($tool);
refuses($after, 'the random key');
my $random = state();
$tg->reload($tool);
opens($random, 'the random key after a reload');
$tg->stop;
$tg->start;
refuses($random, 'the random key after a restart');
$tg->stop;

# --- a new binary ------------------------------------------------------------

# NGINX ignores USR2 unless it is a daemon.
$tg->file('nginx.conf', slurp("$dir/nginx.conf") =~ s/daemon off/daemon on/r);
my ($started) = run_command({}, $tg->nginx_command);
is $started, 0, 'a daemon starts';
my $first = wait_for(sub { slurp($pid_file) }) + 0;
$random = state();
my $second = upgrade_nginx($pid_file, $first);
end_process($first, 'QUIT');
is parent_of(text_of($tg->connect->call_tool('master'))), $second,
    'the new binary serves';
opens($random, 'the random key after an upgrade');
end_process($second, 'QUIT');

done_testing;
