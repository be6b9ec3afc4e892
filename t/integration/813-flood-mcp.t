#!/usr/bin/perl
# Floods of MCP servers on stdio and by URL: others are served.
# See Toolgate::Floods.

use Toolgate::Test qw(Flooded),
    timeout => 1800, plain_too => 'it measures memory';

Toolgate::Flooded::test_all(qr/^(?:MCP server)/);
done_testing;
