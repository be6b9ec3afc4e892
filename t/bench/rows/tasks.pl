# Tasks, with 100,000 of them (BENCH_TASKS) in the store, most of which have
# ended: how long it takes to submit one, which is answered when it is on the
# disk, to get one and to list some; and how many are submitted in a second.

use strict;
use warnings;

use IO::Select ();
use IO::Socket::UNIX ();
use JSON::PP ();
use Time::HiRes qw(time);

use Toolgate::Postgres;

my $tasks = $ENV{BENCH_TASKS} // 100_000;
my $calls = 1000;
my $json  = JSON::PP->new->utf8->canonical;

sub frame {
    my ($method, %params) = @_;
    return $json->encode({ jsonrpc => '2.0', id => 1, method => $method,
        params => \%params }) . "\n";
}

sub submit { return frame('task.submit', prompt => "Mend the build, $_[0].") }
sub id     { return sprintf 'task-%04d', $_[0] }

# As many connections, each with so many calls on their way, until all of them
# are answered: the seconds that it took, and each call's.
sub task_calls {
    my ($server, $connections, $depth, $n, $make) = @_;
    my $select = IO::Select->new;
    my ($sent, $done, @took, %of) = (0, 0);
    my $send = sub {
        my ($socket) = @_;
        return if $sent == $n;
        push @{ $of{$socket}{at} }, time;
        my $frame = $make->($sent++);
        syswrite($socket, $frame) == length $frame or die "write: $!\n";
    };
    my $start = time;
    for (1 .. $connections) {
        my $socket = IO::Socket::UNIX->new(Peer => $server->{socket})
            or die "connect: $!\n";
        $select->add($socket);
        $of{$socket} = { buf => '', at => [] };
        $send->($socket) for 1 .. $depth;
    }
    while ($done < $n) {
        for my $socket ($select->can_read(60)) {
            my $of = $of{$socket};
            sysread($socket, $of->{buf}, 65536, length $of->{buf})
                or die "the server left: $!\n";
            while ((my $end = index $of->{buf}, "\n") >= 0) {
                my $line = substr $of->{buf}, 0, $end + 1, '';
                # What all clients are told.
                next if $line =~ /"method":/;
                die "refused: $line" if $line !~ /"result":/;
                push @took, time - shift @{ $of->{at} };
                $done++;
                $send->($socket);
            }
        }
    }
    return (time - $start, sort { $a <=> $b } @took);
}

sub task_ms { return sprintf '%.2f ms', 1000 * $_[0] }

sub measure_store {
    my ($bench, $name, $store) = @_;
    my $server = $bench->toolgate(<<"END");
$store
task_agent hold { exec sleep 86400; default; }
task_methods on;
task_concurrency 1;
task_queue 100000;
END
    my $sent = 0;
    my $next = sub { return submit($sent++) };

    # One runs, which holds all others back.
    task_calls($server, 1, 1, 1, $next);
    task_calls($server, 4, 64, $tasks - 1, $next);
    task_calls($server, 4, 64, int(0.99 * $tasks), sub {
        return frame('task.cancel', taskId => id(1 + $_[0]));
    });

    $bench->table("Tasks in $name, with $tasks stored", 'what', 'median',
        '99 %', 'at most');
    my $any = sub { return id(int rand $tasks) };
    for my $row (
        [ 'submit' => $next ],
        [ 'get'    => sub { return frame('task.get', taskId => $any->()) } ],
        [ 'list, the newest 20' => sub { return frame('task.list') } ],
        [ 'list, 20 of a state and an agent' => sub {
            return frame('task.list', state => 'cancelled', agent => 'hold');
        } ],
        [ 'list, 100' => sub { return frame('task.list', limit => 100) } ],
        [ 'stats'     => sub { return frame('task.stats') } ])
    {
        my (undef, @took) = task_calls($server, 1, 1, $calls, $row->[1]);
        my ($half, $most) = @took[ $#took / 2, $#took * 0.99 ];
        $bench->line(
            [
                "`task.$row->[0]`" =~ s/(,.*)`/`$1/r, task_ms($half),
                task_ms($most)
            ],
            $row->[0] eq 'stats'
            ? ()
            : (value => 1000 * $most, at_most => 5, unit => 'ms'));
    }

    $bench->table("Tasks in $name, submitted", 'connections × depth',
        'tasks per second', 'at least');
    for my $row ([ 1, 1 ], [ 16, 1 ], [ 16, 8 ]) {
        my $n = $row->[0] == 1 ? 500 : 2000;
        my ($took) = task_calls($server, @$row, $n, $next);
        $bench->line(
            [ "$row->[0] × $row->[1]", sprintf '%.0f', $n / $took ],
            $row->[0] == 1 ? () : (value => $n / $took, at_least => 1000));
    }
    $bench->end($server);
}

return sub {
    my ($bench) = @_;
    measure_store($bench, 'SQLite', '');
    my $db = Toolgate::Postgres->new(Toolgate::Test->new, durable => 1);
    measure_store($bench, 'PostgreSQL', 'task_store ' . $db->uri . ';');
    $db->stop;
};
