#!/usr/bin/perl
# Ids, progress tokens and names of a megabyte: none of them comes back.

use Toolgate::Test;
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new;
$hostile->run([ [ ids => rounds => 3 ] ]);

done_testing;
