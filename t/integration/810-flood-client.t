#!/usr/bin/perl
# Floods of clients, and of broadcasts to them: others are served. See
# Toolgate::Floods.

use Toolgate::Test qw(Flooded),
    timeout => 1800, plain_too => 'it measures memory';

Toolgate::Flooded::test_all(qr/^(?:nobody|client|broadcast)/);
done_testing;
