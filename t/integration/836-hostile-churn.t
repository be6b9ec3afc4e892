#!/usr/bin/perl
# Clients that connect and close at full speed, with and without requests.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
my $rounds = Toolgate::Test::is_san() ? 500 : 3000;
$hostile->run([ map { [ churn => rounds => $rounds ] } 1 .. 2 ]);

done_testing;
