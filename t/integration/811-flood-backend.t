#!/usr/bin/perl
# Floods of backends of `pass` and threads of libraries, and changing lists:
# others are served. See Toolgate::Floods.

use Toolgate::Test timeout => 1800, plain_too => 'it measures memory';
use Toolgate::Flooded;

Toolgate::Flooded::test_all(qr/^(?:backend|imported|threads)/);
done_testing;
