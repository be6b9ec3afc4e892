#!/usr/bin/perl
# The harness checks every other test: whatever a test leaves behind, or NGINX
# and the sanitizers report, must make it fail.

use Toolgate::Test;

my $plain = q{server { listen unix:%%SOCKET%%; return "hi\n"; }};
my $head = <<'END';
use strict;
use warnings;
use Toolgate::Test;
my $tg = Toolgate::Test->new;
$tg->conf('server { listen unix:%%SOCKET%%; return "hi\n"; }', server => 0);
$tg->start;
ok 1, 'started';
print '# pids ', join(' ', $tg->master_pid, $tg->worker_pids), "\n";
print '# dir ', $tg->dir, "\n";
END

my $top = Toolgate::Test::top();
my @alone = ($^X, "-I$top/t/lib");
my @suite =
    ('sh', '-c', 'exec "$0" "$@" 9>&2', $^X, 'module/build/prove.pl', '-v');

# Runs a test file, by default alone. Returns its exit status, output, remaining
# processes and folder.
sub outcome {
    my ($tg, $name, $body, @by) = @_;
    my $file = $tg->file("$name.t", $head . $body);
    my ($status, $out, $err) = run_command({ timeout => 120, cwd => $top },
        @by ? @by : @alone, $file);
    my @pids = map {split} $out =~ /^# pids (.*)/mg;
    my ($dir) = $out =~ /^# dir (.*)/m;
    return {
        status => $status,
        text   => $out . $err,
        pids   => scalar(@pids),
        alive  => scalar(grep { is_alive($_) } @pids),
        dir    => defined $dir && -e $dir,
    };
}

sub is_caught {
    my ($outcome, $pattern, $name) = @_;
    isnt $outcome->{status}, 0, "$name fails the test";
    like $outcome->{text}, $pattern, "$name is named";
    cmp_ok $outcome->{pids}, '>', 2, "$name: processes were started";
    is $outcome->{alive}, 0, "$name: none is left";
    ok !$outcome->{dir}, "$name: the folder is removed";
}

my $tg = Toolgate::Test->new;
$tg->conf($plain, server => 0)->start;
is $tg->connect->recv_line, 'hi', 'a private NGINX answers';
is $tg->connect->peer_pid, $tg->master_pid, 'it is the one that was started';

my $clean = outcome($tg, 'clean', 'done_testing;');
is $clean->{status}, 0, 'a clean test passes' or diag $clean->{text};
is $clean->{alive}, 0, 'and leaves no process';

is_caught(outcome($tg, 'orphan', <<'END'), qr/left behind/, 'an orphan');
$Toolgate::Test::END_TIME = 2;
print '# pids ', `setsid sleep 1000 >/dev/null & echo \$!`;
done_testing;
END
is_caught(outcome($tg, 'dead', 'die "oops\n";'), qr/oops/, 'a dead test');
is_caught(outcome($tg, 'killed', 'kill KILL => $$; sleep 1000;'),
    qr/started/, 'a killed test');
is_caught(outcome($tg, 'late', 'kill TERM => getppid; sleep 1000;'),
    qr/out of time or interrupted/, 'an interrupted test');
is_caught(
    outcome($tg, 'log', <<'END'), qr/something \[alert\] odd/, 'an alert');
open my $log, '>>', $tg->dir . '/error.log' or die $!;
print $log "something [alert] odd\n";
close $log;
done_testing;
END
is_caught(
    outcome($tg, 'report', <<'END'), qr/heap-use/, 'a sanitizer report');
$tg->file('san/report.1', "ERROR: AddressSanitizer: heap-use-after-free\n");
done_testing;
END
is_caught(outcome($tg, 'worker', <<'END'), qr/signal 9/, 'a killed worker');
my ($worker) = $tg->worker_pids;
kill KILL => $worker;
$tg->wait_log(qr/exited on signal 9/);
done_testing;
END

# As the suite runs it; the status is what prove was told.
$clean = outcome($tg, 'clean', 'done_testing;', @suite);
is $clean->{status}, 0, 'a clean test passes in the suite'
    or diag $clean->{text};
is_caught(outcome($tg, 'dead', 'die "oops\n";', @suite),
    qr/(?=.*oops).*returned 255/s, 'a dead test of the suite');
is_caught(outcome($tg, 'killed', 'kill KILL => $$; sleep 1000;', @suite),
    qr/returned 137/, 'a killed test of the suite');
is_caught(outcome($tg, 'after', "done_testing;\ndie qq(oops\\n);", @suite),
    qr/(?=.*oops).*returned 255/s, 'a test that dies after its end');
my $skipped = $tg->file('skipped.t',
    "use Toolgate::Test;\nplan skip_all => 'no reason';\n");
my ($status, $text) = run_command({ timeout => 120, cwd => $top }, @suite,
    $skipped);
is $status, 0, 'a skipped test passes';
like $text, qr/skipped: no reason.*NOTESTS/s, 'and prove knows why';

ok !eval { kill CONT => 0 }, 'a pid that is not known gets no signal';
like $@, qr/no pid/, 'and that is said';

# A failure is reported with what went before it.
my $told = outcome($tg, 'told', '$tg->connect->recv_line; ok 0; done_testing;');
is_caught($told, qr/got 3 bytes: hi/, 'what a client saw');
like $told->{text}, qr/the end of .*error\.log:/, 'and NGINX';

$tg->reload('server { listen unix:%%SOCKET%%; return "ho\n"; }', server => 0);
is $tg->connect->recv_line, 'ho', 'after a reload the new config serves';
($status, $text) = $tg->test_conf('nonsense;', server => 0);
isnt $status, 0, 'nginx -t finds a mistake';
like $text, qr/unknown directive "nonsense"/, 'and says it';
like $tg->reload_fails('nonsense;', server => 0), qr/nonsense/,
    'a reload of it is refused';
is $tg->connect->recv_line, 'ho', 'and the running config is untouched';

# --- JSON -------------------------------------------------------------------

# Returns what a decoder makes of a text: the value as JSON, or the error.
sub decoded {
    my ($decode, $text) = @_;
    my $value;
    return Toolgate::Client->encode($value)
        if eval { $value = $decode->($text); 1 };
    return $@ =~ s/ at \S+ line .*//sr;
}

my $json = JSON::PP->new->utf8->allow_nonref->allow_bignum;
my @texts = (
    '', ' ', '{}', '[]', ' [ 1 , -2 , 0 , -0 ] ', '[1,]', '{"a":1,}', '[1 2]',
    '{"a" 1}', '{"a":1,"a":{"b":[true,false,null]}}', 'nul', 'nullx', '01',
    '1.0', '1e5', '-', '123456789012345', '1234567890123456',
    '12345678901234567890', '"a\\"\\/\\n"', '"\\u00e9"', '"\\x"', "\"a\tb\"",
    "\"\xc3\xa9\"", "\"\xff\"", "\"\xed\xa0\x80\"", '"\\u0000a"',
    '"\\ud83d\\ude00"', '"\\ud83d"', '[0.5,0.10,-1.25]', '"', '[1]x', "[1]\0",
    map { '[' x $_ . ']' x $_ } 80, 100, 600);
is decoded(\&Toolgate::Json::decode, $_), decoded(sub { $json->decode($_[0]) },
    $_), 'decoded as by JSON::PP: ' . substr($_, 0, 40) =~ s/[^ -~]/./gr
    for @texts;
is Toolgate::Json::encode($_), $json->canonical->encode($_), 'encoded, too'
    for undef, 0, '0', -1.5, 1e15, '12', '', "a\tb\"\\\x7f\x{e9}\x{263a}", \1,
    $JSON::PP::true, [], {}, [ 1, [ undef, { b => {}, a => '1' } ] ];

done_testing;
