#!/usr/bin/perl
# A full disk: the logs of NGINX, of its clients and of the runner cannot be
# written. All are served as usual.

use Toolgate::Test qw(Talks);

plan skip_all => 'no /dev/full' if !-c '/dev/full';

my $tg = Toolgate::Test->new(workers => 1);
# The first one is stderr of NGINX and the runner.
my $main = "error_log /dev/full debug;\n";
my $stream = <<'END';
log_format tools '$remote_addr $tool_name $tool_status $bytes_sent';
access_log /dev/full tools;
tool_log /dev/full json;
END
$tg->allow_log(qr{write\(\) to "/dev/full" failed \(28: });
my $tools = $Toolgate::Talks::TOOLS . "access_log /dev/full tools;\n";
$tg->conf($tools, main => $main, stream => $stream)->start;
my $talks = Toolgate::Talks->new($tg, undef);
for my $round (1 .. 10) {
    for my $talk (@Toolgate::Talks::TALKS) {
        my $how = $talks->hold($talk);
        die "$talk->[0]: $how\n" if $how ne 'answered';
    }
    $talks->is_fine;
}
pass 'all talks are as ever';

# Over a reload, too; and the runner starts again.
$tg->reload("$tools tool new { return new; }", main => $main,
    stream => $stream);
$talks = Toolgate::Talks->new($tg, undef);
$talks->without_runner;
my $client = $tg->connect;
like text_of($client->call_tool(run => { text => 'abc' })),
    qr/abc/, 'programs run';
is text_of($client->call_tool('new')), 'new', 'the new tool is there';

done_testing;
