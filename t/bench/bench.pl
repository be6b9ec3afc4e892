#!/usr/bin/perl
# ./build.sh bench [--write] [ROW]...: measures Toolgate, prints the tables of
# docs/performance.md, and with --write puts them there: of rows that are named
# their tables alone.  Each row is a file in t/bench/rows.

use strict;
use warnings;

use Toolgate::Guard;
use Toolgate::Util;

BEGIN {
    Toolgate::Util::load_build_env();
    Toolgate::Guard::start(7200);
}
use Toolgate::Bench;
require Test::More;
require Toolgate::Test;

$| = 1;
my @all = qw(speed data library host log bridge agents idle exec tasks pass
    tools resources workers reload hostile floods);
my $is_written = @ARGV && $ARGV[0] eq '--write' && shift @ARGV;
my @rows = @ARGV ? @ARGV : grep { -e row($_) } @all;

sub row { return "$TOP/t/bench/rows/$_[0].pl" }

sub write_document {
    my ($tables) = @_;
    my $path = "$TOP/docs/performance.md";
    my $text = slurp($path) // die "$path: $!\n";
    $text =~ s{(<!-- bench -->\n)(.*)\n(<!-- /bench -->)}
              {$1 . Toolgate::Bench::merge(@ARGV ? $2 : '', $tables) . "\n$3"}es
        or die "$path has no place for them\n";
    open my $fh, '>:raw', $path or die "$path: $!\n";
    print $fh $text;
    close $fh or die "$path: $!\n";
}

for my $name (@rows) {
    next if $name =~ /^[a-z]+$/ && -e row($name);
    my @there = grep { -e row($_) } @all;
    die "bench: no row \"$name\"; there are: @there\n";
}

my $bench = Toolgate::Bench->new;
for my $name (@rows) {
    my $run = do(row($name)) // die $@ || "$name: $!";
    my $ok = eval { $run->($bench); 1 };
    die "bench: $name: $@" if !$ok;
}

my $missed = $bench->{missed} // 0;
print "\n",
    $missed ? "$missed targets missed\n" : "every target met\n";
write_document($bench->text) if $is_written;
$bench->stop;
my @wrong = Toolgate::Test::wind_up();
die map {"bench: $_\n"} @wrong if @wrong;
