#!/usr/bin/perl
# An MCP server over HTTPS with a header from a file: it reaches the server and
# nothing else, and not a server without a valid certificate.

use Toolgate::Test qw(McpWeb Tls);

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my $secret = 'Qz7hidden-token-9xK$y';
my $web = Toolgate::McpWeb->new($tg, "secret=$secret");
my $modern = Toolgate::McpWeb->new($tg, 'modern', 'json', "secret=$secret");
my $deaf = Toolgate::McpWeb->new($tg, 'secret=other');
$tg->file('key', "Bearer $secret\n", 0600);

certify($dir, 'ca', alt => 'DNS:localhost');
certify($dir, 'no');

# NGINX itself is the TLS server, in front of the plain one.
sub conf {
    my ($port) = @_;
    my $auth = "header Authorization file=$dir/key;";
    my $url = "url https://localhost:$port/mcp;";
    my $other = "url https://127.0.0.1:$port/mcp;";
    my $ca = "ca_file $dir/ca.pem;";
    return <<"END";
server {
    listen              127.0.0.1:$port ssl;
    ssl_certificate     $dir/ca.pem;
    ssl_certificate_key $dir/ca.key;
    proxy_pass          127.0.0.1:@{[ $web->port ]};
}
server {
    listen         unix:%%SOCKET%%;
    tool_runner    @{[ $tg->runner_path ]};
    tool_state_dir %%STATE%%;
    mcp_server good { $url $auth $ca }
    mcp_server modern { url @{[ $modern->url ]}; $auth }
    mcp_server system { $url $auth }
    mcp_server theirs { $url $auth ca_file $dir/no.pem; }
    mcp_server name { $other $auth $ca }
    mcp_server denied { url @{[ $deaf->url ]}; $auth }
}
END
}

my ($nginx) = $tg->nginx_command;
my ($status, $out, $err) = run_command({}, $nginx, '-V');
my $has_debug = "$out$err" =~ /--with-debug/;
my $debug = $has_debug ? "error_log $dir/debug.log debug;" : '';
my $body;
start_on_ports($tg, sub {
    $body = conf(free_port());
    return ($body, server => 0, main => $debug);
});
$tg->allow_log(qr/SSL_do_handshake|while SSL handshaking/);
$tg->allow_log(qr/could not be started/);
# The stream goes through this NGINX, too, until it ends.
$tg->allow_log(qr/open socket #\d+ left in connection|aborting/);

my $c = $tg->connect;
my $tools;
wait_for {
    $tools = $c->rpc('tools/list')->{result}{tools};
    2 == grep { $_->{name} =~ /^(?:good|modern)_echo$/ } @$tools;
} 'the tools of those that can be reached';
ok !(grep { $_->{name} =~ /^(?:system|theirs|name|denied)_/ } @$tools),
    'the others have none';
my $heard = $c->encode($tools);

for my $name (qw(good modern)) {
    my $reply = $c->call_tool("${name}_echo", { said => $secret });
    $heard .= $c->encode($reply);
    is $reply->{result}{structuredContent}{arguments}{said},
        '*' x length $secret, "$name: what repeats it is made unreadable";
}
is $_->{headers}{authorization}, "Bearer $secret", 'the server has it'
    for ($web->requests('tools/call'), $modern->requests('tools/call'));
my %why = (
    system => qr/certificate|CA/i,
    theirs => qr/certificate|CA/i,
    name   => qr/subject name|does not match/i,
);
$tg->wait_log(qr/$_ could not be started: it cannot be reached.*$why{$_}/)
    for sort keys %why;
$tg->wait_log(qr/denied could not be started: .*status 401: who are you/);
is scalar(grep { ($_->{headers}{authorization} // '') ne "Bearer $secret" }
    $web->requests('POST')), 0, 'no other request was sent';

my $runner = Toolgate::Client->connect($tg->state_dir . '/runner-3.sock');
$heard .= $runner->encode($runner->rpc('status'));
unlike $heard, qr/\Q$secret/, 'no answer has it';
my @mine = ($tg->master_pid, $tg->worker_pids, $tg->runner_pids);
my $shown = join "\0", map { slurp($_) }
    map { ("/proc/$_/cmdline", "/proc/$_/environ") } @mine;
unlike $shown, qr/\Q$secret/, 'no command line and no environment has it';

# A new header is used after a reload, and the old session ends.
$tg->file('key', "Bearer new-$secret\n", 0600);
$tg->reload($body, server => 0, main => $debug);
wait_for { $c = $tg->connect; my $n = () = $web->requests('tools/call');
    $c->call_tool('good_echo');
    $n < (() = $web->requests('POST')) } 'it is asked again';
wait_for { grep { ($_->{headers}{authorization} // '') eq "Bearer new-$secret" }
    $web->requests('POST') } 'with the new one';
$tg->stop;

my @found;
for my $file (split /\n/, `find '$dir' -type f`) {
    next if $file =~ m{/mcp-web-|/key$};
    push @found, $file if (slurp($file) // '') =~ /\Q$secret/;
}
is "@found", '', 'no file has it';
done_testing;
