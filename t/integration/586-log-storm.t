#!/usr/bin/perl
# A storm of reloads over clients of all dialects: what the log of calls says
# agrees, to the call, with what the clients were told.
# TOOLGATE_LOG_RELOADS: how many (40).

use Toolgate::Test timeout => 600;
use Toolgate::Storm;

use constant CLIENTS => 30;

my $reloads = $ENV{TOOLGATE_LOG_RELOADS} // 40;
my $tg = Toolgate::Test->new;
my %option = (stream => <<'END');
tool_log_format n '$tool_arg_n $tool_status $tool_client_pid';
tool_log calls.log n buffer=16k flush=200ms;
END

# What the clients were told of each call.
my (%told, %cancelled);
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
$storm->reload(%option) while $storm->generation < $reloads;
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'all answered, once, by the right ones';
my $cancelled = $storm->account->count('cancelled');
$storm->leave;
kill QUIT => $tg->master_pid;
wait_for { !$tg->worker_pids(all => 1) } 'the end';

my (%logged, @strange);
for my $line (split /\n/, slurp($tg->dir . '/calls.log')) {
    my ($key, $status, $pid) = $line =~ /^(c\d+\.\d+) (\w+) (\d+)$/;
    push @strange, $line if !defined $key || $pid != $$;
    $logged{ $key // '' }{ $status // '' }++;
}
is "@strange[ 0 .. ($#strange < 3 ? $#strange : 3) ]", '',
    'each line is whole, and of us';
my %right = (answer => 'ok', unknown => 'unknown', failed => 'none');
my (@missing, @twice, @wrong, $ncancelled);
for my $key (sort keys %told) {
    my @statuses = %{ $logged{$key} // {} };
    push @missing, $key if !@statuses;
    push @twice, "$key @statuses" if @statuses > 2 || ($statuses[1] // 1) != 1;
    my ($what) = keys %{ $told{$key} };
    push @wrong, "$key: $what, @statuses"
        if @statuses && $statuses[0] ne $right{$what};
}
for my $key (grep { !$told{$_} } sort keys %logged) {
    my @statuses = %{ $logged{$key} };
    push @wrong, "$key: no answer, @statuses" if "@statuses" ne 'cancelled 1';
    $ncancelled++;
}
is scalar(@missing), 0, 'each call that was answered has a line'
    or diag "@missing[0 .. 3]";
is scalar(@twice), 0, 'and only one' or diag "@twice[0 .. 3]";
is scalar(@wrong), 0, 'which says how it ended' or diag "@wrong[0 .. 3]";
cmp_ok scalar(keys %told), '>', 500, scalar(keys %told) . ' calls';
cmp_ok $ncancelled, '<=', $cancelled,
    "and $ncancelled that were cancelled in time";
cmp_ok $ncancelled, '>', 0, 'which have theirs, too';

done_testing;
