#!/usr/bin/perl
# The file of a trace: reopened with NGINX's other logs, nothing lost at a
# reload or quit; and if the disk is full or hangs, nothing stops, and the trace
# counts the lost records.

use Fcntl qw(O_RDWR O_NONBLOCK);
use POSIX ();

use Toolgate::Test qw(Trace);

plan(skip_all => 'built without msgpack-c') if !has_msgpack();

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my $serial = 0;

sub body {
    my ($name) = @_;
    return "tool_trace $name body=4k;\ntool hi { return \$tool_arg_n; }";
}

# Makes a number of calls, each by its own client. Returns their numbers.
sub calls {
    my ($count) = @_;
    my @n = map { ++$serial } 1 .. $count;
    my @clients = map { $tg->connect } @n;
    $clients[$_]->call_tool(hi => { n => "<$n[$_]>" }) for 0 .. $#n;
    $_->close for @clients;
    return @n;
}

# Returns the traced calls, with one request and one response each.
sub traced {
    my (@names) = @_;
    my %seen;
    for my $frame (map { frames("$dir/$_") } @names) {
        $seen{$1} .= $frame->{direction} . ' '
            if ($frame->{body} // '') =~ /<(\d+)>/;
    }
    return join ' ',
        map { $seen{$_} =~ /\A(?:in out|out in) \z/ ? $_ : "$_: $seen{$_}" }
        sort { $a <=> $b } keys %seen;
}

sub reopen {
    my ($name) = @_;
    rename "$dir/$name", "$dir/$name.1" or die "rename: $!";
    kill USR1 => $tg->master_pid;
    wait_for { -e "$dir/$name" } 'the new file';
}

# --- reopened -------------------------------------------------------------

$tg->conf(body('a.trace'))->start;
my @all = calls(20);
wait_for { traced('a.trace') eq "@all" } 'the first calls';
reopen('a.trace');
wait_for { push @all, calls(4); -s "$dir/a.trace" } 'records in the new one';
push @all, calls(20);
is sprintf('%o', (stat "$dir/$_")[2] & 07777), '600', "its mode: $_"
    for qw(a.trace a.trace.1);

# --- a reload, and the end ------------------------------------------------

my @old = $tg->worker_pids;
push @all, calls(50);
$tg->reload(body('a.trace'));
push @all, calls(50);
wait_for { !grep { is_alive($_) } @old } 'the old workers to go';
push @all, calls(50);
$tg->stop(signal => 'QUIT');
is traced('a.trace', 'a.trace.1'), "@all", 'nothing is lost, nor there twice';

# --- a full disk ----------------------------------------------------------

$tg = Toolgate::Test->new(workers => 1);
($dir, $serial) = ($tg->dir, 0);
symlink '/dev/full', "$dir/full.trace" or die "symlink: $!";
$tg->conf(body('full.trace'))->start;
calls(30);
my $name = qr{"\S+/full\.trace"};
$tg->wait_log(
    qr/\[error\].*tool_trace: $name cannot be written; \d+ frames? w\w+ lost/);
pass 'a full disk stops nothing, and is logged';
unlink "$dir/full.trace" or die "unlink: $!";
my $asks = $tg->connect;
kill USR1 => $tg->master_pid;
wait_for { -e "$dir/full.trace" } 'the new file';
my $worker = ($tg->worker_pids)[0];
wait_for {
    $asks->call_tool(hi => { n => 0 });
    -s "$dir/full.trace";
} 'a record in it';
my @later = calls(3);
$tg->wait_log(
    qr/tool_trace: $name can be written again; \d+ frames? w\w+ lost/);
$tg->stop(signal => 'QUIT');
my @lost = grep { $_->{lost} } frames("$dir/full.trace");
my $lost = 0;
$lost += $_->{lost} for @lost;
cmp_ok $lost, '>=', 60, 'the trace has the number of lost records';
is scalar(grep { $_->{worker} != $worker } @lost), 0, 'of this worker';
is join(' ', (split / /, traced('full.trace'))[ -3 .. -1 ]), "@later",
    'what follows is whole';
my ($log, $told) = ($tg->log, 0);
$told += $1 while $log =~ /can be written again; (\d+) frames? w\w+ lost/g;
is $told, $lost, 'as the error log has it';

# --- a disk that hangs ----------------------------------------------------

# Nobody reads this one: the thread hangs when the pipe is full.
$tg = Toolgate::Test->new(workers => 1);
$dir = $tg->dir;
POSIX::mkfifo("$dir/pipe.trace", 0600) or die "mkfifo: $!";
sysopen my $pipe, "$dir/pipe.trace", O_RDWR | O_NONBLOCK or die "pipe: $!";
$tg->conf("tool_trace pipe.trace body=1m;\n" . <<'END')->start;
tool hi { return $tool_arg_n; }
END
my ($large, $sent) = ($tg->connect, 0);
for my $n (1 .. 20) {
    $large->call_tool(hi => { n => 'x' x 600_000 });
    $sent += 2;
}
pass 'nor does one that hangs, with far more than there is a buffer for';
$tg->wait_log(qr/pipe\.trace" cannot be written; 1 frame was lost so far/);
open my $file, '>', "$dir/read.trace" or die "read.trace: $!";

# Reads what the thread has written, or until there is enough.
sub drain {
    my ($enough) = @_;
    wait_for {
        while (sysread $pipe, my $bytes, 65_536) {
            print $file $bytes;
        }
        $file->flush;
        return $enough->();
    } 'the pipe to be read';
}
drain(sub {
    $large->call_tool(hi => { n => 'after' });
    $sent += 2;
    return ($tg->cli('trace', "$dir/read.trace"))[1] =~ / lost \d+ frames?\n/;
});
my @old_worker = $tg->worker_pids;
kill QUIT => $tg->master_pid;
drain(sub { !grep { is_alive($_) } @old_worker });
my @pipe = split /\n/, ($tg->cli('trace', "$dir/read.trace"))[1];
my @told = map { / lost (\d+) frames?\z/ ? $1 : () } @pipe;
my $missing = 0;
$missing += $_ for @told;
cmp_ok $missing, '>', 10, 'it reports records that did not fit';
is @pipe - @told + $missing, $sent, 'each frame is there, or counted';

done_testing;
