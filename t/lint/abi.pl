#!/usr/bin/perl
# The interface of libtoolgate stays as it was: what module/lib/toolgate.abi
# has of each version must be in the headers to the letter, and under the same
# version in toolgate.map.  What is new is added to the file with --write.
#
#   abi.pl [--write] [BUILD]
#
# With BUILD, what the libraries there export is compared, too.

use strict;
use warnings;

my $write = @ARGV && $ARGV[0] eq '--write' && shift;
my ($build) = @ARGV;
my $header = 'module/api/toolgate.h';
my $client = 'module/api/toolgate_client.h';
my $list   = 'module/lib/toolgate.abi';
my $map    = 'module/lib/toolgate.map';
my $wrong  = 0;

sub complain {
    print "@_\n";
    $wrong = 1;
}

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}

# What a program is compiled against: functions, types and numbers, a line each.
sub interface {
    my $text = slurp($header) . slurp($client);
    $text =~ s{/\*.*?\*/}{}gs;
    $text =~ s/^#.*\n//mg;
    my @lines;
    while ($text =~ /\benum \{(.*?)\};/gs) {
        push @lines, map { "constant $_" } $1 =~ /(\w+ = -?\d+)/g;
    }
    push @lines, map { "function $_" } $text =~ /\bTOOLGATE_API ([^;]+);/g;
    push @lines, map { "type $_" } $text =~ /\btypedef ([^;]+);/g;
    s/\s+/ /g for @lines;
    return @lines;
}

sub function { return $_[0] =~ /^function .*?(\w+)\(/ ? $1 : undef }

# Which version has which functions.
my (%version, @versions);
my $text = slurp($map);
while ($text =~ /^(\w+) \{(.*?)^\}/msg) {
    my ($name, $body) = ($1, $2);
    push @versions, $name;
    $version{$_} = $name for $body =~ /\b(toolgate_\w+);/g;
}

my @now = interface();
my %now = map { $_ => 1 } @now;
my %known = map { /^(\S+) (.*)/ ? ($2 => $1) : () } split /\n/,
    -e $list ? slurp($list) : '';

for my $line (sort keys %known) {
    complain("$header: lacks or changes what $known{$line} has: $line")
        if !$now{$line};
    my $name = function($line) // next;
    complain("$map: $name is not of $known{$line}")
        if ($version{$name} // '') ne $known{$line};
}
my @new = grep { !$known{$_} } @now;
for my $name (grep { defined } map { function($_) } @now) {
    complain("$map: lacks $name") if !$version{$name};
}
my %function = map { function($_) // '' => 1 } @now;
for my $name (sort keys %version) {
    complain("$map: $name is not in $header") if !$function{$name};
}

if (@new && $write && !$wrong) {
    open my $fh, '>>', $list or die "$list: $!\n";
    for my $line (@new) {
        my $name = function($line);
        printf $fh "%s %s\n", $name ? $version{$name} : $versions[-1], $line;
    }
    close $fh or die "$list: $!\n";
    print "$list: ", scalar(@new), " lines added\n";
} elsif (@new) {
    complain("$list: lacks \"$_\"; perl t/lint/abi.pl --write") for @new;
}

# --- what was built ---

# A symbol each, with its version where it has one.
sub exported {
    my ($option, $file) = @_;
    my @symbols = `nm -P $option --defined-only '$file'`;
    complain("$file: nm failed") if $?;
    return map { (split ' ')[0] } grep { / [TDBRVW] / } @symbols;
}

sub compare {
    my ($file, $expected, @got) = @_;
    my %got = map { $_ => 1 } @got;
    complain("$file: exports $_") for grep { !$expected->{$_} } sort keys %got;
    complain("$file: lacks $_") for grep { !$got{$_} } sort keys %$expected;
}

if ($build) {
    compare("$build/libtoolgate.so",
        { map { ("$_\@\@$version{$_}" => 1) } keys %version },
        exported('-D', "$build/libtoolgate.so"));
    compare("$build/libtoolgate.a", \%version,
        exported('-g', "$build/libtoolgate.a"));
}

exit $wrong;
