#!/usr/bin/perl
# Clients that come and go at full speed, with and without a word.

use Toolgate::Test;
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new;
my $rounds = Toolgate::Test::is_san() ? 500 : 3000;
$hostile->run([ map { [ churn => rounds => $rounds ] } 1 .. 2 ]);

done_testing;
