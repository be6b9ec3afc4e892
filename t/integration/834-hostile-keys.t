#!/usr/bin/perl
# Objects with a million members: as arguments, where a schema allows them
# and where it does not, and as an envelope.

use Toolgate::Test;
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new;
$hostile->run([ [ keys => rounds => 1 ] ]);

done_testing;
