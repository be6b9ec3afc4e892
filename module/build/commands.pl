#!/usr/bin/perl
# Writes compile_commands.json, from which clangd knows how each file is
# compiled: reads the commands that make would run on standard input, after a
# line "directory: DIR" for each folder that it would run them in.

use strict;
use warnings;

use JSON::PP;

my ($directory, %seen, @commands);
local $/;
(my $plan = <STDIN>) =~ s/\\\n\s*/ /g;
for my $line (split /\n/, $plan) {
    $directory = $1 if $line =~ /^directory: (.*)/;
    my ($file) = $line =~ /^\S.* -c .*?(\S+\.c)\s*$/ or next;
    # A file that is in both builds is first that of the programs.
    my $path = $file =~ m{^/} ? $file : "$directory/$file";
    push @commands,
        { directory => $directory, file => $path, command => $line }
        if !$seen{$path}++;
}
print JSON::PP->new->canonical->pretty->encode(\@commands);
