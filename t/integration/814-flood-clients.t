#!/usr/bin/perl
# Floods of servers against the bridge, a program with libtoolgate and the
# command: others are served.  See Toolgate::Floods.

use Toolgate::Test qw(Flooded),
    timeout => 1800, plain_too => 'it measures memory';

Toolgate::Flooded::test_all(qr/^server of/);
done_testing;
