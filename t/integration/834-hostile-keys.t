#!/usr/bin/perl
# Objects with a million members: as arguments, with and without permission of
# the schema, and as an envelope.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
$hostile->run([ [ keys => rounds => 1 ] ]);

done_testing;
