#!/usr/bin/perl
# ./build.sh soak [SECONDS]: see Toolgate::Soak.

use strict;
use warnings;

my $seconds;

BEGIN {
    $seconds = $ARGV[0] // 600;
    $seconds =~ /^[1-9]\d*$/ or die "soak: how many seconds is $seconds?\n";
}
use Toolgate::Test timeout => 3 * $seconds + 900,
    plain_too => 'it measures memory';
use Toolgate::Soak;

Toolgate::Soak->test(seconds => $seconds);

done_testing;
