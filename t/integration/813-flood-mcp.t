#!/usr/bin/perl
# Floods of MCP servers on stdio and by URL: others are served.
# See Toolgate::Floods.

use Toolgate::Test timeout => 1800, plain_too => 'it measures memory';
use Toolgate::Flooded;

Toolgate::Flooded::test_all(qr/^(?:MCP server)/);
done_testing;
