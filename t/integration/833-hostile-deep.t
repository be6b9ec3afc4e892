#!/usr/bin/perl
# Ten megabytes of opening brackets, in each dialect: rejected at the 129th.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
$hostile->run([ [ deep => rounds => 3 ] ]);

done_testing;
