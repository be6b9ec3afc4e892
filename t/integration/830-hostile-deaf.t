#!/usr/bin/perl
# Clients that ask for a lot and never read it: they are not read from
# without end, and closed in time.

use Toolgate::Test;
use Toolgate::Hostile;

my $hostile = Toolgate::Hostile->new(head => 'tool_send_timeout 3s;');
# What one of them may keep is 256 KiB of answers, a call's arguments and as
# much room as a buffer that has doubled.
$hostile->run([ [ deaf => connections => 60 ] ], memory => 60 * 1024);
like $hostile->tg->log, qr/client did not read its answers/,
    'the log says it';

done_testing;
