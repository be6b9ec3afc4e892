#!/usr/bin/perl
# Floods of backends of `pass` and threads of libraries, and changing lists:
# others are served. See Toolgate::Floods.

use Toolgate::Test qw(Flooded),
    timeout => 1800, plain_too => 'it measures memory';

Toolgate::Flooded::test_all(qr/^(?:backend|imported|threads)/);
done_testing;
