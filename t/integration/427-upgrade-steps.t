#!/usr/bin/perl
# The upgrade of docs/operations.md: its unit's command starts NGINX, its
# commands replace the master, and its reload works on the new one. A client
# with a running call notices nothing.

use Toolgate::Test qw(Hang),
    plain_only => 'LeakSanitizer reports starts of a daemon';

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $hang = Toolgate::Hang->new($tg);
my $text = slurp(Toolgate::Test::top() . '/docs/operations.md');

# --- the documented steps -------------------------------------------------

my ($unit) = grep {m{/etc/toolgate/}} $text =~ /^( {4}\[Unit\]\n.*?)^\S/msg;
my ($conf) = grep {m{/run/toolgate}} $text =~ /^```nginx\n(.*?)^```/msg;
my ($upgrade) = $text =~ /^\*\*Upgrade Toolgate\*\*(.*?)^\*\*/ms;
my ($usr2, $quit) = $upgrade =~ /^ {4}(kill -(?:USR2|QUIT) .*)$/mg;
ok $unit && $conf && $usr2 && $quit, 'a unit, a config, and two steps'
    or BAIL_OUT('docs/operations.md has another shape');

sub setting {
    my ($name) = @_;
    my @all = $unit =~ /^ {4}$name=(.*)$/mg;
    return wantarray ? @all : $all[-1];
}
is setting('Type'), 'forking', 'systemd knows that it becomes a daemon';
is setting('PIDFile'), ($conf =~ /^pid\s+(\S+);/m)[0], 'and where its pid is';
unlike setting('ExecStart') . $conf, qr/daemon\s+off/,
    'which it must be for SIGUSR2';

# A user's own config, beside the documented one.
my ($own_conf, $own) = $text =~ m{^```nginx\n((?:(?!^```).)*)^```
    (?:(?!^```).)*?^(\ {4}\[Unit\]\n(?:(?!^\S).)*%h/toolgate/.*?)^\S}msx;
ok $own, "a user's unit" or BAIL_OUT('docs/operations.md has another shape');
like $own, qr/^ {4}Type=forking$/m, "a user's unit: systemd knows it, too";
my ($own_pid) = $own =~ m{^ {4}PIDFile=%h/toolgate/(\S+)$}m;
is $own_pid, ($own_conf =~ /^pid\s+(\S+);/m)[0], 'and where its pid is';
unlike $own . $own_conf, qr/daemon\s+off/, 'and SIGUSR2 is not ignored';

# Replaces the documented paths by those of the test.
sub here {
    my ($command) = @_;
    my ($bin) = $tg->nginx_command;
    $command =~ s{/run/toolgate/}{$dir/}g;
    $command =~ s{/usr/sbin/nginx}{$bin -p $dir/};
    $command =~ s{/etc/toolgate/nginx\.conf}{$dir/nginx.conf};
    $command =~ s{/var/log/toolgate/}{$dir/};
    return $command;
}

sub shell {
    my ($command, $main) = @_;
    my ($status, $out, $err) = run_command({ env => { MAINPID => $main } },
        '/bin/sh', '-c', here($command));
    is $status, 0, $command or diag $out . $err;
}

sub write_conf {
    my ($version) = @_;
    $tg->conf('tool who { return ' . "'$version \$pid'; }\n"
        . 'tool hang { ' . $hang->handler . ' }');
    my $own = slurp("$dir/nginx.conf");
    $own =~ s/^daemon off;\n//m or die "no daemon off\n";
    $own =~ s/^pid .*;$/'pid ' . here(setting('PIDFile')) . ';'/me;
    $tg->file('nginx.conf', $own);
}

sub who { return (split / /, text_of($_[0]->call_tool('who')))[0] }

# --- the steps, run -------------------------------------------------------

my $pid_file = here(setting('PIDFile'));
write_conf('old');
shell($_) for setting('ExecStartPre'), setting('ExecStart');
my $old = wait_for(sub { slurp($pid_file) }, 'the pid file') + 0;
my $client = wait_for { eval { $tg->connect } } 'the socket';
is who($client), 'old', 'it serves';

my $busy = $tg->connect;
my $call = $busy->request('tools/call',
    { name => 'hang', arguments => { key => 'call' } });
$hang->started('call');

write_conf('new');
shell($usr2);
my $new = wait_for {
    my ($pid) = (slurp($pid_file) // '') =~ /(\d+)/ or return;
    return $pid != $old && $pid;
} 'a new pid file';
shell($quit);
wait_for { !is_alive($old) } 'the old master to end';
is who($client), 'new', 'the client continues with the new binary';
ok is_alive($new), 'which stays';
$hang->finish('call');
is text_of($busy->reply($call)), "done call\n", 'the call comes to its end';

write_conf('newer');
shell($_, $new) for setting('ExecReload');
wait_for { who($client) eq 'newer' } 'the reload';
is slurp($pid_file) + 0, $new, 'of the same master';
my $stop = setting('KillSignal') =~ s/^SIG//r;
kill $stop => $new;
wait_for { !is_alive($new) } 'the new master to end';
is_deeply [ glob "$dir/*.sock*" ], [], 'it takes its socket along';

done_testing;
