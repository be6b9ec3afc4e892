#!/usr/bin/perl
# The soak, for a few seconds: ./build.sh soak is the same for as long as one
# likes.

use Toolgate::Test;
use Toolgate::Soak;

Toolgate::Soak->test(seconds => 6, rounds => 2, clients => 20);

done_testing;
