#!/usr/bin/perl
# Ids, progress tokens and names of a megabyte: none is returned.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
$hostile->run([ [ ids => rounds => 3 ] ]);

done_testing;
