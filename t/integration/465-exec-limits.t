#!/usr/bin/perl
# Cgroups of programs: one each if the runner may divide its own, removed
# afterwards or reused; and limits, which hold or are rejected, but never
# ignored.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
$tg->file('stubborn', <<'END', 0755);
#!/bin/sh
setsid sh -c 'trap "" TERM; while :; do sleep 3604; done'
END
$tg->conf(<<'END')->start;
tool where { exec cat /proc/self/cgroup; }
tool eat { exec perl -e "print length('x' x 60_000_000)"; memory 20m; }
tool fork {
    exec  perl -e "for (1 .. 4) { defined fork or die qq(no fork\n) } print 1";
    pids  4;
}
method small { exec true; memory 1g; pids 100; output text; }
tool nap {
    exec     %%DIR%%/stubborn;
    timeout  1h;
}
END

sub text { return text_of($tg->connect->call_tool($_[0])) }

my $where = text('where');
my ($said) = $tg->log =~ /programs have (.*cgroups .*)/;
ok $said, 'the log says whether there are any';
my ($dir) = $said =~ m{^cgroups in (/.*/toolgate\.\w+\.\d+)};
my $has = defined $dir;
is $where =~ m{/toolgate\.\w+\.(\d+)/\d+$}m ? $1 : 0,
    $has ? $tg->runner_pid : 0,
    $has ? 'a program has one' : 'a program has none';

my ($eaten, $forked) = map { text($_) } qw(eat fork);
my $small = $tg->connect->rpc('small');
if ($has && $said !~ /without limits/) {
    like $eaten, qr/exceeded its memory limit/, 'memory is limited';
    like $forked, qr/no fork/, 'and processes';
    is $small->{result}, '', 'who needs less is not bothered';
} else {
    my $refused = 'its memory and pids cannot be limited: .+';
    $refused = qr/could not be started: $refused/;
    like $eaten, $refused, 'a limit of memory is refused';
    like $forked, $refused, 'and one of processes';
    like $small->{error}{message}, $refused, 'of a method, too';
}

SKIP: {
    skip 'there are none', 5 if !$has;
    my $all = sub { grep { m{/\d+$} } glob "$dir/*" };
    my $made = sub {
        grep { (slurp("$_/cgroup.events") // '') =~ /populated 1/ } $all->();
    };
    my $child = sub { grep { /sleep 3604/ } values %{ $tg->processes } };
    # The kernel reports it when the last process is gone.
    wait_for { !$made->() && 1 == $all->() } 'nothing to be left in them';
    pass 'the next program without limits has the same';

    my $c = $tg->connect;
    $c->request('tools/call', { name => 'nap', arguments => {} });
    wait_for { $child->() } 'a program\'s child';
    is scalar($made->()), 1, 'it is in the program\'s';
    my $runner = $tg->runner_pid;
    my @both = ($runner, parent_of($runner));
    kill $_ => @both for qw(STOP KILL);
    wait_for { !-e $dir } 'what they left to be gone';
    is scalar($child->()), 0, 'killed with its supervisor: nothing is left';
    like text('where'), qr{/toolgate\.\w+\.\d+/\d+$}m, 'the next has its own';
    $runner = $tg->runner_pid;
    $tg->stop;
    wait_for { !$tg->runner_pids } 'the runner to leave';
    ok !-e $dir =~ s/\d+$/$runner/r, 'none of them stays';
}

done_testing;
