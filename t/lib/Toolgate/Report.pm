package Toolgate::Report;

# What is wrong with what a test ran though no test of its own says so; and
# what a person wants to know of a test that failed, in a log of a machine that
# cannot be asked any more: the last words of its clients, of NGINX and of the
# programs.

use strict;
use warnings;

use Test2::API ();
use Toolgate::Client;
use Toolgate::Util;

use constant DIAGNOSTICS_KEPT => 50;

# The newest diagnostics that the test printed: what was expected, and what
# came instead.
my @diagnostics;

# What is never right in NGINX's log unless the test says so.
my $alarming = qr/\s\[(?:alert|emerg)\]\s
    |\sexited\son\ssignal\s(?!15)\d
    |\sexited\swith\s(?:fatal\s)?code\s(?!0)/x;
# What NGINX says when a worker ended in the moment that the master wanted to
# tell it something: nothing that anybody could do better.
my $harmless = qr/\[alert\]\s\S+\s
    (?:sendmsg\(\)\sfailed\s\((?:32|104|111):
    |kill\(\d+,\s\d+\)\sfailed\s\(3:)/x;
my $sanitizer =
    qr/(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:/;

# Records the diagnostics from now on.
sub start {
    Test2::API::test2_stack()->top->listen(sub {
        my ($hub, $event) = @_;
        return if !$event->isa('Test2::Event::Diag');
        push @diagnostics, $event->message;
        shift @diagnostics if @diagnostics > DIAGNOSTICS_KEPT;
    });
}

# The lines of the log that are no good.  A master that was told to stop kills
# those workers that have not ended 1.5 s later, which they may not have on a
# busy machine.
sub alarms {
    my ($tg) = @_;
    my (%stopping, @alarms);
    open my $log, '<:raw', $tg->dir . '/error.log' or return;
    while (my $line = <$log>) {
        chomp $line;
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

# What the log and the sanitizers have to say.
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
        # A process that is killed during its leak check cannot be examined any
        # more.
        $text =~ s/^==\d+==Unable to get registers from thread \d+\.\n//mg;
        next if $text eq '';
        push @wrong, "$file:\n$text"
            if $file =~ m{/san/} || $text =~ $sanitizer;
    }
    return @wrong;
}

# The last lines of each file that something was written to.
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

# Keeps it in the build folder, for the end of the run of all tests.
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
