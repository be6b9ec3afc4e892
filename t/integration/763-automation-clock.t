#!/usr/bin/perl
# Rules with cron expressions fire by a clock that the test sets: over both
# changes of clocks in Berlin, on a leap day, after the machine slept or nothing
# ran, and when the clock is set back; cooldown over a restart.

use Toolgate::Test qw(Clock);

my $tg = Toolgate::Test->new;
my $clock = Toolgate::Clock->new($tg);
my %rule = (
    early => 'cron "30 2 * * *" zone=Europe/Berlin',
    late  => 'cron "30 3 * * *" zone=Europe/Berlin missed=skip',
    hours => 'cron "0 * * * *" zone=Europe/Berlin missed=skip',
    leap  => 'cron "0 12 29 2 *" zone=UTC',
    cool  => 'cron "*/5 8 * * *" zone=UTC',
);
my $conf = 'task_agent echo { exec echo $task_prompt; default; } '
    . 'task_methods on;'
    . join '', map {
        "automation $_ { trigger $rule{$_}; "
            . ($_ eq 'leap' ? 'agent echo "{{scheduled}} {{missed}}";'
            : 'notify "{{scheduled}} {{missed}}";')
            . ($_ eq 'cool' ? 'cooldown 10m; ' : '') . '}'
    } sort keys %rule;

my ($c, $hears);

sub begin {
    $tg->conf($conf, main => $clock->main)->start;
    $c = $tg->connect;
    $hears = $tg->connect;
    $hears->rpc('ping');
    return $c->result_of('automation.status');
}
sub end {
    my $runner = $tg->runner_pid;
    undef $c;
    undef $hears;
    $tg->stop;
    wait_for { !is_alive($runner) } 'the runner to leave';
}

# Returns when rules are due; undef: never.
sub due {
    my ($rule) = @_;
    my ($found) = grep { $_->{id} eq $rule }
        @{ $c->result_of('automation.status')->{rules} };
    return $found->{nextRunAt};
}

# Sets the clock, and waits until all rules that were due are due later.
sub at {
    my ($text, %due) = @_;
    $clock->set($text);
    for my $rule (sort keys %due) {
        wait_for { (due($rule) // q{}) eq $due{$rule} =~ s{Z$}{.000Z}r }
            "$rule to be due at $due{$rule}";
    }
}

# Returns the messages of rules since then, in the order of their times.
sub said {
    my ($n) = @_;
    my @said;
    while (@said < $n) {
        my $params = $hears->recv_where(sub {
            return ($_[0]{method} // '') eq 'automation.notify';
        }, 60, 'a rule to fire')->{params};
        push @said, "$params->{ruleId} $params->{message}";
    }
    return [ sort @said ];
}

# Returns all messages of a rule, until this one.
sub said_until {
    my ($rule, $text) = @_;
    my @said;
    until (@said && $said[-1] eq $text) {
        push @said, $hears->recv_where(sub {
            return ($_[0]{method} // '') eq 'automation.notify'
                && $_[0]{params}{ruleId} eq $rule;
        }, 60, "$rule to say $text")->{params}{message};
    }
    return \@said;
}

# --- what they are due at, by the clock of the first start

$clock->set('2026-03-28T22:00:10Z');
begin();
is due('early'), '2026-03-29T01:00:00.000Z',
    'an appointment that the clock is put over: when it is put forward';
is due('late'),  '2026-03-29T01:30:00.000Z', 'one behind it';
is due('hours'), '2026-03-28T23:00:00.000Z', 'each hour';
is due('leap'),  '2028-02-29T12:00:00.000Z', 'the next leap day';

# --- put forward

at('2026-03-28T23:00:00Z', hours => '2026-03-29T00:00:00Z');
is_deeply said(1), ['hours 2026-03-28T23:00:00.000Z false'], 'midnight';
at('2026-03-29T00:00:01Z', hours => '2026-03-29T01:00:00Z');
is_deeply said(1), ['hours 2026-03-29T00:00:00.000Z false'], 'one o\'clock';
at('2026-03-29T01:00:00Z', hours => '2026-03-29T02:00:00Z',
    early => '2026-03-30T00:30:00Z');
is_deeply said(2), [ 'early 2026-03-29T01:00:00.000Z false',
    'hours 2026-03-29T01:00:00.000Z false' ],
    'three o\'clock comes after one; half past two is kept then';
at('2026-03-29T01:30:00Z', late => '2026-03-30T01:30:00Z');
is_deeply said(1), ['late 2026-03-29T01:30:00.000Z false'],
    'half past three is half past three';

# --- a machine that slept for months, and put back

at('2026-10-24T23:10:00Z', early => '2026-10-25T00:30:00Z',
    late => '2026-10-25T02:30:00Z', hours => '2026-10-25T00:00:00Z');
is_deeply said(2), [ 'cool 2026-03-29T08:00:00.000Z true',
    'early 2026-03-30T00:30:00.000Z true' ],
    'what was missed is made up for once, where it shall';
at('2026-10-25T00:00:01Z', hours => '2026-10-25T01:00:00Z');
is_deeply said(1), ['hours 2026-10-25T00:00:00.000Z false'], 'two o\'clock';
at('2026-10-25T00:30:00Z', early => '2026-10-26T01:30:00Z');
is_deeply said(1), ['early 2026-10-25T00:30:00.000Z false'],
    'half past two, the first time; it is not due at the second';
at('2026-10-25T01:00:00Z', hours => '2026-10-25T02:00:00Z');
is_deeply said(1), ['hours 2026-10-25T01:00:00.000Z false'],
    'two o\'clock again is another hour';
at('2026-10-25T02:00:00Z', hours => '2026-10-25T03:00:00Z');
is_deeply said(1), ['hours 2026-10-25T02:00:00.000Z false'],
    'three o\'clock: nothing was said meanwhile';

# --- nothing ran for more than a year, over a leap day

end();
$clock->set('2028-03-01T07:00:00Z');
begin();
my $task;
wait_for {
    ($task) = @{ $c->result_of('task.list', limit => 1) };
    return $task && $task->{state} eq 'completed';
} 'the task of the leap day';
is $task->{prompt}, '2028-02-29T12:00:00.000Z true',
    'what was missed while nothing ran is made up for';
is due('leap'), '2032-02-29T12:00:00.000Z', 'the next is in four years';
is scalar @{ $c->result_of('task.list') }, 1, 'once';
my %fired = map { $_->{ruleId} => 1 }
    @{ $c->result_of('automation.status')->{recentExecutions} };
ok $fired{early} && $fired{cool}, 'so are others';

# --- a cooldown over a restart

at('2028-03-01T08:00:00Z', cool => '2028-03-01T08:05:00Z');
said_until('cool', '2028-03-01T08:00:00.000Z false');
end();
$clock->set('2028-03-01T08:04:58Z');
begin();
at('2028-03-01T08:05:00Z', cool => '2028-03-01T08:10:00Z');
at('2028-03-01T08:10:01Z', cool => '2028-03-01T08:15:00Z');
is_deeply said_until('cool', '2028-03-01T08:10:00.000Z false'),
    ['2028-03-01T08:10:00.000Z false'],
    'not within its cooldown, though the runner is another';

# --- the clock is put back

at('2028-02-01T08:01:00Z', cool => '2028-02-01T08:05:00Z',
    leap => '2028-02-29T12:00:00Z');
pass 'by weeks: due rules are checked again';

done_testing;
