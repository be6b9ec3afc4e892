#!/usr/bin/perl
# The soak test for a few seconds; ./build.sh soak runs it for any time.

use Toolgate::Test qw(Soak), plain_too => 'it measures memory';

Toolgate::Soak->test(seconds => 6, rounds => 2, clients => 20);

done_testing;
