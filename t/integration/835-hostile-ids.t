#!/usr/bin/perl
# Ids, progress tokens and names of a megabyte: none is returned.

use Toolgate::Test plain_too => 'it measures memory';
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new;
$hostile->run([ [ ids => rounds => 3 ] ]);

done_testing;
