#!/usr/bin/perl
# Floods by programs, HTTP responses and searches of the runner: others are
# served. See Toolgate::Floods.

use Toolgate::Test qw(Flooded),
    timeout => 1800, plain_too => 'it measures memory';

Toolgate::Flooded::test_all(
    qr/^(?:large messages|HTTP|webhook|rules|program|search)/);
done_testing;
