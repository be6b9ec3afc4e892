#!/usr/bin/perl
# Destinations of lines: files that are reopened with NGINX's logs, buffers that
# lose nothing at a reload or quit, and a full disk.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 2);
my $dir = $tg->dir;
my $tool = 'tool hi { return hi; }';
my $format = "tool_log_format n '\$tool_arg_n';\n";
my $serial = 0;

sub logged {
    my ($name) = @_;
    return join ' ', sort { $a <=> $b } grep {/^\d+$/} split /\n/,
        slurp("$dir/$name") // '';
}

# Makes a number of calls, each by its own client. Returns their numbers.
sub calls {
    my ($count) = @_;
    my @n = map { ++$serial } 1 .. $count;
    my @clients = map { $tg->connect } @n;
    $clients[$_]->call_tool(hi => { n => $n[$_] }) for 0 .. $#n;
    $_->close for @clients;
    return join ' ', @n;
}

# --- without a buffer -----------------------------------------------------

$tg->conf("tool_log plain.log n;\n$tool", stream => $format)->start;
my $first = calls(10);
is logged('plain.log'), $first, 'each line is there with its answer';

rename "$dir/plain.log", "$dir/plain.log.1" or die "rename: $!";
my $while = calls(5);
is logged('plain.log.1'), "$first $while", 'still the file of before';
kill USR1 => $tg->master_pid;
wait_for { -e "$dir/plain.log" } 'the new file';
# NGINX's workers open it after the master has created it.
my $there = '';
wait_for { $there .= calls(4) . ' '; (-s "$dir/plain.log") > 0 } 'its lines';
wait_for {
    my $before = -s "$dir/plain.log.1";
    $there .= calls(6) . ' ';
    $before == -s "$dir/plain.log.1";
} 'both workers to write there';
my $both = join ' ', sort { $a <=> $b } split / /,
    logged('plain.log.1') . ' ' . logged('plain.log');
is $both, join(' ', sort { $a <=> $b } split / /, "$first $while $there"),
    'no line is lost, none is there twice';

# --- buffers --------------------------------------------------------------

sub buffered {
    my ($name, $flush) = @_;
    return "tool_log $name n buffer=64k$flush;\n$tool";
}
$tg->reload(buffered('late.log', ''), stream => $format);
my $late = calls(20);
is logged('late.log'), '', 'with a buffer nothing is written at once';
kill USR1 => $tg->master_pid;
wait_for { logged('late.log') eq $late }
    'the records after the logs are reopened';
pass 'reopened';

my $kept = calls(20);
my @old = $tg->worker_pids;
$tg->reload(buffered('late.log', ' flush=50ms'), stream => $format);
wait_for { !grep { is_alive($_) } @old } 'the old workers to go';
is logged('late.log'), "$late $kept", 'and at a reload';

my $soon = calls(20);
wait_for { logged('late.log') eq "$late $kept $soon" } 'flush=';
pass 'and after the time of flush';

$tg->reload(buffered('late.log', ''), stream => $format);
my $quit = calls(20);
my $long = $tg->connect;
$long->call_tool(hi => { n => 'x' x 70000 });
wait_for { slurp("$dir/late.log") =~ /x\n/ } 'a line that fits no buffer';
pass 'what fits no buffer is written at once';

# --- a full disk ----------------------------------------------------------

symlink '/dev/full', "$dir/full.log" or die "symlink: $!";
$tg->reload("tool_log full.log n;\ntool_log there.log n;\n$tool",
    stream => $format, workers => 1);
wait_for { logged("late.log") =~ / $quit\b/ } 'what was left in buffers';
pass 'nothing of the buffers is lost';
my $full = calls(30);
is logged('there.log'), $full, 'a full disk stops nothing';
my $name = qr{"\S+/full\.log"};
$tg->wait_log(
    qr/\[error\].* $name cannot be written; 1 line was lost so far \(28:/);
is scalar(() = $tg->log =~ /cannot be written/g), 1, 'it is said once';
$tg->reload("tool_log full.log n buffer=4k;\n$tool", stream => $format,
    workers => 1);
$tg->wait_log(qr/cannot be written; 30 lines were lost so far/);
pass 'and in all, when the worker exits';

# The worker opens it after the master has created it.
sub wait_open {
    my ($worker) = $tg->worker_pids;
    wait_for {
        my $file = file_id("$dir/full.log");
        defined $file
            && grep { (file_id($_) // '') eq $file } glob "/proc/$worker/fd/*";
    }
    'the worker to open it';
}

sub file_id {
    my ($dev, $inode) = stat $_[0];
    return defined $dev ? "$dev $inode" : undef;
}

# The same file has space again.
unlink "$dir/full.log" or die "unlink: $!";
my $from = $tg->log_size;
calls(3);
kill USR1 => $tg->master_pid;
$tg->wait_log(qr/$name cannot be written; 3 lines were lost so far/);
wait_open();
my $again = calls(2);
kill USR1 => $tg->master_pid;
wait_for { logged('full.log') eq $again } 'lines that can be written';
$tg->wait_log(qr/$name can be written again; 3 lines were lost/);
pass 'and that it can be written again';

# Repeated losses are not reported each time, but all are counted.
my $told = () = $tg->log =~ /lines? w\w+ lost/g;
rename "$dir/full.log", "$dir/full.old" or die "rename: $!";
symlink '/dev/full', "$dir/full.log" or die "symlink: $!";
kill USR1 => $tg->master_pid;
wait_open();
calls(2);
unlink "$dir/full.log" or die "unlink: $!";
kill USR1 => $tg->master_pid;
wait_open();
$again = calls(2);
kill USR1 => $tg->master_pid;
wait_for { logged('full.log') eq $again } 'lines that can be written, again';
is scalar(() = $tg->log =~ /lines? w\w+ lost/g), $told,
    'within a minute nothing more is said';

# --- quit -----------------------------------------------------------------

my $last = calls(20);
kill QUIT => $tg->master_pid;
wait_for { !$tg->worker_pids(all => 1) } 'the end';
is logged('full.log'), "$again $last", 'nothing is lost at the end';
like $tg->log, qr/$name can be written again; 2 lines were lost/,
    'and then it is said what was';

done_testing;
