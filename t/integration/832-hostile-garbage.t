#!/usr/bin/perl
# Bytes that are no message of any dialect: a parse error where the contract
# has one, the end of the connection where it says so.

use Toolgate::Test;
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new;
my $rounds = Toolgate::Test::is_san() ? 20 : 100;
$hostile->run([ map { [ garbage => rounds => $rounds ] } 1 .. 2 ]);

done_testing;
