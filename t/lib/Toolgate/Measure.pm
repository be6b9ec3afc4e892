package Toolgate::Measure;

# Counts and compares files, memory, descriptors and processes, ends processes,
# and checks the messages of nginx -t.

use strict;
use warnings;

use Exporter qw(import);

use Toolgate::Util;

our @EXPORT =
    qw(client_of conf_fails conf_fails_at end_process fd_count files_below
    master_fds memory_below mode_of rss_kb stop_idle stopped stopped_idle
    text_of upgrade_nginx);

# Returns everything below a folder, as { path => unchangeable properties },
# except paths that match $without.
sub files_below {
    my ($dir, $without) = @_;
    my (%found, @queue);
    @queue = glob "$dir/*";
    while (defined(my $path = shift @queue)) {
        my @st = lstat $path or next;
        push @queue, glob "$path/*" if -d _ && !-l _;
        next if defined $without && $path =~ $without;
        # Device, inode, mode, links, owner, group, size, mtime.
        $found{$path} = join ' ', @st[ 0 .. 5, 7, 9 ];
    }
    return \%found;
}

# Returns "0600 UID GID", or "" if nothing is there.
sub mode_of {
    my ($path) = @_;
    my @st = lstat $path or return '';
    return sprintf '%04o %d %d', $st[2] & 07777, @st[ 4, 5 ];
}

# Returns the resident memory of a process, in KiB.
sub rss_kb {
    my ($pid) = @_;
    my $text = slurp("/proc/$pid/status") // return 0;
    return $text =~ /^VmRSS:\s+(\d+) kB/m ? $1 : 0;
}

# Checks memory, of which the sanitizers use more.
sub memory_below {
    my ($kb, $most, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Toolgate::Test::is_san()
        || Test::More::cmp_ok($kb, '<', $most, $name);
}

sub fd_count {
    my ($pid) = @_;
    opendir my $dir, "/proc/$pid/fd" or return 0;
    return scalar grep {/^\d+$/} readdir $dir;
}

# Stops a process, and waits until it stands still.
sub stop {
    my ($pid) = @_;
    kill STOP => $pid;
    wait_for { (slurp("/proc/$pid/stat") // '') =~ /.*\) [TtZX]/s }
        "$pid to stop";
    return;
}

# Stops a worker while it waits for events. One that is stopped while it holds
# the lock of the shared memory would stop all others.
sub stop_idle {
    my ($pid) = @_;
    my $system_call = sub { (split ' ', slurp("/proc/$pid/syscall"))[0] };
    wait_for {
        return 0 if slurp("/proc/$pid/wchan") !~ /epoll|ep_poll/;
        my $wait = $system_call->();
        stop($pid);
        return 1 if $system_call->() eq $wait;
        kill CONT => $pid;
        return 0;
    } "worker $pid to be idle";
    return;
}

sub _while_stopped {
    my ($stop, $code, @pids) = @_;
    my @result = eval { $stop->($_) for @pids; $code->() };
    my $why = $@;
    kill CONT => @pids;
    die $why if $why;
    return wantarray ? @result : $result[0];
}

# Stops processes, or idle workers, runs the code, and continues them.
sub stopped { return _while_stopped(\&stop, @_) }
sub stopped_idle { return _while_stopped(\&stop_idle, @_) }

# Connects a client that this worker serves: the others are stopped.
sub client_of {
    my ($tg, $pid) = @_;
    return stopped_idle(
        sub {
            my $client = $tg->connect;
            $client->rpc('ping');
            return $client;
        },
        grep { $_ != $pid } $tg->worker_pids);
}

# Returns the text of a tool's result in any dialect, or else the reply.
sub text_of {
    my ($reply) = @_;
    my $text = $reply->{result}{content}[0]{text};
    return $text // Toolgate::Client->encode($reply);
}

# Returns the number of a master's descriptors, after it has closed those of
# ended workers.
sub master_fds {
    my ($tg) = @_;
    wait_for {
        my $log = $tg->log;
        my $started = () = $log =~ /start worker process \d/g;
        my $ended = () = $log =~ /worker process \d+ exited/g;
        return $started - $ended == $tg->{expected};
    } 'old workers to go';
    $tg->master_rests;
    return fd_count($tg->master_pid);
}

# Sends a signal to a process and waits until it has ended.
sub end_process {
    my ($pid, $signal) = @_;
    kill $signal => $pid;
    wait_for { !is_alive($pid) } "$pid to end";
}

# Upgrades the binary of a master. Returns the pid of the next master.
sub upgrade_nginx {
    my ($pid_file, $old) = @_;
    kill USR2 => $old;
    return wait_for {
        my ($pid) = (slurp($pid_file) // '') =~ /(\d+)/ or return;
        return $pid != $old && -e "$pid_file.oldbin" && $pid;
    } 'the new binary';
}

# Checks that nginx -t refuses a body (as in $tg->conf) with one or several
# messages, given as patterns, and with the line of a "#!" in the body, if there
# is one. Returns the output.
sub conf_fails {
    my ($tg, $body, $like, $name, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $name //= $body =~ s/\s+/ /gr;
    my ($head, $marked) = split /#!/, $tg->conf_text($body, %option), 2;
    my $line = 1 + ($head =~ tr/\n//);
    my ($status, $out) = $tg->test_conf($body, %option);
    Test::More::isnt($status, 0, "$name: refused");
    for my $pattern (ref $like eq 'ARRAY' ? @$like : $like) {
        my ($said) = grep { $_ =~ $pattern } split /\n/, $out;
        Test::More::like($said // $out, qr{$pattern}, "$name: the message");
        next if !defined $marked;
        Test::More::like($said // $out,
            qr{ in \Q$tg->{dir}\E/test\.conf:$line$}, "$name: the line");
    }
    return $out;
}

# The same for a body that must have a "#!".
sub conf_fails_at {
    die "no #! in $_[1]\n" if index($_[1], '#!') < 0;
    goto &conf_fails;
}

1;
