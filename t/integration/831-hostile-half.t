#!/usr/bin/perl
# Clients that shut down writing after their requests: each request is answered,
# then the connection ends.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
my $rounds = Toolgate::Test::is_san() ? 40 : 150;
$hostile->run([ map { [ half => rounds => $rounds ] } 1 .. 2 ]);

done_testing;
