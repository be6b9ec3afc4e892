#!/usr/bin/perl
# Bytes that are no message of any dialect: a parse error or the end of the
# connection, by the contract.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new;
my $rounds = Toolgate::Test::is_san() ? 20 : 100;
$hostile->run([ map { [ garbage => rounds => $rounds ] } 1 .. 2 ]);

done_testing;
