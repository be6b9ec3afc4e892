#!/usr/bin/perl
# A storm of reloads with forty clients of all dialects and both eras of MCP
# that never reconnect: each request is answered once, by the catalog that was
# current when it was read or by a newer one; and nothing has grown afterwards.

use Toolgate::Test qw(Storm), plain_too => 'it measures memory';

use constant CLIENTS => 40;

my $reloads = $ENV{TOOLGATE_STORM_RELOADS}
    // (Toolgate::Test::is_san() ? 60 : 120);
my $tg = Toolgate::Test->new;
my $storm = Toolgate::Storm->new($tg)->start(CLIENTS);

# Returns what must not grow, of the master and the runner.
sub sizes {
    my %size;
    my $runner = $tg->runner_pid;
    for my $pid ($tg->master_pid, $runner) {
        my $name = $pid == $runner ? 'runner' : 'master';
        $size{"$name fds"} =
            $pid == $runner ? fd_count($pid) : master_fds($tg);
        $size{"$name memory"} = rss_kb($pid);
    }
    return \%size;
}

my $start = time;
$storm->pass(0.5);
$storm->reload while $storm->generation < 20;
$storm->calm;
my $before = sizes();
$storm->resume;
$storm->reload while $storm->generation < $reloads;
$storm->calm;
diag sprintf '%s, in %d s', $storm->story, time - $start;

is_deeply [ $storm->faults ], [], 'all answered, once, by the right ones';
is scalar($storm->clients), CLIENTS, 'no client was disconnected';
is scalar($tg->worker_pids(all => 1)), 2, 'two workers';
wait_for { !grep {/sleep|nap/} values %{ $tg->processes } }
    'the last programs to end';
my $after = sizes();
for my $name (sort keys %$before) {
    diag "$name: $before->{$name}, then $after->{$name}";
    # A worker connects to the runner for its first program: both workers must
    # have done so, before and after.
    my $is_memory = $name =~ /memory/;
    my $more = $is_memory ? 1400 : $name eq 'runner fds' ? 2 : 0;
    cmp_ok $after->{$name}, '<=', $before->{$name} + $more,
        "$name: no more than before"
        if !$is_memory || !Toolgate::Test::is_san();
}
$storm->leave;

done_testing;
