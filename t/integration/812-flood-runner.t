#!/usr/bin/perl
# Floods of what the runner runs, fetches and searches: others are served.
# See Toolgate::Floods.

use Toolgate::Test timeout => 1800;
use Toolgate::Flooded;

Toolgate::Flooded::test_all(
    qr/^(?:large messages|HTTP|webhook|rules|program|search)/);
done_testing;
