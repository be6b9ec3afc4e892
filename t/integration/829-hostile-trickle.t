#!/usr/bin/perl
# A thousand clients that send byte by byte: each is answered in the end, and
# others all the time.

use POSIX ();

use Toolgate::Test qw(Hostile), plain_too => 'it measures memory';

my $count = Toolgate::Test::is_san() ? 200 : 1000;
my $files = POSIX::sysconf(POSIX::_SC_OPEN_MAX());
$count = $files - 100 if $count > $files - 100;
my $hostile = Toolgate::Hostile->new(events => 'worker_connections 2048;');
$hostile->run([ [ trickle => connections => $count ] ]);

done_testing;
