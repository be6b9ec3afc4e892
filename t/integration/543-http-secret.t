#!/usr/bin/perl
# A header from a file reaches its server and nothing else: no response, log,
# command line, file, list or status.

use Toolgate::Test qw(Web);

my $tg = Toolgate::Test->new(workers => 2);
my $web = Toolgate::Web->new($tg);
my $secret = 'Qz7hidden-token-9xK$y';
my $key = $tg->file('key', "Bearer $secret\n", 0600);

sub conf {
    my ($file) = @_;
    my $port = $web->port;
    my $auth = "header Authorization file=$file;";
    return <<"END";
tool echo { http GET http://127.0.0.1:$port/echo; $auth output json; }
tool no { http GET http://127.0.0.1:$port/status/401; $auth }
tool dead { http GET http://127.0.0.1:1/; $auth }
tool close { http POST http://127.0.0.1:$port/close; $auth }
tool refused { http GET \$tool_arg_url; hosts *; $auth }
tool hang { http GET http://127.0.0.1:$port/hang/a; $auth timeout 300ms; }
tool leak { http GET http://127.0.0.1:$port/leak/\$tool_arg_n; $auth }
tool big { http GET http://127.0.0.1:$port/bytes/10; $auth max_output 5; }
END
}

my ($nginx) = $tg->nginx_command;
my ($status, $out, $err) = run_command({}, $nginx, '-V');
my $has_debug = "$out$err" =~ /--with-debug/;
$tg->conf(conf($key), main => $has_debug ? 'error_log debug.log debug;' : '')
    ->start;

my $c = $tg->connect;
my $heard = '';

sub call {
    my ($tool, %arguments) = @_;
    my $reply = $c->call_tool($tool, \%arguments);
    $heard .= $c->encode($reply);
    return $reply;
}

my $echo = call('echo')->{result}{structuredContent};
is $echo->{headers}{authorization}, '*' x length "Bearer $secret",
    'what echoes it is made unreadable';
my ($first) = $web->requests;
is $first->{headers}{authorization}, "Bearer $secret", 'the server has it';
call($_) for qw(no dead close hang big);
call(refused => url => $_) for "http://127.0.0.1/", 'x', 'http://a:99/';
is scalar(grep { $_->{path} eq '/close' } $web->requests), 1,
    'what was not answered was sent once';

# Where an error's body is cut, the rest of a secret is hidden, too.
for my $n (4060 .. 4100) {
    my $text = text_of(call(leak => n => $n));
    like $text, qr/status 500: x{4050}/, "an error that is cut at $n";
    unlike $text, qr/Bear|Qz7/, 'has no part of the secret';
}

$c->send_line({ jsonrpc => '2.0', id => 'l', method => 'tools/list' });
$heard .= $c->encode($c->recv_json);
my $runner = Toolgate::Client->connect($tg->state_dir . '/runner-3.sock');
$heard .= $runner->encode($runner->rpc('status'));
my ($cli, $said, $complained) = $tg->cli('call', 'no');
$heard .= $said . $complained;
(undef, $said, $complained) = $tg->cli('status', '--json');
$heard .= $said . $complained;
($status, $out, $err) =
    run_command({ env => $tg->nginx_env }, $tg->nginx_command('-T'));
like $out, qr{header Authorization file=\Q$key\E;}, 'nginx -T has its file';
$heard .= $out . $err;
like $heard, qr/status 401/, 'something was heard';
unlike $heard, qr/\Q$secret/, 'no answer has it';

my @mine = ($tg->master_pid, $tg->worker_pids, $tg->runner_pids);
cmp_ok scalar @mine, '>=', 4, 'processes are there';
my $shown = join "\0", map { slurp($_) }
    map { ("/proc/$_/cmdline", "/proc/$_/environ") } @mine;
unlike $shown, qr/\Q$secret/, 'no command line and no environment has it';

# The file may be removed and change: a reload reads it again.
$tg->file('key', "Bearer other-$secret\n", 0600);
is((call('echo'), $web->requests)[-1]{headers}{authorization},
    "Bearer $secret", 'it was read at load');
$tg->reload(conf($key), main => $has_debug ? 'error_log debug.log debug;' : '');
$c = $tg->connect;
is((call('echo'), $web->requests)[-1]{headers}{authorization},
    "Bearer other-$secret", 'a reload reads it anew');
unlink $key;
$tg->allow_log(qr/open\(\) .*key" failed/);
my ($failed, $why) = $tg->test_conf(conf($key));
isnt $failed, 0, 'a file that is gone';
unlike $why, qr/\Q$secret/, 'nobody says what it was';
$tg->stop;

my @found;
for my $file (split /\n/, `find '@{[ $tg->dir ]}' -type f`) {
    next if $file =~ m{/web/};    # what the server itself notes
    push @found, $file if (slurp($file) // '') =~ /\Q$secret/;
}
is "@found", '', 'no file has it';
like slurp($tg->dir . '/debug.log'), qr/\[debug\]/, 'with a log of all'
    if $has_debug;

done_testing;
