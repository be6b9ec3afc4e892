#!/usr/bin/perl
# Clients that send many requests and never read: the worker stops reading from
# them, and closes them in time.

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $hostile = Toolgate::Hostile->new(head => 'tool_send_timeout 3s;');
# One of them uses 256 KiB of responses, a call's arguments and as much room as
# a doubled buffer.
$hostile->run([ [ deaf => connections => 60 ] ], memory => 60 * 1024);
like $hostile->tg->log, qr/client did not read its answers/,
    'the log says it';

done_testing;
