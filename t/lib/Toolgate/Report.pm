package Toolgate::Report;

# Errors of a test's run that no assertion detects, and what helps to diagnose a
# failed test from a log: the last messages of its clients, of NGINX and of the
# programs.

use strict;
use warnings;

use Test2::API ();
use Toolgate::Client;
use Toolgate::Util;

use constant DIAGNOSTICS_KEPT => 50;

# The last diagnostics of the test: expected and actual values.
my @diagnostics;

# Messages in NGINX's log that are failures unless the test allows them.
my $alarming = qr/\s\[(?:alert|emerg)\]\s
    |\sexited\son\ssignal\s(?!15)\d
    |\sexited\swith\s(?:fatal\s)?code\s(?!0)/x;
# Messages of a master about a worker that has just ended, which are harmless.
my $harmless = qr/\[alert\]\s\S+\s
    (?:sendmsg\(\)\sfailed\s\((?:32|104|111):
    |kill\(\d+,\s\d+\)\sfailed\s\(3:)/x;
my $sanitizer =
    qr/(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:/;
# Part of every line that alarms() looks for; logs may have 100,000 others.
my $relevant = qr/exit|\[alert\]|\[emerg\]|Sanitizer|runtime error:/;

# Starts to record diagnostics.
sub start {
    Test2::API::test2_stack()->top->listen(sub {
        my ($hub, $event) = @_;
        return if !$event->isa('Test2::Event::Diag');
        push @diagnostics, $event->message;
        shift @diagnostics if @diagnostics > DIAGNOSTICS_KEPT;
    });
}

# Returns bad lines of the log, except kills of workers that did not end within
# 1.5 s after the master was stopped: a busy machine may be slow.
sub alarms {
    my ($tg) = @_;
    my (%stopping, @alarms);
    my $log = $tg->log;
    while ($log =~ /$relevant/g) {
        my $start = rindex($log, "\n", $-[0]) + 1;
        my $end = index $log, "\n", $+[0];
        $end = length $log if $end < 0;
        pos($log) = $end;
        my $line = substr $log, $start, $end - $start;
        my ($pid, $text) = $line =~ /\] (\d+)#\d+: (.*)/;
        $stopping{$pid} = 1
            if defined $pid && $text =~ /^signal (?:2|15) .*, exiting$/;
        if (defined $pid && $stopping{$pid}
            && $text =~ /^worker process \d+ exited on signal 9$/)
        {
            Test::More::diag("late, and so killed: $line");
            next;
        }
        push @alarms, $line
            if ($line =~ $alarming && $line !~ $harmless)
            || $line =~ $sanitizer;
    }
    return @alarms;
}

# Returns complaints of the log and the sanitizers.
sub complaints {
    my ($tg) = @_;
    my @wrong = @{ $tg->{wrong} };
    LINE: for my $line (alarms($tg)) {
        for my $allowed (@{ $tg->{allowed} }) {
            next LINE if $line =~ $allowed && $line !~ $sanitizer;
        }
        push @wrong, "error.log: $line";
    }
    for my $file (glob "$tg->{dir}/san/* $tg->{dir}/stderr.* "
        . "$tg->{dir}/output")
    {
        my $text = slurp($file) // next;
        # A process that is killed during its leak check cannot be examined.
        $text =~ s/^==\d+==Unable to get registers from thread \d+\.\n//mg;
        next if $text eq '';
        push @wrong, "$file:\n$text"
            if $file =~ m{/san/} || $text =~ $sanitizer;
    }
    return @wrong;
}

# Returns the last lines of each non-empty file.
sub lines {
    my @told = Toolgate::Client::conversations();
    for my $dir (map { $_->dir } @_) {
        for my $file (glob "$dir/*.log $dir/stderr.* $dir/output") {
            my @lines = split /\n/, slurp($file) // '';
            splice @lines, 0, -30 if @lines > 30;
            push @told, join "\n", "the end of $file:", @lines if @lines;
        }
    }
    return @told;
}

sub show {
    Test::More::diag($_) for lines(@_);
}

# Stores a report in the build folder, for the end of the whole run.
sub keep {
    my ($servers, @more) = @_;
    my $builder = Test::More->builder;
    return if $builder->is_passing && !@more;
    my ($name) = $0 =~ m{(?:^|/)t/\w+/([^/]+)\.t$};
    return if !defined $name || !-d "$BUILD/failed";
    my @failed = map {"not ok: $_->{name}"}
        grep { !$_->{ok} } $builder->details;
    open my $fh, '>>', "$BUILD/failed/$name.txt" or return;
    print $fh map {"$_\n"} @failed, @diagnostics, @more, lines(@$servers);
}

1;
