#!/usr/bin/perl
# Clients that connect and close at full speed, with and without requests.

use Toolgate::Test plain_too => 'it measures memory';
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new;
my $rounds = Toolgate::Test::is_san() ? 500 : 3000;
$hostile->run([ map { [ churn => rounds => $rounds ] } 1 .. 2 ]);

done_testing;
