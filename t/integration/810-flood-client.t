#!/usr/bin/perl
# Floods of clients, and of broadcasts to them: others are served. See
# Toolgate::Floods.

use Toolgate::Test timeout => 1800, plain_too => 'it measures memory';
use Toolgate::Flooded;

Toolgate::Flooded::test_all(qr/^(?:nobody|client|broadcast)/);
done_testing;
