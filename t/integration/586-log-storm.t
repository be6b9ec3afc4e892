#!/usr/bin/perl
# A storm of reloads with clients of all dialects: the log of calls, the
# counters and the clients agree, to the call. TOOLGATE_LOG_RELOADS: number of
# reloads (40); TOOLGATE_LOG_CALLS: minimum number of calls.

use Toolgate::Test qw(Status Storm),
    timeout => $ENV{TOOLGATE_LOG_CALLS} ? 14_400 : 600;

use constant CLIENTS => 30;

my $reloads = $ENV{TOOLGATE_LOG_RELOADS} // 40;
my $calls = $ENV{TOOLGATE_LOG_CALLS} // 500;
my $tg = Toolgate::Test->new;
# Calls that read the counters do not count.
my %option = (stream => <<'END');
map $tool_name $is_theirs { toolgate.status 0; default 1; }
tool_log_format n '$tool_arg_n $tool_status $tool_client_pid';
tool_log calls.log n buffer=16k flush=200ms if=$is_theirs;
END

# The clients' results of each call.
my %told;
my $storm = Toolgate::Storm->new(
    $tg,
    plant => sub {
        my ($client, $event) = @_;
        my ($what, $key) = @$event;
        $told{$key}{$what}++ if $what =~ /^(?:answer|unknown|failed)$/;
        return $event;
    });
$storm->start(CLIENTS, %option);
$storm->pass(0.5);
$storm->reload(%option)
    while $storm->generation < $reloads || keys %told < $calls;
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'all answered, once, by the right ones';
my $cancelled = $storm->account->count('cancelled');

# --- the numbers ----------------------------------------------------------

my $status = Toolgate::Status->new($tg->connect);
wait_for { $status->look->sum('in_flight') == 0 } 'nothing in flight';
my $counted = {
    %{ $status->all_ends }, unknown => $status->server->{unknown}
};
$storm->leave;
kill QUIT => $tg->master_pid;
wait_for { !$tg->worker_pids(all => 1) } 'the end';

# --- the log --------------------------------------------------------------

my (%logged, %lines, @strange);
for my $line (split /\n/, slurp($tg->dir . '/calls.log')) {
    my ($key, $end, $pid) = $line =~ /^(c\d+\.\d+) (\w+) (\d+)$/;
    push @strange, $line if !defined $key || $pid != $$;
    $logged{ $key // '' }{ $end // '' }++;
    $lines{ $end // '' }++;
}
is "@strange[ 0 .. ($#strange < 3 ? $#strange : 3) ]", '',
    'each line is whole, and of us';
my %right = (answer => 'ok', unknown => 'unknown', failed => 'none');
my (@missing, @twice, @wrong, $ncancelled);
for my $key (sort keys %told) {
    my @ends = %{ $logged{$key} // {} };
    push @missing, $key if !@ends;
    push @twice, "$key @ends" if @ends > 2 || ($ends[1] // 1) != 1;
    my ($what) = keys %{ $told{$key} };
    push @wrong, "$key: $what, @ends" if @ends && $ends[0] ne $right{$what};
}
for my $key (grep { !$told{$_} } sort keys %logged) {
    my @ends = %{ $logged{$key} };
    push @wrong, "$key: no answer, @ends" if "@ends" ne 'cancelled 1';
    $ncancelled++;
}
is scalar(@missing), 0, 'each call that was answered has a line'
    or diag "@missing[0 .. 3]";
is scalar(@twice), 0, 'and only one' or diag "@twice[0 .. 3]";
is scalar(@wrong), 0, 'which says how it ended' or diag "@wrong[0 .. 3]";
cmp_ok scalar(keys %told), '>=', $calls, scalar(keys %told) . ' calls';
cmp_ok $ncancelled, '<=', $cancelled,
    "and $ncancelled that were cancelled in time";
cmp_ok $ncancelled, '>', 0, 'which have theirs, too';
my %clients = (unknown => 0, cancelled => $ncancelled);
$clients{ $right{$_} }++ for map { keys %$_ } values %told;
is_deeply $counted, \%clients, 'the numbers are those of the clients';
is_deeply { unknown => 0, %lines }, \%clients, 'and so are the lines';

done_testing;
