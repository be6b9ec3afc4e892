package Toolgate::Terminal;

# Terminals, without a library.

use strict;
use warnings;

use Fcntl qw(O_NOCTTY O_RDWR);
use Toolgate::Test ();

use constant {
    TIOCGPTN   => 0x80045430,
    TIOCSPTLCK => 0x40045431,
    TIOCSWINSZ => 0x5414,
};

# Returns a new terminal with some columns: the ends to read and to write, or
# nothing.
sub pair {
    my ($columns) = @_;
    sysopen my $fh, '/dev/ptmx', O_RDWR | O_NOCTTY or return;
    my ($lock, $number) = (pack('i', 0), pack 'i', 0);
    ioctl $fh, TIOCSPTLCK, $lock or return;
    ioctl $fh, TIOCGPTN, $number or return;
    my $path = '/dev/pts/' . unpack 'i', $number;
    sysopen my $other, $path, O_RDWR | O_NOCTTY or return;
    my $size = pack 'SSSS', 24, $columns, 0, 0;
    ioctl $other, TIOCSWINSZ, $size or return;
    return ($fh, $other);
}

# Runs toolgate in a terminal. Returns its pid, and the end to read.
sub run {
    my ($tg, $columns, @args) = @_;
    my ($fh, $other) = pair($columns);
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        Toolgate::Process::exec_command({
                env => {
                    TOOLGATE_SOCKET => $tg->socket_path,
                    %{ $tg->san_env },
                },
                stdout => $other,
                stderr => $other,
            },
            Toolgate::Test::build_dir() . '/toolgate',
            @args);
    }
    close $other;
    return ($pid, Toolgate::Client->over($fh, $fh, 'screen'));
}

# Waits for its end. Returns the exit status and its output.
sub end {
    my ($pid, $screen) = @_;
    waitpid $pid, 0;
    my $status = $? >> 8;
    # A closed terminal reads as EIO.
    my $deadline = time + 10;
    1 while eval { $screen->fill($deadline) };
    return ($status, $screen->buffered =~ s/\r\n/\n/gr);
}

1;
